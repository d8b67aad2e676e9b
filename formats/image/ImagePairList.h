//===- ImagePairList.h - Lists of images and their labels -------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

/// A line of a list of image pairs.
struct ImagePair {
  std::string image;  ///< file name as in the list
  std::string labels; ///< file name of the image of labels, or a label
  size_t line = 0;    ///< line number in the list, from 1
};

/// Reads a list with the names of an image and of the image of its labels,
/// separated by blanks, in each line. With `withLabels` false, the second word
/// may be missing. Throws Error(3) if the list cannot be
/// read, Error(1) if it is empty or not text, or a line has another form.
std::vector<ImagePair> readImagePairList(const std::string &path,
                                         bool withLabels = true);

} // namespace brew::formats
