//===- ImageFolder.cpp - Folders of labelled images -----------------------===//
#include "formats/image/ImageFolder.h"

#include "formats/Database.h"
#include "formats/image/ImageListing.h"
#include "support/Error.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace brew::formats {

ImageFolder readImageFolder(const std::string &path) {
  if (const auto backend = detectBackend(path))
    throw badInput(path + ": is a database of " + backendName(*backend) +
                   ", not a folder of classes; read it with a layer "
                   "of type Data");
  ImageFolder folder;
  folder.classes = listSubfolders(path);
  if (folder.classes.empty())
    throw badInput(path + ": has no subfolders; a folder of classes has a "
                          "subfolder of images for each class");
  for (std::size_t label = 0; label < folder.classes.size(); ++label) {
    const fs::path classPath = fs::path(path) / folder.classes[label];
    const ImageListing listing = listImages(classPath.string());
    folder.otherFiles += listing.otherFiles;
    if (listing.names.empty())
      throw badInput(classPath.string() +
                     ": contains no images; each subfolder of '" + path +
                     "' is a class");
    for (const std::string &name : listing.names)
      folder.images.push_back(
          {folder.classes[label] + "/" + name, static_cast<int>(label), 0});
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
                                  const std::string &rootFolder,
                                  bool hasManyLabels) {
  ImageDataFiles files;
  files.source = path;
  if (hasManyLabels) {
    files.entries = readMultiLabelList(path);
    return files;
  }
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
