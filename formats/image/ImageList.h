//===- ImageList.h - Lists of labelled image files --------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

struct ImageListEntry {
  std::string name; ///< of the file, as the list has it; may hold spaces
  int label = 0;
  size_t line = 0; ///< in the list, from 1
};

/// A list of images, one a line: a file's name, a space, its label. As Caffe
/// reads it: the last space divides, and the label is what atoi() makes of the
/// rest (0 of what is no number). Error(3): the list cannot be read; Error(1):
/// it is empty, or has bytes that are no text.
std::vector<ImageListEntry> readImageList(const std::string &path);

/// "LIST:LINE", for messages about an entry.
std::string lineLocation(const std::string &list, const ImageListEntry &entry);

/// What C's atoi() makes of text, but clamped to an int.
int leadingInteger(const char *text);

} // namespace brew::formats
