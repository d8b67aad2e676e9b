//===- ImageList.h - Lists of labelled image files --------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

/// A line of an image list.
struct ImageListEntry {
  std::string name; ///< file name as in the list; may contain spaces
  int label = 0;
  size_t line = 0; ///< line number in the list, from 1
};

/// Reads a list with the name of an image file, a space and a label in each
/// line. As in Caffe, the last space separates them, and atoi() converts the
/// label (0 if it is not a number). Error(3): the list cannot be read;
/// Error(1): it is empty, or not text.
std::vector<ImageListEntry> readImageList(const std::string &path);

/// Returns "LIST:LINE", for messages about an entry.
std::string lineLocation(const std::string &list, const ImageListEntry &entry);

/// Converts text as C's atoi() does, but clamps to the range of int.
int leadingInteger(const char *text);

} // namespace brew::formats
