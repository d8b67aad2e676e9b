//===- DrawingClassifier.cpp - Classifier of drawings ---------------------===//

#include "tools/monitor/DrawingClassifier.h"

#include "tools/monitor/TensorViews.h"

#include <algorithm>
#include <utility>

namespace brew::monitor {
namespace {

api::SessionOptions singleThreadOptions() {
  api::SessionOptions options;
  options.options.set("threads", 1);
  return options;
}

} // namespace

DrawingClassifier::DrawingClassifier(const std::string &path, double scale,
                                     api::Session &trained)
    : plan(path), session(plan, singleThreadOptions()), scale(scale) {
  auto reject = [&](const std::string &why) {
    throw api::Error(BREW_BAD_INPUT, "--monitor-net: '" + path + "' " + why);
  };
  if (session.inputs(0) == 0)
    reject("has no input");
  input = session.input(0, 0);
  if (input.ndim != 4)
    reject("is not a net for images: its input '" + std::string(input.name) +
           "' has " + std::to_string(input.ndim) + " dimensions, not 4");
  const brew_program_info info = plan.programInfo(0);
  if (info.output_count == 0)
    reject("has no output");
  output = info.outputs[0];
  std::vector<api::TensorName> trainedParameters =
      trained.names(BREW_PARAMETER);
  for (const api::TensorName &name : session.names(BREW_PARAMETER)) {
    const bool found = std::any_of(
        trainedParameters.begin(), trainedParameters.end(),
        [&](const api::TensorName &candidate) {
          return candidate.name == name.name && candidate.index == name.index &&
                 trained.find(candidate).count == session.find(name).capacity;
        });
    if (!found)
      reject("does not match the trained net, which has no parameter " +
             std::to_string(name.index) + " of layer '" + name.name +
             "' of this size");
    names.push_back(name);
  }
  for (const api::TensorName &name : session.names(BREW_BLOB, 0)) {
    try {
      if (session.find(name).shape_ndim == 4)
        blobs.push_back(name.name);
    } catch (const api::Error &) {
      // The blob is not pinned.
    }
  }
}

std::vector<DrawingClassifier::Parameter>
DrawingClassifier::parametersOf(api::Session &trained) const {
  std::vector<Parameter> parameters;
  for (const api::TensorName &name : names)
    parameters.push_back({name, trained.read<float>(name)});
  return parameters;
}

nlohmann::json
DrawingClassifier::classify(const std::vector<float> &pixels,
                            const std::vector<Parameter> &parameters) {
  const auto plane = static_cast<std::size_t>(input.dims[2] * input.dims[3]);
  if (pixels.size() != plane)
    throw api::Error(BREW_BAD_INPUT,
                     "the net's images have " + std::to_string(plane) +
                         " pixels, not " + std::to_string(pixels.size()));
  std::lock_guard<std::mutex> lock(mutex);
  for (const Parameter &parameter : parameters)
    session.write(parameter.name, parameter.values);
  session.prepare();
  std::vector<float> values(static_cast<std::size_t>(input.count));
  for (std::size_t i = 0; i < plane * static_cast<std::size_t>(input.dims[1]);
       ++i)
    values[i] = static_cast<float>(pixels[i % plane] * 255 * scale);
  session.setInput(0, input.name, values);
  session.feedAndRun(0);

  std::vector<float> scores = session.read(api::Session::blob(0, output));
  scores.resize(scores.size() / static_cast<std::size_t>(input.dims[0]));
  nlohmann::json blobImages = nlohmann::json::object();
  for (const std::string &blob : blobs) {
    const api::TensorName name = api::Session::blob(0, blob);
    const brew_tensor tensor = session.find(name);
    std::vector<float> maps = session.read(name);
    maps.resize(maps.size() / static_cast<std::size_t>(tensor.shape[0]));
    blobImages[blob] =
        imagesOf(maps, {tensor.shape[1], 1, tensor.shape[2], tensor.shape[3]});
  }
  return {{"scores", std::move(scores)}, {"blobs", std::move(blobImages)}};
}

nlohmann::json DrawingClassifier::inputShape() const {
  return {{"channels", input.dims[1]},
          {"height", input.dims[2]},
          {"width", input.dims[3]}};
}

} // namespace brew::monitor
