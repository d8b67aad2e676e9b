//===- ImageListing.h - Image files below a folder --------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::formats {

/// Returns whether a file name has the extension of an image, in any case. It
/// may be of a format that Brew does not read.
bool hasImageExtension(const std::string &name);

/// Returns whether a file name has the extension of an image that Brew reads.
bool hasReadableImageExtension(const std::string &name);

struct ImageListing {
  std::vector<std::string> names; ///< relative to the folder, sorted
  std::size_t otherFiles = 0;     ///< files without an image's extension
};

/// Lists the images in a folder and its subfolders. Names that begin with a dot
/// are skipped. Throws Error(3) if a folder cannot be listed.
ImageListing listImages(const std::string &folder);

/// Returns the names of the subfolders of a folder, in the order of their
/// bytes. Names that begin with a dot are skipped. Throws Error(3) if the
/// folder cannot be listed.
std::vector<std::string> listSubfolders(const std::string &folder);

} // namespace brew::formats
