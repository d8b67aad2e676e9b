//===- EmbeddingView.h - Page of an embedding in progress -------*- C++ -*-===//
//
// The page of `brew-run embed --monitor`: points in a plane, coloured by class,
// and the divergence of the layout from the features so far.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/monitor/Curves.h"
#include "tools/monitor/Server.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace brew::monitor {

/// The samples of a layout.
struct Samples {
  std::vector<std::string> names;
  std::vector<std::int32_t> classes; ///< of each sample; negative: no class
  /// Names of classes 0, 1, ...; other classes show their number.
  std::vector<std::string> classNames;
};

class EmbeddingView : public RequestHandler {
public:
  /// The page of a blob's layout by `method`. If there are more than `maxShown`
  /// samples, shows only samples at equal intervals.
  EmbeddingView(std::string blob, std::string method,
                std::size_t maxShown = 20000);

  /// Sets the samples, once the net has computed their features.
  void setSamples(const std::string &net, Samples samples);
  /// Publishes a layout of all samples after `iteration` of `iterations`. Each
  /// sample has `columns` values, of which the first two are shown.
  /// `divergence` is NaN if the method has none. The last layout is `finished`.
  /// Copies the data and does not wait for pages.
  void show(const float *layout, std::size_t columns, int iteration,
            int iterations, double divergence, bool finished);

  /// Returns, for `state`, {kind: "embedding", blob, method, curves, layout}
  /// and, after setSamples(), {net, samples (their number), names, classes,
  /// class_names}. Names and classes cover the shown samples only.
  nlohmann::json get(const std::string &name, const Query &query) override;
  /// Always fails: an embedding has no controls.
  nlohmann::json post(const std::string &name,
                      const nlohmann::json &body) override;
  Broadcast *events() override { return &broadcast; }

private:
  const std::string blob, method;
  const std::size_t maxShown;
  /// Layouts are large, and only the last one matters.
  Broadcast broadcast{2};

  std::mutex mutex;                    ///< guards the members below
  nlohmann::json sampleInfo;           ///< net, names, classes, class_names
  std::size_t samples = 0, stride = 1; ///< every `stride`-th sample is shown
  Curves curves;
  nlohmann::json layout; ///< null before the first layout
};

} // namespace brew::monitor
