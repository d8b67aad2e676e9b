//===- MetricName.cpp - Names of training metrics -------------------------===//

#include "runtime/train/metrics/MetricName.h"

#include "plan/Contract.h"
#include "runtime/session/TensorPattern.h"
#include "runtime/train/metrics/EpisodeMetrics.h"
#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace brew::runtime {
namespace {

const plan::Program *testProgram(const plan::Manifest &manifest, int net) {
  for (const plan::Program &program : manifest.programs())
    if (program.name() == plan::programs::testName(net))
      return &program;
  return nullptr;
}

const plan::Output *findOutput(const plan::Program &program,
                               const std::string &blob) {
  for (const plan::Output &output : program.outputs())
    if (output.blob() == blob)
      return &output;
  return nullptr;
}

/// Returns the type of the last layer that produces a blob, or "".
std::string layerTypeOf(const plan::Program &program, const std::string &blob) {
  std::string type;
  for (const plan::Layer &layer : program.layers())
    for (const std::string &top : layer.tops())
      if (top == blob)
        type = layer.type();
  return type;
}

/// Returns whether tests reduce each output to one score (Trainer::runTest).
bool scoresDetections(const plan::Manifest &manifest) {
  caffe::SolverParameter solver;
  return solver.ParseFromString(manifest.solver().parameter()) &&
         solver.eval_type() == "detection";
}

/// Returns the number of values of an output in test results.
std::size_t countOf(const plan::Manifest &manifest,
                    const plan::Output &output) {
  if (scoresDetections(manifest))
    return 1;
  return static_cast<std::size_t>(plan::elementCount(
      manifest.buffers(static_cast<int>(output.buffer_index()))));
}

std::optional<Better> betterOf(const plan::Manifest &manifest,
                               const plan::Program &program,
                               const plan::Output &output) {
  const std::string type = layerTypeOf(program, output.blob());
  constexpr std::string_view loss = "Loss";
  if (output.loss_weight() > 0 ||
      (type.size() >= loss.size() &&
       type.compare(type.size() - loss.size(), loss.size(), loss) == 0))
    return Better::Lower;
  if (type == "Accuracy" || scoresDetections(manifest))
    return Better::Higher;
  return {};
}

std::string joinNames(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Returns the number of the test net that a name's first component ("test",
/// "test1") refers to; nullopt for other names.
std::optional<int> parseTestNet(std::string_view part) {
  if (part.substr(0, 4) != "test" || part.size() > 8)
    return {};
  const std::string_view digits = part.substr(4);
  int net = 0;
  if (digits.empty())
    return net;
  const auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), net);
  if (failed != std::errc() || end != digits.data() + digits.size() || net < 0)
    return {};
  return net;
}

/// Removes "[3]" from the end of an output's name and returns the element.
std::optional<std::size_t> takeElement(std::string &name, std::size_t offset) {
  if (name.empty() || name.back() != ']')
    return {};
  const std::size_t open = name.rfind('[');
  std::size_t element = 0;
  const char *end = name.data() + name.size() - 1;
  const char *begin = open == name.npos ? end : name.data() + open + 1;
  const auto [stop, failed] = std::from_chars(begin, end, element);
  if (begin == end || failed != std::errc() || stop != end)
    throw TextError{offset + (open == name.npos ? 0 : open),
                    "expected the number of an element, as in NAME[0]"};
  name.resize(open);
  return element;
}

/// Sets the metric's output to `name`, which must be one of `known`.
void resolveName(MetricName &metric, const std::string &name,
                 std::size_t offset, const std::vector<std::string> &known) {
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw TextError{offset, "there is no '" + metric.text + "'" +
                                didYouMean(name, known) +
                                " (there are: " + joinNames(known) + ")"};
  metric.output = name;
}

std::vector<std::string> episodeNames() {
  std::vector<std::string> names;
  for (const OutputValue &value : episodeMetrics({}))
    names.push_back(value.blob);
  return names;
}

void resolveOutput(MetricName &metric, std::string name, std::size_t offset,
                   const MetricScope &scope) {
  const auto &[manifest, testNets, hooks, hasLearner] = scope;
  if (metric.net >= testNets)
    throw TextError{0,
                    testNets == 0
                        ? "the solver has no test net"
                        : "there is no test net " + std::to_string(metric.net) +
                              ": the solver has " + std::to_string(testNets)};
  if (hasLearner)
    return resolveName(metric, name, offset, {kTestReward, kTestSteps});
  const plan::Program *program = testProgram(manifest, metric.net);
  const std::optional<std::size_t> element =
      program && findOutput(*program, name) ? std::nullopt
                                            : takeElement(name, offset);
  const plan::Output *output = program ? findOutput(*program, name) : nullptr;
  if (!output) {
    std::vector<std::string> names;
    if (program)
      for (const plan::Output &candidate : program->outputs())
        names.push_back(candidate.blob());
    throw TextError{offset, "test net " + std::to_string(metric.net) +
                                " has no output '" + name + "'" +
                                didYouMean(name, names) +
                                " (it has: " + joinNames(names) + ")"};
  }
  const std::size_t count = countOf(manifest, *output);
  if (!element && count != 1)
    throw TextError{offset, "output '" + name + "' has " +
                                std::to_string(count) + " elements: write '" +
                                name + "[0]' for the first"};
  if (element && *element >= count)
    throw TextError{offset + name.size(),
                    "output '" + name + "' has " + std::to_string(count) +
                        (count == 1 ? " element" : " elements")};
  metric.output = name;
  metric.element = element.value_or(0);
}

/// Parses STATISTIC(PATTERN) if the text begins with a statistic and "(".
std::optional<MetricName> parseStatisticOf(std::string_view text,
                                           const MetricScope &scope) {
  const std::size_t open = text.find('(');
  if (open == text.npos)
    return {};
  const std::optional<Statistic> statistic =
      parseStatistic(text.substr(0, open));
  if (!statistic && text.substr(0, open).find('.') != text.npos)
    return {}; // of a blob with such a name
  if (!statistic)
    throw TextError{
        0, "there is no statistic '" + std::string(text.substr(0, open)) +
               "' of tensors (there are: " +
               joinNames({kStatisticNames.begin(), kStatisticNames.end()}) +
               ")"};
  if (text.back() != ')' || text.size() < open + 3)
    throw TextError{open + 1, "expected a tensor and ')', as in "
                              "norm(conv1.weights)"};
  MetricName metric;
  metric.kind = MetricName::OfTensors;
  metric.text = std::string(text);
  metric.statistic = *statistic;
  const std::string pattern(text.substr(open + 1, text.size() - open - 2));
  int training = scope.manifest.programs_size() - 1;
  while (training >= 0 && scope.manifest.programs(training).name() !=
                              plan::programs::kForwardBackward)
    --training;
  try {
    metric.tensors = *statistic == Statistic::Update
                         ? parametersMatching(scope.manifest, pattern,
                                              /*trainedOnly=*/true)
                         : tensorsMatching(scope.manifest, pattern, training);
  } catch (const Error &error) {
    throw TextError{open + 1, error.what()};
  }
  return metric;
}

} // namespace

bool isMetricNameCharacter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || byte >= 0x80 ||
         std::string_view("_.-/:+*?#@$%~").find(c) != std::string_view::npos;
}

MetricName parseMetricName(std::string_view text, const MetricScope &scope) {
  if (std::optional<MetricName> ofTensors = parseStatisticOf(text, scope))
    return *std::move(ofTensors);
  MetricName metric;
  metric.text = std::string(text);
  const std::size_t point = text.find('.');
  const std::string first(text.substr(0, point));
  if (point == text.npos) {
    if (first == "iter") {
      metric.kind = MetricName::Iteration;
      return metric;
    }
    if (first == "time") {
      metric.kind = MetricName::Time;
      return metric;
    }
    if (first == "lr") {
      metric.kind = MetricName::LearningRate;
      return metric;
    }
    if (first == "epoch" && scope.hooks) {
      metric.kind = MetricName::Epoch;
      return metric;
    }
  } else if (first == "hook" && scope.hooks) {
    metric.kind = MetricName::HookValue;
    metric.hook = std::string(text.substr(point + 1));
    if (!scope.hooks->count(metric.hook))
      throw TextError{point + 1,
                      "no hook named '" + metric.hook + "' produces a value" +
                          didYouMean(metric.hook, std::vector<std::string>(
                                                      scope.hooks->begin(),
                                                      scope.hooks->end()))};
    return metric;
  } else if (first == "episode" && scope.hasLearner) {
    metric.kind = MetricName::EpisodeValue;
    resolveName(metric, std::string(text.substr(point + 1)), point + 1,
                episodeNames());
    return metric;
  } else if (first == "train") {
    metric.kind = MetricName::TrainLoss;
    if (text.substr(point + 1) != "loss")
      throw TextError{point + 1, "the training net has only 'train.loss'"};
    return metric;
  } else if (const std::optional<int> net = parseTestNet(first)) {
    metric.kind = MetricName::TestOutput;
    metric.net = *net;
    resolveOutput(metric, std::string(text.substr(point + 1)), point + 1,
                  scope);
    return metric;
  }
  throw TextError{0, text.empty()
                         ? "a name is missing"
                         : "there is no metric '" + metric.text +
                               "'; there are test.OUTPUT, test1.OUTPUT, "
                               "train.loss, lr, iter, time and norm(TENSOR)" +
                               (scope.hasLearner ? ", episode.NAME" : "") +
                               (scope.hooks ? ", epoch and hook.NAME" : "")};
}

std::optional<Better> betterOf(const MetricName &metric,
                               const MetricScope &scope) {
  if (metric.kind == MetricName::TrainLoss)
    return Better::Lower;
  if (metric.kind == MetricName::EpisodeValue ||
      (metric.kind == MetricName::TestOutput && scope.hasLearner))
    return isReward(metric.output) ? std::optional(Better::Higher)
                                   : std::nullopt;
  if (metric.kind != MetricName::TestOutput)
    return {};
  const plan::Program *program = testProgram(scope.manifest, metric.net);
  const plan::Output *output =
      program ? findOutput(*program, metric.output) : nullptr;
  return output ? betterOf(scope.manifest, *program, *output) : std::nullopt;
}

RankedMetric parseRankedMetric(std::string_view text,
                               const MetricScope &scope) {
  std::optional<Better> better;
  std::string_view name = text;
  for (const auto &[word, meaning] :
       {std::pair(":min", Better::Lower), std::pair(":max", Better::Higher)}) {
    const std::size_t length = std::string_view(word).size();
    if (text.size() > length && text.substr(text.size() - length) == word) {
      better = meaning;
      name.remove_suffix(length);
    }
  }
  const MetricName metric = parseMetricName(name, scope);
  if (metric.kind != MetricName::TestOutput &&
      metric.kind != MetricName::TrainLoss &&
      metric.kind != MetricName::EpisodeValue &&
      metric.kind != MetricName::HookValue &&
      metric.kind != MetricName::OfTensors)
    throw TextError{0, "'" + metric.text +
                           "' does not measure how good the net is"};
  if (!better)
    better = betterOf(metric, scope);
  if (!better)
    throw TextError{
        text.size(),
        "'" + metric.text +
            "' is neither an accuracy nor a loss: add which is better, " +
            metric.text + ":min or " + metric.text + ":max"};
  return {metric, *better};
}

std::optional<MetricName> defaultMetric(const MetricScope &scope) {
  const plan::Manifest &manifest = scope.manifest;
  if (scope.hasLearner && scope.testNets)
    return parseMetricName(std::string("test.") + kTestReward, scope);
  const plan::Program *program =
      scope.testNets ? testProgram(manifest, 0) : nullptr;
  if (!program)
    return {};
  for (const Better direction : {Better::Higher, Better::Lower})
    for (const plan::Output &output : program->outputs())
      if (countOf(manifest, output) == 1 &&
          betterOf(manifest, *program, output) == direction)
        return MetricName{MetricName::TestOutput, 0, output.blob(), 0, "",
                          "test." + output.blob()};
  return {};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string markedText(const std::string &source, const std::string &text,
                       const TextError &problem) {
  // Aligns the mark by UTF-8 characters, not bytes.
  std::size_t column = 0;
  for (std::size_t i = 0; i < std::min(problem.offset, text.size()); ++i)
    column += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
  return source + ", column " + std::to_string(column + 1) + ": " +
         problem.text + "\n  " + text + "\n  " + std::string(column, ' ') + "^";
}

void throwTextError(const std::string &option, const std::string &text,
                    const TextError &problem) {
  throw usageError(markedText(option, text, problem));
}

} // namespace brew::runtime
