//===- GifEncoder.h - Pictures to an animated GIF ---------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageDecode.h"

#include <memory>
#include <string>

namespace brew::reinforcement {

/// Encodes pictures of one size, one after the other, as a GIF that repeats for
/// ever. Colours are kept as they are where what has changed since the picture
/// before has at most 256 of them, else rounded as little as it takes, to 8 x 8
/// x 4 at most. What a function throws is Error (3): the library fails.
class GifEncoder {
public:
  GifEncoder(int width, int height);
  ~GifEncoder();

  /// A picture of 3 channels (blue, green, red), shown for so many hundredths
  /// of a second.
  void add(const formats::Image &picture, int hundredths);
  /// The file's bytes. Call once, last.
  std::string finish();

private:
  struct Library;
  std::unique_ptr<Library> library;
  formats::Image last;
};

} // namespace brew::reinforcement
