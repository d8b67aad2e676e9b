//===- PathLookup.cpp - Lookup of files that a prototxt names -------------===//
#include "formats/PathLookup.h"

#include "support/Error.h"

#include <algorithm>
#include <filesystem>

namespace brew::formats {
namespace fs = std::filesystem;

namespace {

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
  std::error_code error; // an unreadable parent is the same as absent
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
                        const std::string &what) {
  if (name.empty())
    throw badInput(what + ": the file name is empty");
  if (auto found = findPath(name, folders))
    return *found;
  // One of the folders may be the absolute path of the working directory.
  std::vector<std::string> looked;
  for (const std::string &candidate : candidatePaths(name, folders)) {
    std::string path = absolutePath(candidate);
    if (std::find(looked.begin(), looked.end(), path) == looked.end())
      looked.push_back(path);
  }
  std::string tried;
  for (const std::string &path : looked)
    tried += (tried.empty() ? "" : ", ") + path;
  throw unavailable(what + " '" + name + "' not found; looked for " + tried);
}

std::string folderOfFile(const std::string &path) {
  return fs::path(path).parent_path().string();
}

std::string absolutePath(const std::string &path) {
  std::error_code error;
  fs::path whole = fs::absolute(path, error).lexically_normal();
  if (error)
    return path;
  if (!whole.has_filename() && whole.has_relative_path()) // "train/"
    whole = whole.parent_path();
  return whole.string();
}

} // namespace brew::formats
