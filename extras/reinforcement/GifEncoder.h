//===- GifEncoder.h - Encoder of animated GIFs ------------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <memory>
#include <string>

namespace brew::reinforcement {

/// Encodes pictures of one size as a GIF that repeats forever. Colours are
/// exact if the region that changed since the previous picture has at most 256
/// of them; otherwise they are rounded as little as necessary, at the coarsest
/// to 8 x 8 x 4 colours. All functions throw Error (3) if the library fails.
class GifEncoder {
public:
  GifEncoder(int width, int height);
  ~GifEncoder();

  /// Adds a picture of 3 channels (blue, green, red), shown for `hundredths` of
  /// a second.
  void add(const formats::Image &picture, int hundredths);
  /// Returns the bytes of the file. Call it once, last.
  std::string finish();

private:
  struct Library;
  std::unique_ptr<Library> library;
  formats::Image last;
};

} // namespace brew::reinforcement
