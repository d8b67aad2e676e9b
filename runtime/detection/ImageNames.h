//===- ImageNames.h - Names and sizes of a test set's images ----*- C++ -*-===//
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace brew::runtime {

/// The name and size of an image.
struct NamedImageSize {
  std::string name;
  int height, width; ///< at least 1
};

/// Reads a file of lines NAME HEIGHT WIDTH, in the order of a database's
/// records. Throws Error: 3 if the file cannot be read, 1 if a line is invalid
/// or the file is empty.
std::vector<NamedImageSize> readNameSizeFile(const std::string &path);

/// Reads the names of labels from a LabelMap in text format. Throws Error: 3 if
/// the file cannot be read, 1 if it is not a label map or names a label twice.
std::map<int, std::string> readLabelMap(const std::string &path);

} // namespace brew::runtime
