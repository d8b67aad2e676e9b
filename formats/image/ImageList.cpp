//===- ImageList.cpp - Lists of labelled image files ----------------------===//
#include "formats/image/ImageList.h"

#include "formats/TextLines.h"
#include "support/Error.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <utility>

namespace brew::formats {

int leadingInteger(const char *text) {
  return static_cast<int>(
      std::clamp<long>(std::strtol(text, nullptr, 10), INT_MIN, INT_MAX));
}

std::string lineLocation(const std::string &list, const ImageListEntry &entry) {
  return lineLocation(list, entry.line);
}

std::vector<ImageListEntry> readImageList(const std::string &path) {
  std::vector<ImageListEntry> entries;
  for (const TextLine &line :
       readTextLines(path, "FILE LABEL", "list of images")) {
    ImageListEntry entry;
    entry.line = line.number;
    // A line without a space is both the name and the label.
    const size_t space = line.text.find_last_of(' ');
    entry.name = line.text.substr(0, space);
    entry.label = leadingInteger(line.text.c_str() +
                                 (space == std::string::npos ? 0 : space + 1));
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    throw badInput(path + ": the list of images is empty");
  return entries;
}

std::vector<ImageListEntry> readMultiLabelList(const std::string &path) {
  constexpr char kLineFormat[] = "FILE LABEL LABEL...";
  std::vector<ImageListEntry> entries;
  for (const TextLine &line :
       readTextLines(path, kLineFormat, "list of images")) {
    const std::vector<std::string> words = wordsOf(line.text);
    if (words.empty())
      continue;
    ImageListEntry entry;
    entry.name = words[0];
    entry.line = line.number;
    for (size_t i = 1; i < words.size(); ++i) {
      char *end = nullptr;
      entry.labels.push_back(std::strtof(words[i].c_str(), &end));
      if (*end)
        throw malformedLine(path, line, kLineFormat);
    }
    if (entry.labels.empty())
      throw malformedLine(path, line, kLineFormat);
    if (!entries.empty() &&
        entry.labels.size() != entries.front().labels.size())
      throw badInput(lineLocation(path, entry) + ": has " +
                     std::to_string(entry.labels.size()) +
                     " labels, but the first image has " +
                     std::to_string(entries.front().labels.size()));
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    throw badInput(path + ": the list of images is empty");
  return entries;
}

} // namespace brew::formats
