//===- ImageListing.cpp - Image files below a folder ----------------------===//
#include "formats/image/ImageListing.h"

#include "support/Error.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace fs = std::filesystem;

namespace brew::formats {
namespace {

[[noreturn]] void failToList(const std::string &path, std::error_code error) {
  throw unavailable("cannot list the folder '" + path +
                    "': " + error.message());
}

bool isHidden(const fs::path &path) {
  return path.filename().native().front() == '.';
}

std::string lowerExtensionOf(const std::string &name) {
  const std::size_t dot = name.rfind('.');
  std::string extension = dot == name.npos ? "" : name.substr(dot + 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return extension;
}

} // namespace

bool hasReadableImageExtension(const std::string &name) {
  constexpr const char *kExtensions[] = {"jpg", "jpeg", "jpe",  "png",
                                         "bmp", "pbm",  "pgm",  "ppm",
                                         "pnm", "tif",  "tiff", "webp"};
  return std::find(std::begin(kExtensions), std::end(kExtensions),
                   lowerExtensionOf(name)) != std::end(kExtensions);
}

bool hasImageExtension(const std::string &name) {
  const std::string extension = lowerExtensionOf(name);
  return extension == "gif" || extension == "jp2" ||
         hasReadableImageExtension(name);
}

ImageListing listImages(const std::string &folder) {
  ImageListing listing;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end;
       !error && at != end; at.increment(error)) {
    if (isHidden(at->path())) {
      at.disable_recursion_pending();
    } else if (std::error_code unknown; // a dangling link
               at->is_regular_file(unknown)) {
      if (hasImageExtension(at->path().filename()))
        listing.names.push_back(at->path().lexically_relative(folder));
      else
        ++listing.otherFiles;
    }
  }
  if (error)
    failToList(folder, error);
  std::sort(listing.names.begin(), listing.names.end());
  return listing;
}

std::vector<std::string> listSubfolders(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (std::error_code unknown; // a dangling link
        !isHidden(at->path()) && at->is_directory(unknown))
      names.push_back(at->path().filename());
  if (error)
    failToList(folder, error);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace brew::formats
