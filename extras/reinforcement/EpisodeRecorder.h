//===- EpisodeRecorder.h - Pictures of an episode --------------------------*- C++ -*-===//
#pragma once

#include "extras/reinforcement/GifEncoder.h"
#include "extras/reinforcement/ObservedEnvironment.h"

#include <optional>
#include <string>
#include <vector>

namespace brew::reinforcement {

struct EpisodeRecorderOptions {
  int width = 300, height = 200; ///< of a picture
  int steps = 2;                 ///< GIF: for so many steps a picture
  int pictures = 12;             ///< PNG: how many at most
};

/// Draws the first episode that an environment begins: as a GIF that moves, or
/// as a PNG of pictures side by side.
class EpisodeRecorder {
public:
  /// Begins to watch the environment, which outlives it. Throws Error (2) for
  /// another kind of file, sizes that no picture has and environments that
  /// nobody knows how to draw.
  EpisodeRecorder(ObservedEnvironment &environment, std::string path,
       const EpisodeRecorderOptions &options);
  ~EpisodeRecorder();

  /// Writes the file. Throws Error: (2) if no episode was begun, (3) if it
  /// cannot be written.
  void finish();

private:
  struct Picture {
    std::int64_t step;
    formats::Image image;
  };
  void see(const EnvironmentState &state);
  void addToGif(const EnvironmentState &state);
  void keep(const EnvironmentState &state);
  formats::Image drawn(std::int64_t step) const;
  std::string sheet() const;

  ObservedEnvironment &environment;
  const std::string path;
  const EpisodeRecorderOptions options;
  int observer = -1;
  bool begun = false, ended = false;

  std::optional<GifEncoder> gif; ///< none: a PNG
  int pictures = 0;              ///< in it
  /// Of a PNG: evenly spaced, at most twice as many as are wanted.
  std::vector<Picture> kept;
  std::int64_t each = 1; ///< steps between two of them
  std::optional<Picture> last;
};

} // namespace brew::reinforcement
