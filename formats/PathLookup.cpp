//===- PathLookup.cpp - Lookup of files that a prototxt names -------------===//
#include "formats/PathLookup.h"

#include "support/Error.h"

#include <algorithm>
#include <filesystem>

namespace brew::formats {
namespace fs = std::filesystem;

namespace {

/// Returns `name` and, unless it is absolute, FOLDER/NAME for each folder.
std::vector<std::string>
candidatePaths(const std::string &name,
               const std::vector<std::string> &folders) {
  std::vector<std::string> paths{name};
  if (fs::path(name).is_absolute())
    return paths;
  for (const std::string &folder : folders) {
    if (folder.empty())
      continue;
    std::string path = (fs::path(folder) / name).string();
    if (std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.push_back(path);
  }
  return paths;
}

bool exists(const std::string &path) {
  std::error_code error; // a file in an unreadable folder counts as absent
  return fs::exists(path, error) && !error;
}

} // namespace

std::optional<std::string> findPath(const std::string &name,
                                    const std::vector<std::string> &folders) {
  if (name.empty())
    return std::nullopt;
  for (const std::string &path : candidatePaths(name, folders))
    if (exists(path))
      return path;
  return std::nullopt;
}

std::string requirePath(const std::string &name,
                        const std::vector<std::string> &folders,
                        const std::string &kind) {
  if (name.empty())
    throw badInput(kind + ": the file name is empty");
  if (auto found = findPath(name, folders))
    return *found;
  // One of the folders may be the absolute path of the working directory.
  std::vector<std::string> searchedPaths;
  for (const std::string &candidate : candidatePaths(name, folders)) {
    std::string path = absolutePath(candidate);
    if (std::find(searchedPaths.begin(), searchedPaths.end(), path) ==
        searchedPaths.end())
      searchedPaths.push_back(path);
  }
  std::string searchedText;
  for (const std::string &path : searchedPaths)
    searchedText += (searchedText.empty() ? "" : ", ") + path;
  throw unavailable(kind + " '" + name + "' not found; looked for " +
                    searchedText);
}

std::string folderOfFile(const std::string &path) {
  return fs::path(path).parent_path().string();
}

std::string absolutePath(const std::string &path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (error)
    return path;
  if (!absolute.has_filename() && absolute.has_relative_path()) // "train/"
    absolute = absolute.parent_path();
  return absolute.string();
}

} // namespace brew::formats
