//===- ImageFolder.cpp - Folders of labelled images -----------------------===//
#include "formats/image/ImageFolder.h"

#include "formats/Database.h"
#include "support/Error.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace fs = std::filesystem;

namespace brew::formats {
namespace {

[[noreturn]] void failToList(const fs::path &path, std::error_code error) {
  throw unavailable("cannot list the folder '" + path.string() +
                    "': " + error.message());
}

bool isHidden(const fs::path &path) {
  return path.filename().native().front() == '.';
}

/// Returns the subfolders of a folder, in the order of their names.
std::vector<std::string> subfoldersOf(const fs::path &path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error))
    if (std::error_code unknown; // a dangling link
        !isHidden(at->path()) && at->is_directory(unknown))
      names.push_back(at->path().filename());
  if (error)
    failToList(path, error);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

bool hasImageExtension(const std::string &name) {
  constexpr const char *kExtensions[] = {"jpg",  "jpeg", "jpe", "png", "bmp",
                                         "pbm",  "pgm",  "ppm", "pnm", "tif",
                                         "tiff", "webp", "gif", "jp2"};
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos)
    return false;
  std::string extension = name.substr(dot + 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return std::find(std::begin(kExtensions), std::end(kExtensions), extension) !=
         std::end(kExtensions);
}

ImageFolder readImageFolder(const std::string &path) {
  if (const auto backend = detectBackend(path))
    throw badInput(path + ": is a database of " + backendName(*backend) +
                   ", not a folder of classes; read it with a layer "
                   "of type Data");
  ImageFolder folder;
  folder.classes = subfoldersOf(path);
  if (folder.classes.empty())
    throw badInput(path + ": has no subfolders; a folder of classes has a "
                          "subfolder of images for each class");
  for (std::size_t label = 0; label < folder.classes.size(); ++label) {
    const fs::path classPath = fs::path(path) / folder.classes[label];
    std::vector<std::string> names;
    std::error_code error;
    for (fs::recursive_directory_iterator at(classPath, error), end;
         !error && at != end; at.increment(error)) {
      std::error_code unknown;
      if (isHidden(at->path())) {
        at.disable_recursion_pending();
      } else if (at->is_regular_file(unknown)) {
        if (hasImageExtension(at->path().filename()))
          names.push_back(folder.classes[label] + "/" +
                          at->path().lexically_relative(classPath).string());
        else
          ++folder.otherFiles;
      }
    }
    if (error)
      failToList(classPath, error);
    if (names.empty())
      throw badInput(classPath.string() +
                     ": contains no images; each subfolder of '" + path +
                     "' is a class");
    std::sort(names.begin(), names.end());
    for (std::string &name : names)
      folder.images.push_back({std::move(name), static_cast<int>(label), 0});
  }
  return folder;
}

std::string ImageDataFiles::nameOf(const ImageListEntry &entry,
                                   const std::string &rootFolder) const {
  return isFolder ? (fs::path(source) / entry.name).string()
                  : rootFolder + entry.name;
}

std::string ImageDataFiles::locationOf(const ImageListEntry &entry) const {
  return isFolder ? "" : lineLocation(source, entry);
}

ImageDataFiles readImageDataFiles(const std::string &path,
                                  const std::string &rootFolder) {
  ImageDataFiles files;
  files.source = path;
  std::error_code ignored;
  files.isFolder = fs::is_directory(path, ignored);
  if (files.isFolder && !rootFolder.empty())
    throw badInput("root_folder is a prefix of the names in a list, but the "
                   "source '" +
                   path + "' is a folder");
  files.entries =
      files.isFolder ? readImageFolder(path).images : readImageList(path);
  return files;
}

} // namespace brew::formats
