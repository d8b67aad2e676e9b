//===- DrawingClassifier.h - Classifier of drawings -------------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <nlohmann/json.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace brew::monitor {

/// An inference net that uses the current parameters of the trained net,
/// matched by layer name. It has its own session with one thread.
class DrawingClassifier {
public:
  /// `plan`: the plan file of a deploy net whose first input is an image.
  /// `scale`: factor of pixels from 0 to 255. Throws Error (1) for another kind
  /// of plan and for parameters that `trained` lacks.
  DrawingClassifier(const std::string &plan, double scale,
                    api::Session &trained);

  struct Parameter {
    api::TensorName name;
    std::vector<float> values;
  };
  /// Copies the trained net's current parameters. Training thread only.
  std::vector<Parameter> parametersOf(api::Session &trained) const;

  /// Classifies `pixels` (0 to 1, row-major, the same for all channels).
  /// Returns {scores: [...], blobs: {NAME: {images...}, ...}}: the first output
  /// and the pinned blobs. Throws Error (1) for another number of pixels.
  /// Thread-safe.
  nlohmann::json classify(const std::vector<float> &pixels,
                          const std::vector<Parameter> &parameters);

  /// Returns {width, height, channels}.
  nlohmann::json inputShape() const;

private:
  api::Plan plan;
  mutable std::mutex mutex; ///< guards `session`
  api::Session session;
  double scale;
  brew_input input;
  std::string output;
  std::vector<api::TensorName> names; ///< of the parameters
  std::vector<std::string> blobs;     ///< pinned blobs with four dimensions
};

} // namespace brew::monitor
