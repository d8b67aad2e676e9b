//===- PathLookup.h - Finding the files a prototxt names --------*- C++ -*-===//
//
// Caffe resolves file names in prototxts from the working directory. Brew then
// also tries the folder of the file that names them (and at run time the
// plan's), so that a net can be compiled from anywhere.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace brew::formats {

/// The first of NAME (from the working directory) and FOLDER/NAME for each
/// folder in order that exists, file or folder; nothing if none does. An
/// absolute name stands for itself. Empty folders are skipped.
std::optional<std::string> findPath(const std::string &name,
                                    const std::vector<std::string> &folders);

/// The same, or an Error(3) that says where it looked. `what` names the thing
/// sought, e.g. "mean file".
std::string requirePath(const std::string &name,
                        const std::vector<std::string> &folders,
                        const std::string &what);

/// The folder part of a path, "" if there is none.
std::string folderOfFile(const std::string &path);

/// A path from the root, without steps back and without a slash behind it: the
/// same for all ways to write the name of one place, links aside. In a folder
/// that is gone, as it was given.
std::string absolutePath(const std::string &path);

} // namespace brew::formats
