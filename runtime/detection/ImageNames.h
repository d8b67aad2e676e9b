//===- ImageNames.h - Names and sizes of a test set's images ----*- C++ -*-===//
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace brew::runtime {

struct NamedImageSize {
  std::string name;
  int height, width; ///< at least 1
};

/// Lines of NAME HEIGHT WIDTH, in the order of a database's records. Throws
/// Error: 3 if the file cannot be read, 1 for a line that is not such, and if
/// there is none.
std::vector<NamedImageSize> readNameSizeFile(const std::string &path);

/// The names of labels, from a LabelMap in text form. Throws Error: 3 if the
/// file cannot be read, 1 if it is no label map or names a label twice.
std::map<int, std::string> readLabelMap(const std::string &path);

} // namespace brew::runtime
