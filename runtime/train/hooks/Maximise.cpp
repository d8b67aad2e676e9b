//===- Maximise.cpp - Hook that visualizes a class ------------------------===//
//
//   maximise CLASS of BLOB in PLAN to FILE [steps N] [rate R]
//
// PLAN is an inference net compiled with input gradients: `brewc
// deploy.prototxt --output-gradient=BLOB --keep=INPUT` with `force_backward:
// true`. Starting from low noise, gradient ascent maximises the score of the
// class: x += R * g / rms(g), N times, with the weights at the time of the
// hook. The image is scaled from its smallest to its largest value.
//
//===----------------------------------------------------------------------===//

#include "runtime/train/hooks/HookAction.h"

#include "caffe/RandomStream.h"
#include "formats/PathLookup.h"
#include "formats/image/ImageEncode.h"
#include "runtime/log/Log.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <algorithm>
#include <cmath>

namespace brew::runtime {
namespace {

/// A net with one input, scores, and the gradient of a score with respect to
/// the input.
class GradientAscent {
public:
  GradientAscent(const std::string &plan, const std::string &scores, int label,
                 ExecutorOptions device)
      : session(plan::PlanFile::open(plan), [&] {
          SessionOptions options;
          options.device = std::move(device);
          return options;
        }()) {
    program = session.program(plan::programs::kForwardBackward);
    const std::vector<std::string> tops = session.dataPipeline(program).tops();
    if (tops.size() != 1)
      throw badInput(plan + ": has " + std::to_string(tops.size()) +
                     " inputs, expected one");
    input = {TensorKind::Blob, tops[0], program, 0, 0};
    gradient = {TensorKind::BlobGradient, tops[0], program, 0, 0};
    outputGradient = {TensorKind::OutputGradient, scores, program, 0, 0};
    score = {TensorKind::Blob, scores, program, 0, 0};
    try {
      shape = session.find(gradient).shape;
      scoreShape = session.find(outputGradient).shape;
    } catch (const Error &error) {
      throw badInput(plan + ": " + error.what() +
                     "; compile the net with "
                     "'force_backward: true', --output-gradient=" +
                     scores + " and --keep=" + tops[0]);
    }
    if (shape.size() != 4 || (shape[1] != 1 && shape[1] != 3))
      throw badInput(plan + ": its input is not an image with 1 or 3 channels");
    if (scoreShape.size() < 2 || label >= scoreShape[1])
      throw badInput(plan + ": blob '" + scores + "' has no class " +
                     std::to_string(label));
    classIndex = static_cast<std::size_t>(label);
    size = static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
  }

  void load(const formats::Weights &weights) {
    session.parameters().load(weights, "the net that is trained");
    session.prepare();
  }

  /// Optimises `image`; returns its score.
  double run(int steps, double rate) {
    constexpr std::uint64_t kNoiseSeed = 0x6d6178;
    const caffe::RandomStream noise(kNoiseSeed, "maximise");
    image.resize(size);
    for (std::size_t i = 0; i < size; ++i)
      image[i] = static_cast<float>(0.02 * (noise.uniform(i) - 0.5));
    const auto elements = [](const std::vector<std::int64_t> &dims) {
      std::int64_t count = 1;
      for (std::int64_t dim : dims)
        count *= dim;
      return static_cast<std::size_t>(count);
    };
    std::vector<float> inputs(elements(shape)), inputGradients(elements(shape)),
        outputGradients(elements(scoreShape)), values(elements(scoreShape));
    std::size_t positions = 1;
    for (std::size_t i = 2; i < scoreShape.size(); ++i)
      positions *= static_cast<std::size_t>(scoreShape[i]);
    std::fill_n(outputGradients.begin() +
                    static_cast<std::ptrdiff_t>(classIndex * positions),
                positions, 1.0f / static_cast<float>(positions));
    DataPipeline &pipeline = session.dataPipeline(program);
    double meanScore = 0;
    for (int step = 0; step <= steps; ++step) {
      std::copy(image.begin(), image.end(), inputs.begin());
      pipeline.set(input.name, inputs.data(),
                   static_cast<std::int64_t>(inputs.size()));
      session.inputs(program).feed();
      session.run(program, Pass::Forward);
      if (step == steps)
        break;
      session.write(outputGradient, outputGradients.data(),
                    static_cast<std::int64_t>(outputGradients.size()));
      session.run(program, Pass::Backward);
      session.read(gradient, inputGradients.data(),
                   static_cast<std::int64_t>(inputGradients.size()));
      double squares = 0;
      for (std::size_t i = 0; i < size; ++i)
        squares += double(inputGradients[i]) * inputGradients[i];
      const double scale = std::sqrt(squares / double(size));
      if (!(scale > 0) || !std::isfinite(scale))
        break; // the gradient vanished or overflowed
      for (std::size_t i = 0; i < size; ++i)
        image[i] += static_cast<float>(rate * inputGradients[i] / scale);
    }
    session.read(score, values.data(),
                 static_cast<std::int64_t>(values.size()));
    for (std::size_t p = 0; p < positions; ++p)
      meanScore += values[classIndex * positions + p] / double(positions);
    return meanScore;
  }

  std::string encodePng() const {
    const auto [lowest, highest] =
        std::minmax_element(image.begin(), image.end());
    const double range = *highest > *lowest ? *highest - *lowest : 1;
    formats::Image picture;
    picture.channels = static_cast<int>(shape[1]);
    picture.height = static_cast<int>(shape[2]);
    picture.width = static_cast<int>(shape[3]);
    picture.pixels.resize(size);
    const std::size_t pixels = size / static_cast<std::size_t>(shape[1]);
    for (std::size_t i = 0; i < size; ++i)
      picture.pixels[i % pixels * static_cast<std::size_t>(shape[1]) +
                     i / pixels] =
          static_cast<std::uint8_t>(
              std::lround(255 * (image[i] - *lowest) / range));
    return formats::encodeImage(picture, formats::ImageFormat::Png);
  }

private:
  Session session;
  int program;
  TensorName input, gradient, outputGradient, score;
  std::vector<std::int64_t> shape, scoreShape;
  std::size_t classIndex, size;
  std::vector<float> image;
};

/// Maximises the score of a class with the current weights, and writes the
/// image.
class Maximise : public HookAction {
public:
  Maximise(std::unique_ptr<GradientAscent> ascent, std::string file, int label,
           int steps, double rate)
      : ascent(std::move(ascent)), file(std::move(file)), label(label),
        steps(steps), rate(rate) {}

  DeferredWork run(HookCall &call) override {
    auto weights = std::make_shared<formats::Weights>(
        call.trainer.session().parameters().save());
    auto work = [this, weights] {
      ascent->load(*weights);
      const double score = ascent->run(steps, rate);
      writeFileAtomically(file, ascent->encodePng());
      return score;
    };
    const std::string prefix = "Iteration " + std::to_string(call.iteration) +
                               ", " + call.name + ": class " +
                               std::to_string(label) + " scores ";
    auto logLines = [this, prefix](double score) {
      return std::vector<std::string>{prefix + log::number(score) + " for " +
                                      file};
    };
    if (call.background)
      return [work, logLines] { return logLines(work()); };
    const double score = work();
    call.values.setHook(call.name, score);
    return [logLines, score] { return logLines(score); };
  }
  bool isReadOnly() const override { return true; }

private:
  std::unique_ptr<GradientAscent> ascent;
  std::string file;
  int label, steps;
  double rate;
};

} // namespace

std::unique_ptr<HookAction> makeMaximise(ActionWords &words,
                                         const ActionContext &context) {
  const int label = words.nextNumber("the number of a class", 0);
  words.require("of");
  const std::string scores = words.next("the blob of the scores").text;
  words.require("in");
  const std::string plan = words.next("the plan of a net for inference").text;
  words.require("to");
  const HookWord file = words.next("the name of a PNG file");
  if (file.text.size() < 5 ||
      formats::imageFormatOf(file.text.substr(file.text.size() - 4)) !=
          formats::ImageFormat::Png)
    throw TextError{file.offset, "expected a name that ends in .png"};
  int steps = 64;
  double rate = 0.05;
  while (!words.atEnd())
    if (words.take("steps"))
      steps = words.nextNumber("a number of steps, from 1 on", 1);
    else if (words.take("rate"))
      rate = words.nextReal("a number");
    else
      words.fail("expected 'steps' or 'rate'" + words.found());
  auto ascent = std::make_unique<GradientAscent>(
      formats::requirePath(plan, context.folders, "plan"), scores, label,
      context.trainer.session().deviceOptions());
  // Report weights that do not fit, and files that cannot be written, before
  // training.
  ascent->load(context.trainer.session().parameters().save());
  AtomicFile{file.text};
  return std::make_unique<Maximise>(std::move(ascent), file.text, label, steps,
                                    rate);
}

} // namespace brew::runtime
