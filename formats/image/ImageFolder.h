//===- ImageFolder.h - Folders of labelled images ---------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageList.h"

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

/// A folder with a subfolder of images for each class, as torchvision's
/// ImageFolder and Keras read it.
struct ImageFolder {
  /// The names of the subfolders in the order of their bytes; the index of a
  /// name is the label of its images.
  std::vector<std::string> classes;
  /// The images of all classes, ordered by label and name. Names are relative
  /// to the folder; `line` is 0.
  std::vector<ImageListEntry> images;
  std::size_t otherFiles = 0; ///< files without an image's extension
};

/// Lists a folder of classes. Names that begin with a dot are skipped. Throws
/// Error(3) if the folder cannot be listed, Error(1) if it is a database, or
/// has no subfolder, or one without images.
ImageFolder readImageFolder(const std::string &path);

/// The images of an ImageData layer.
struct ImageDataFiles {
  std::string source;    ///< path of a list or of a folder of classes
  bool isFolder = false; ///< whether `source` is a folder
  std::vector<ImageListEntry> entries; ///< not empty

  /// Returns the name of an image's file. `rootFolder` is a prefix of the names
  /// in a list.
  std::string nameOf(const ImageListEntry &entry,
                     const std::string &rootFolder) const;
  /// Returns "LIST:LINE", or "" for an image of a folder.
  std::string locationOf(const ImageListEntry &entry) const;
};

/// Reads a list or a folder of classes. Throws as readImageList() and
/// readImageFolder() do, and Error(1) if a folder is combined with a
/// `rootFolder`. With `hasManyLabels`, reads a list with readMultiLabelList().
ImageDataFiles readImageDataFiles(const std::string &path,
                                  const std::string &rootFolder,
                                  bool hasManyLabels = false);

} // namespace brew::formats
