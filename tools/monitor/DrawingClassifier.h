//===- DrawingClassifier.h - The class of what a user draws ------------*- C++ -*-===//
#pragma once

#include <brew/brew.hpp>

#include <nlohmann/json.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace brew::monitor {

/// A net for inference that takes its parameters from the one that is trained,
/// by the names of layers. It has memory and a thread of its own.
class DrawingClassifier {
public:
  /// `plan` is that of a deploy net whose first input is an image. `scale`:
  /// what pixels of 0 to 255 are multiplied by. Throws Error (1) for another
  /// plan or one whose parameters `trained` lacks.
  DrawingClassifier(const std::string &plan, double scale, api::Session &trained);

  struct Parameter {
    api::TensorName name;
    std::vector<float> values;
  };
  /// What the trained net has now; on the thread that trains.
  std::vector<Parameter> parametersOf(api::Session &trained) const;

  /// {scores: [...], blobs: {NAME: {images...}, ...}}: of `pixels` (0 to 1, row
  /// by row, the same for all channels), the first output and the blobs that
  /// the plan keeps. Throws Error (1) for another number of pixels. Any thread.
  nlohmann::json classify(const std::vector<float> &pixels,
                          const std::vector<Parameter> &parameters);

  /// {width, height, channels}
  nlohmann::json inputShape() const;

private:
  api::Plan plan;
  mutable std::mutex mutex; ///< of `session`
  api::Session session;
  double scale;
  brew_input input;
  std::string output;
  std::vector<api::TensorName> names; ///< of the parameters
  std::vector<std::string> blobs;     ///< that can be looked at
};

} // namespace brew::monitor
