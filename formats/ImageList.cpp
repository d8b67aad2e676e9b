//===- ImageList.cpp - Lists of labelled image files ----------------------===//
#include "formats/ImageList.h"

#include "formats/Error.h"
#include "formats/ImageFile.h"

#include <algorithm>
#include <climits>
#include <cstdlib>

namespace brew::formats {

int leadingInteger(const char *text) {
  return static_cast<int>(
      std::clamp<long>(std::strtol(text, nullptr, 10), INT_MIN, INT_MAX));
}

std::string placeOf(const std::string &list, const ImageListEntry &entry) {
  return list + ":" + std::to_string(entry.line);
}

std::vector<ImageListEntry> readImageList(const std::string &path) {
  const std::string text = readFileBytes(path, "list of images");
  std::vector<ImageListEntry> entries;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.find('\0') != std::string::npos)
      throw badInput(path + ":" + std::to_string(number) +
                     ": holds a zero byte; it must be a text file with lines "
                     "of FILE LABEL");
    ImageListEntry entry;
    entry.line = number;
    // Without a space all of it is the name, and the label too.
    const size_t space = line.find_last_of(' ');
    entry.name = line.substr(0, space);
    entry.label = leadingInteger(line.c_str() +
                                 (space == std::string::npos ? 0 : space + 1));
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    throw badInput(path + ": the list of images is empty");
  return entries;
}

} // namespace brew::formats
