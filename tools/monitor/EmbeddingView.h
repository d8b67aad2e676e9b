//===- EmbeddingView.h - A layout of samples, as it comes about -*- C++ -*-===//
//
// The page of `brew-run embed --monitor`: points in a plane, coloured by their
// classes, and how well they agree with the features so far.
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

/// What is laid out.
struct Samples {
  std::vector<std::string> names;
  std::vector<std::int32_t> classes; ///< of each sample; less than 0: none
  std::vector<std::string>
      classNames; ///< of classes 0, 1, ...; others: numbers
};

class EmbeddingView : public RequestHandler {
public:
  /// Of a blob, by that method. Pages show `most` samples at most, spread
  /// evenly over all.
  EmbeddingView(std::string blob, std::string method, std::size_t most = 20000);

  /// The features of all samples have been computed by the net.
  void setSamples(const std::string &net, Samples samples);
  /// A layout of all samples, `columns` values each of which the first two are
  /// shown, after so many of `iterations`; `divergence`: NaN where the method
  /// has none. The last one is `finished`. Copies what it shows; waits for no
  /// page.
  void show(const float *layout, std::size_t columns, int iteration,
            int iterations, double divergence, bool finished);

  /// `state`: {kind: "embedding", blob, method, curves, layout, and, when they
  /// are known, net, samples (how many), names, classes, class_names}; names
  /// and classes are those of the samples that are shown.
  nlohmann::json get(const std::string &name, const Query &query) override;
  /// Nothing can be changed.
  nlohmann::json post(const std::string &name,
                      const nlohmann::json &body) override;
  Broadcast *events() override { return &broadcast; }

private:
  const std::string blob, method;
  const std::size_t most;
  /// Layouts are large, and only the last one counts.
  Broadcast broadcast{2};

  std::mutex mutex;     ///< of what follows
  nlohmann::json shown; ///< net, names, classes, class_names
  std::size_t samples = 0, every = 1;
  Curves curves;
  nlohmann::json layout; ///< null: none yet
};

} // namespace brew::monitor
