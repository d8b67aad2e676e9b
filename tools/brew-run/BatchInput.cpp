//===- BatchInput.cpp - Batch input of a program --------------------------===//

#include "BatchInput.h"

#include "Log.h"

#include <algorithm>

namespace brew::run {

BatchInput::BatchInput(Session &theSession, int theProgram)
    : session(theSession), program(theProgram) {
  for (std::size_t i = 0; i < session.inputs(program); ++i) {
    const brew_input candidate = session.input(program, i);
    if (input.empty() && candidate.ndim >= 2) {
      input = candidate.name;
      size = candidate.dims[0];
      shape.assign(candidate.dims + 1, candidate.dims + candidate.ndim);
    }
  }
  if (input.empty() || size < 1)
    throw badInput("the program has no input with a batch of samples");
  for (std::int64_t dim : shape)
    sampleSize *= static_cast<std::size_t>(dim);
  for (std::size_t i = 0; i < session.inputs(program); ++i) {
    const brew_input candidate = session.input(program, i);
    session.setInput(
        program, candidate.name,
        std::vector<float>(static_cast<std::size_t>(candidate.count)));
  }
}

void BatchInput::run(const std::vector<const float *> &samples) {
  std::vector<float> values(sampleSize * static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::copy(samples[i], samples[i] + sampleSize,
              values.begin() + i * sampleSize);
  session.setInput(program, input, values);
  session.feedAndRun(program);
}

void addImageOptions(CLI::App &command, ImageOptions &options) {
  command
      .add_option("--mean", options.mean,
                  "Mean to subtract from images: values separated by "
                  "commas, or a .binaryproto (default: recorded in the "
                  "plan, or none)")
      ->type_name("V,...|FILE");
  command.add_option("--scale", options.scale,
                     "Factor for images, after subtracting the mean (default: "
                     "recorded in the plan, or 1)");
}

void warnOfRawImages(const ImageOptions &options,
                     const std::optional<brew_input_transform> &transform) {
  if (options.isEmpty() && !transform)
    log::warning(log::site::brew,
                 "images are fed as raw values from 0 to 255: the plan records "
                 "no transform; compile the training net with brewc --deploy, "
                 "or pass --mean and --scale");
}

api::Records openRecords(const std::string &path,
                         const std::vector<std::int64_t> &dims,
                         const std::string &input, const ImageOptions &options,
                         const std::optional<brew_input_transform> &transform) {
  const std::string &mean = options.mean;
  try {
    return api::Records(path, dims, input, mean, options.scale,
                        transform ? &*transform : nullptr);
  } catch (const Error &error) {
    // The library does not know the name of the option --mean.
    const std::string text = error.what();
    if (error.status() == BREW_BAD_INPUT && !mean.empty() &&
        text.compare(0, 5, "mean ") == 0)
      throw badInput("--" + text);
    throw;
  }
}

} // namespace brew::run
