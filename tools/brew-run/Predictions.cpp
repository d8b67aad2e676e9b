//===- Predictions.cpp - Printer of predictions ---------------------------===//

#include "Predictions.h"

#include "Log.h"
#include "Session.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>

namespace brew::run {
namespace {

/// Prints one line; replaces invalid UTF-8 in names.
void printJson(const nlohmann::json &json) {
  std::printf("%s\n", json.dump(-1, ' ', false,
                                nlohmann::json::error_handler_t::replace)
                          .c_str());
}

} // namespace

std::vector<std::string> readLabels(const std::string &path) {
  std::vector<std::string> labels;
  if (path.empty())
    return labels;
  std::ifstream file(path);
  if (!file)
    throw unavailable(path + ": cannot read the labels");
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    labels.push_back(line);
  }
  if (file.bad()) // a folder, say
    throw unavailable(path + ": cannot read the labels");
  if (labels.empty())
    throw badInput(path + ": there are no labels");
  return labels;
}

PredictionPrinter::PredictionPrinter(std::string labels, std::int64_t topCount,
                                     bool json)
    : labelFile(std::move(labels)), names(readLabels(labelFile)),
      top(static_cast<std::size_t>(topCount)), asJson(json) {}

void PredictionPrinter::printClasses(const std::string &sample,
                                     std::optional<int> label,
                                     const float *scores, std::size_t classes,
                                     const std::string &blob) {
  if (names.empty() && !defaultNames.empty()) {
    if (defaultNames.size() == classes)
      names = std::move(defaultNames);
    else
      log::warning(log::site::brew, "the plan names " +
                                        std::to_string(defaultNames.size()) +
                                        " classes, and blob '" + blob +
                                        "' has " + std::to_string(classes) +
                                        ": classes are shown by their numbers");
    defaultNames.clear();
  }
  if (!names.empty() && names.size() != classes)
    throw badInput(labelFile + ": has " + std::to_string(names.size()) +
                   " labels; blob '" + blob + "' has " +
                   std::to_string(classes) + " classes");
  std::vector<std::size_t> order(classes);
  std::iota(order.begin(), order.end(), 0);
  const auto shown = static_cast<std::ptrdiff_t>(std::min(classes, top));
  std::partial_sort(order.begin(), order.begin() + shown, order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return scores[a] > scores[b] ||
                             (scores[a] == scores[b] && a < b);
                    });
  order.resize(static_cast<std::size_t>(shown));
  if (asJson) {
    nlohmann::json json = {{"name", sample},
                           {"predictions", nlohmann::json::array()}};
    if (label)
      json["label"] = *label;
    for (std::size_t index : order)
      json["predictions"].push_back({{"class", index},
                                     {"name", className(index)},
                                     {"score", scores[index]}});
    return printJson(json);
  }
  std::printf("---------- Prediction for %s ----------\n", sample.c_str());
  if (label && *label >= 0)
    std::printf("labelled \"%s\"\n",
                className(static_cast<std::size_t>(*label)).c_str());
  for (std::size_t index : order)
    std::printf("%.4f - \"%s\"\n", scores[index], className(index).c_str());
}

void PredictionPrinter::printDetections(const std::string &sample, float image,
                                        const std::vector<float> &rows,
                                        std::size_t rowSize) const {
  nlohmann::json json = {{"name", sample},
                         {"detections", nlohmann::json::array()}};
  if (!asJson)
    std::printf("---------- Detections in %s ----------\n", sample.c_str());
  for (std::size_t row = 0; row < rows.size(); row += rowSize) {
    const float *values = &rows[row];
    if (values[0] != image || values[1] < 0)
      continue;
    const auto label = static_cast<std::size_t>(values[1]);
    if (asJson)
      json["detections"].push_back(
          {{"class", label},
           {"name", className(label)},
           {"score", values[2]},
           {"box", {values[3], values[4], values[5], values[6]}}});
    else
      std::printf("%.4f - \"%s\" %.4f %.4f %.4f %.4f\n", values[2],
                  className(label).c_str(), values[3], values[4], values[5],
                  values[6]);
  }
  if (asJson)
    printJson(json);
}

} // namespace brew::run
