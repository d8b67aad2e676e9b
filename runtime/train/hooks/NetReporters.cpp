//===- NetReporters.cpp - Hooks that report values of the net -------------===//

#include "runtime/train/hooks/HookAction.h"

#include "runtime/log/Log.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace brew::runtime {
namespace {

std::int64_t product(const std::vector<std::int64_t> &dims, std::size_t begin,
                     std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t i = begin; i < end && i < dims.size(); ++i)
    result *= dims[i];
  return result;
}

std::vector<float> readAll(const Session &session, const TensorName &name,
                           std::vector<std::int64_t> &shape) {
  shape = session.find(name).shape;
  std::vector<float> values(
      static_cast<std::size_t>(product(shape, 0, shape.size())));
  session.read(name, values.data(), static_cast<std::int64_t>(values.size()));
  return values;
}

/// Counts the items whose label is among the k highest scores, as Caffe's
/// Accuracy layer does: of classes with equal scores, the one with the higher
/// number comes first. Scores are [N,C,...] with a label for each item and each
/// position after C. Ignores labels that are not classes.
class TopCounts {
public:
  explicit TopCounts(std::size_t ks) : hits(ks) {}

  void add(const Session &session, int program, const std::string &scoreBlob,
           const std::string &labelBlob, const std::vector<int> &ks) {
    std::vector<std::int64_t> shape, labelShape;
    const std::vector<float> scores = readAll(
                                 session,
                                 {TensorKind::Blob, scoreBlob, program, 0, 0},
                                 shape),
                             labels = readAll(
                                 session,
                                 {TensorKind::Blob, labelBlob, program, 0, 0},
                                 labelShape);
    if (shape.size() < 2)
      throw badInput("blob '" + scoreBlob + "' has no axis of classes");
    const std::int64_t items = shape[0], classes = shape[1],
                       positions = product(shape, 2, shape.size());
    if (static_cast<std::int64_t>(labels.size()) != items * positions)
      throw badInput("blob '" + labelBlob + "' has " +
                     std::to_string(labels.size()) + " labels, but '" +
                     scoreBlob + "' has scores for " +
                     std::to_string(items * positions));
    for (std::int64_t n = 0; n < items; ++n)
      for (std::int64_t p = 0; p < positions; ++p) {
        const float label = labels[static_cast<std::size_t>(n * positions + p)];
        if (!(label >= 0 && label < float(classes)))
          continue;
        const auto target = static_cast<std::int64_t>(label);
        auto score = [&](std::int64_t c) {
          return scores[static_cast<std::size_t>((n * classes + c) * positions +
                                                 p)];
        };
        std::int64_t rank = 0;
        for (std::int64_t c = 0; c < classes; ++c)
          rank += c != target && (score(c) > score(target) ||
                                  (score(c) == score(target) && c > target));
        for (std::size_t i = 0; i < ks.size(); ++i)
          hits[i] += rank < ks[i];
        ++count;
      }
  }
  double accuracy(std::size_t i) const {
    return count ? double(hits[i]) / double(count) : 0;
  }
  long long total() const { return count; }

private:
  std::vector<long long> hits;
  long long count = 0;
};

/// Reports top-k accuracies of the last training batch, or of a test.
class ReportAccuracy : public HookAction {
public:
  ReportAccuracy(std::vector<int> ks, std::string scores, std::string labels,
                 int testNet)
      : ks(std::move(ks)), scores(std::move(scores)), labels(std::move(labels)),
        testNet(testNet) {}

  DeferredWork run(HookCall &call) override {
    TopCounts counts(ks.size());
    Session &session = call.trainer.session();
    if (testNet < 0)
      counts.add(session, call.trainer.trainProgram(), scores, labels, ks);
    else
      call.trainer.forEachTestBatch(testNet, [&] {
        counts.add(session, call.trainer.testProgram(testNet), scores, labels,
                   ks);
      });
    std::string line = linePrefix(call);
    for (std::size_t i = 0; i < ks.size(); ++i)
      line += (i ? ", top " : "top ") + std::to_string(ks[i]) + " = " +
              log::number(counts.accuracy(i));
    line += " of " + std::to_string(counts.total()) +
            (testNet < 0 ? " of the last batch" : " of the test");
    if (!call.background)
      call.values.setHook(call.name, counts.accuracy(0));
    return logLine(std::move(line));
  }
  bool isReadOnly() const override { return testNet < 0; }

private:
  std::vector<int> ks;
  std::string scores, labels;
  int testNet; ///< -1: the current training batch
};

/// Reports, for each layer, the ratio of an update to the weights
/// (Statistic::Update); 1e-3 is a good ratio.
class ReportUpdates : public HookAction {
public:
  explicit ReportUpdates(std::vector<TensorName> weights)
      : weights(std::move(weights)) {}

  DeferredWork run(HookCall &call) override {
    std::string line = linePrefix(call) + "updates over weights";
    const char *separator = ": ";
    for (const TensorName &parameter : weights) {
      const std::optional<double> ratio =
          call.statistics.measure(Statistic::Update, {parameter});
      line += separator + parameter.name + " " +
              (ratio ? log::number(*ratio) : "none");
      separator = ", ";
    }
    const std::optional<double> largest =
        call.statistics.measure(Statistic::Update, weights);
    if (!call.background && largest)
      call.values.setHook(call.name, *largest);
    if (!largest)
      line = linePrefix(call) + "no update to measure: no iteration has "
                                "changed the weights";
    return logLine(std::move(line));
  }
  bool isReadOnly() const override { return true; }
  std::vector<TensorName> updatesOf() const override { return weights; }

private:
  const std::vector<TensorName> weights; ///< of layers
};

} // namespace

std::unique_ptr<HookAction> makeReportAccuracy(ActionWords &words,
                                               const ActionContext &context) {
  words.require("top");
  std::vector<int> ks;
  do
    ks.push_back(words.nextNumber("a number of classes, from 1 on", 1));
  while (words.take(","));
  words.require("of");
  const HookWord scores = words.next("the blob of the scores");
  words.require("against");
  const HookWord labels = words.next("the blob of the labels");
  int net = -1;
  if (words.take("in")) {
    ActionWords before = words;
    words.require("test");
    net = words.atEnd() ? 0 : words.nextNumber("the number of a test net", 0);
    if (net >= context.scope.testNets)
      before.fail("there is no test net " + std::to_string(net) +
                  ": the solver has " + std::to_string(context.scope.testNets));
  }
  const int program = net < 0 ? context.trainer.trainProgram()
                              : context.trainer.testProgram(net);
  for (const HookWord *word : {&scores, &labels})
    try {
      context.trainer.session().find(
          {TensorKind::Blob, word->text, program, 0, 0});
    } catch (const Error &error) {
      throw TextError{word->offset, error.what()};
    }
  return std::make_unique<ReportAccuracy>(std::move(ks), scores.text,
                                          labels.text, net);
}

std::unique_ptr<HookAction> makeReportUpdates(ActionWords &words,
                                              const ActionContext &context) {
  const Session &session = context.trainer.session();
  std::vector<std::string> trainedLayers;
  for (const TensorName &name : session.names(TensorKind::ParameterGradient))
    if (name.index == 0 && std::find(trainedLayers.begin(), trainedLayers.end(),
                                     name.name) == trainedLayers.end())
      trainedLayers.push_back(name.name);
  std::vector<std::string> layers;
  if (words.atEnd())
    layers = trainedLayers;
  else
    do {
      const HookWord &word = words.next("the name of a layer");
      if (std::find(trainedLayers.begin(), trainedLayers.end(), word.text) ==
          trainedLayers.end())
        throw TextError{word.offset, "no layer '" + word.text +
                                         "' learns weights" +
                                         didYouMean(word.text, trainedLayers)};
      layers.push_back(word.text);
    } while (words.take(","));
  std::vector<TensorName> weights;
  for (const std::string &layer : layers)
    weights.push_back({TensorKind::Parameter, layer, 0, 0, 0});
  return std::make_unique<ReportUpdates>(std::move(weights));
}

} // namespace brew::runtime
