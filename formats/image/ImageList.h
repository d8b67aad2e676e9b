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
  /// Instead of `label`, in lists of several labels.
  std::vector<float> labels = {};
  int frame = 0; ///< the number after the name, in lists of clips
};

/// Reads a list with the name of an image file, a space and a label in each
/// line. As in Caffe, the last space is the separator, and a label that is not
/// a number is 0. Throws Error(3) if the list cannot be read, Error(1) if it is
/// empty or not text.
std::vector<ImageListEntry> readImageList(const std::string &path);

/// Reads a list with the name of an image file and any number of labels,
/// separated by blanks, in each line: the same number in all lines. Throws as
/// readImageList() does, and Error(1) for a line of another form.
std::vector<ImageListEntry> readMultiLabelList(const std::string &path);

/// Returns "LIST:LINE", for messages about an entry.
std::string lineLocation(const std::string &list, const ImageListEntry &entry);

/// Converts text as C's atoi() does, but clamps to the range of int.
int leadingInteger(const char *text);

} // namespace brew::formats
