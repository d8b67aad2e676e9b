//===- EmbeddingView.cpp - Page of an embedding in progress ---------------===//

#include "tools/monitor/EmbeddingView.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace brew::monitor {
namespace {

using Json = nlohmann::json;

/// Returns value / extent with four decimals, which suffice for a page of a few
/// thousand pixels.
double rounded(float value, double extent) {
  return extent > 0 ? std::round(double(value) / extent * 1e4) / 1e4 : 0;
}

} // namespace

EmbeddingView::EmbeddingView(std::string blobName, std::string methodName,
                             std::size_t maxShownSamples)
    : blob(std::move(blobName)), method(std::move(methodName)),
      maxShown(std::max<std::size_t>(maxShownSamples, 1)) {}

void EmbeddingView::setSamples(const std::string &net, Samples newSamples) {
  const std::size_t count = newSamples.names.size();
  const std::size_t step =
      std::max<std::size_t>(1, (count + maxShown - 1) / maxShown);
  Json names = Json::array(), classes = Json::array();
  for (std::size_t i = 0; i < count; i += step) {
    names.push_back(std::move(newSamples.names[i]));
    classes.push_back(i < newSamples.classes.size() ? newSamples.classes[i]
                                                    : -1);
  }
  std::lock_guard<std::mutex> lock(mutex);
  samples = count;
  stride = step;
  sampleInfo = {{"net", net},
                {"samples", count},
                {"names", std::move(names)},
                {"classes", std::move(classes)},
                {"class_names", std::move(newSamples.classNames)}};
}

void EmbeddingView::show(const float *values, std::size_t columns,
                         int iteration, int iterations, double divergence,
                         bool finished) {
  std::lock_guard<std::mutex> lock(mutex);
  // Scale both axes by the same factor, to -1 to 1.
  double extent = 0;
  for (std::size_t i = 0; i < samples; i += stride)
    for (std::size_t axis = 0; axis < 2 && axis < columns; ++axis)
      extent = std::max(extent, std::abs(double(values[i * columns + axis])));
  Json points = Json::array();
  for (std::size_t i = 0; i < samples; i += stride) {
    const float *row = values + i * columns;
    points.push_back(
        {rounded(row[0], extent), columns > 1 ? rounded(row[1], extent) : 0.0});
  }
  if (std::isfinite(divergence))
    curves.add("KL divergence", iteration, divergence);
  layout = {
      {"type", "layout"},         {"iteration", iteration},
      {"iterations", iterations}, {"divergence", divergence}, // null if NaN
      {"finished", finished},     {"points", std::move(points)}};
  broadcast.send(layout.dump());
}

Json EmbeddingView::get(const std::string &name, const Query &) {
  if (name != "state")
    throw HttpError(404, "there is no '" + name + "' of an embedding");
  std::lock_guard<std::mutex> lock(mutex);
  Json state = {{"kind", "embedding"},
                {"blob", blob},
                {"method", method},
                {"curves", curves.json()},
                {"layout", layout}};
  if (sampleInfo.is_object())
    state.update(sampleInfo);
  return state;
}

Json EmbeddingView::post(const std::string &name, const Json &) {
  throw HttpError(404, "an embedding has nothing to change by '" + name + "'");
}

} // namespace brew::monitor
