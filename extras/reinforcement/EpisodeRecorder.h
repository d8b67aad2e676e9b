//===- EpisodeRecorder.h - Recorder of episodes as images -------*- C++ -*-===//
#pragma once

#include "extras/reinforcement/GifEncoder.h"
#include "extras/reinforcement/ObservedEnvironment.h"

#include <optional>
#include <string>
#include <vector>

namespace brew::reinforcement {

struct EpisodeRecorderOptions {
  int width = 300, height = 200; ///< of a picture, in pixels
  int steps = 2;                 ///< GIF: steps per picture
  int pictures = 12;             ///< PNG: maximum number of pictures
};

/// Draws the first episode that an environment begins, as an animated GIF or as
/// a PNG of pictures side by side.
class EpisodeRecorder {
public:
  /// Starts to observe the environment, which must outlive this object. Throws
  /// Error (2) for another file extension, for options out of range and for
  /// environments that cannot be drawn.
  EpisodeRecorder(ObservedEnvironment &environment, std::string path,
                  const EpisodeRecorderOptions &options);
  ~EpisodeRecorder();

  /// Writes the file. Throws Error: (2) if no episode has begun, (3) if the
  /// file cannot be written.
  void finish();

private:
  struct Picture {
    std::int64_t step;
    formats::Image image;
  };
  void record(const EnvironmentState &state);
  void addToGif(const EnvironmentState &state);
  void addToSheet(const EnvironmentState &state);
  formats::Image drawPicture(std::int64_t step) const;
  std::string encodeSheet() const;

  ObservedEnvironment &environment;
  const std::string path;
  const EpisodeRecorderOptions options;
  int observer = -1;
  bool begun = false, ended = false;

  std::optional<GifEncoder> gif; ///< nullopt: the file is a PNG
  int pictures = 0;              ///< in the GIF
  /// PNG: evenly spaced pictures, at most twice as many as will be shown.
  std::vector<Picture> sheetPictures;
  std::int64_t interval = 1;   ///< steps between two of these pictures
  std::optional<Picture> last; ///< of the episode, if not in sheetPictures
};

} // namespace brew::reinforcement
