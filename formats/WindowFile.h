//===- WindowFile.h - Regions of images, for WindowData ---------*- C++ -*-===//
//
// A window file contains for each image:
//
//   # IMAGE_INDEX
//   PATH
//   CHANNELS HEIGHT WIDTH
//   NUMBER_OF_WINDOWS
//   LABEL OVERLAP X1 Y1 X2 Y2        (for each window; bounds are inclusive)
//
// Words are separated by any white space.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

struct Window {
  int label = 0;
  float overlap = 0;
  int x1 = 0, y1 = 0, x2 = 0,
      y2 = 0;      ///< first and last column and row, inclusive
  size_t line = 0; ///< line number in the file, from 1

  std::string text() const; ///< "from (X1, Y1) to (X2, Y2)"
};

struct WindowImage {
  std::string name; ///< file name, without white space
  int channels = 0, height = 0, width = 0;
  size_t line = 0; ///< line number of the name
  std::vector<Window> windows;
};

/// Reads a window file. Images must be numbered from 0 in order, as Caffe uses
/// the number as position. Throws Error(3) if the file cannot be read, and
/// Error(1) with file and line if a word is missing or malformed, or if a
/// window ends before it begins. Does not check whether windows lie within
/// their images.
std::vector<WindowImage> readWindowFile(const std::string &path);

} // namespace brew::formats
