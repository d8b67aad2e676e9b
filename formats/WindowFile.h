//===- WindowFile.h - Regions of images, for WindowData ---------*- C++ -*-===//
//
//   # IMAGE_INDEX
//   PATH
//   CHANNELS HEIGHT WIDTH
//   NUMBER_OF_WINDOWS
//   LABEL OVERLAP X1 Y1 X2 Y2        (for each window; bounds included)
//
// again for the next image, whatever white space divides the words.
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
  int x1 = 0, y1 = 0, x2 = 0, y2 = 0; ///< first and last column and row
  size_t line = 0;                    ///< in the file, from 1

  std::string text() const; ///< "from (X1, Y1) to (X2, Y2)"
};

struct WindowImage {
  std::string name; ///< of the file, without white space
  int channels = 0, height = 0, width = 0;
  size_t line = 0; ///< of its name
  std::vector<Window> windows;
};

/// Reads a window file. Images must be numbered from 0 in order, as Caffe uses
/// the number as position. Error(3): it cannot be read; Error(1), with file and
/// line: a word is missing or is none of its kind, or a window ends before it
/// begins. Whether windows lie within their images is not looked at.
std::vector<WindowImage> readWindowFile(const std::string &path);

} // namespace brew::formats
