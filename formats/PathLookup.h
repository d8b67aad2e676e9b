//===- PathLookup.h - Lookup of files that a prototxt names -----*- C++ -*-===//
//
// Caffe resolves file names in prototxts from the working directory. Brew also
// tries the folder of the file that names them (and at run time the plan's
// folder), so that a net can be compiled from anywhere.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace brew::formats {

/// Returns the first existing file or folder among NAME (relative to the
/// working directory) and FOLDER/NAME for each folder in order, or nullopt. An
/// absolute name is the only candidate. Empty folders are skipped.
std::optional<std::string> findPath(const std::string &name,
                                    const std::vector<std::string> &folders);

/// Returns the result of findPath(), or throws Error(3) with the paths it
/// tried. `kind` is the kind of file for the message, e.g. "mean file".
std::string requirePath(const std::string &name,
                        const std::vector<std::string> &folders,
                        const std::string &kind);

/// Returns the folder of a path, or "" if it has none.
std::string folderOfFile(const std::string &path);

/// Returns the normalised absolute path, without "..", "." or a trailing slash.
/// Does not resolve symbolic links. Returns `path` if the working directory no
/// longer exists.
std::string absolutePath(const std::string &path);

} // namespace brew::formats
