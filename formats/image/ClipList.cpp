//===- ClipList.cpp - Lists of clips of videos ----------------------------===//
#include "formats/image/ClipList.h"

#include "formats/PathLookup.h"
#include "formats/TextLines.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace brew::formats {
namespace {

/// Returns the integer that a text consists of, or nullopt.
std::optional<int> integerOf(std::string_view text) {
  int value = 0;
  const auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size()
             ? std::optional<int>(value)
             : std::nullopt;
}

/// Returns the classes of a text such as "3,5", or an empty vector if it is not
/// a list of classes below `classCount`.
std::vector<float> classesOf(std::string_view text, int classCount) {
  std::vector<float> classes;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::optional<int> number =
        integerOf(text.substr(begin, end - begin));
    if (!number || *number < 0 || *number >= classCount)
      return {};
    classes.push_back(static_cast<float>(*number));
    begin = end + 1;
  }
  return classes;
}

} // namespace

std::vector<ImageListEntry> readClipList(const std::string &path,
                                         int classCount) {
  const std::string format =
      classCount ? "FOLDER FRAME LABEL,LABEL... with labels from 0 to " +
                       std::to_string(classCount - 1)
                 : "FOLDER FRAME LABEL";
  std::vector<ImageListEntry> entries;
  for (const TextLine &line : readTextLines(path, format, "list of clips")) {
    const std::vector<std::string> words = wordsOf(line.text);
    if (words.empty())
      continue;
    if (words.size() != 3)
      throw malformedLine(path, line, format);
    ImageListEntry entry;
    entry.name = words[0];
    entry.line = line.number;
    const std::optional<int> frame = integerOf(words[1]);
    const std::optional<int> label = integerOf(words[2]);
    if (classCount)
      entry.labels = classesOf(words[2], classCount);
    if (!frame || *frame < 0 || (classCount ? entry.labels.empty() : !label))
      throw malformedLine(path, line, format);
    entry.frame = *frame;
    entry.label = label.value_or(0);
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    throw badInput(path + ": the list of clips is empty");
  return entries;
}

std::string requireFrame(const std::string &video, int frame,
                         const std::vector<std::string> &folders,
                         const std::string &where) {
  std::string first;
  for (const char *format : {"/%06d.jpg", "/image_%04d.jpg"}) {
    char name[32];
    std::snprintf(name, sizeof name, format, frame);
    if (const auto path = findPath(video + name, folders))
      return *path;
    if (first.empty())
      first = video + name;
  }
  std::error_code ignored;
  const auto path = findPath(video, folders);
  if (path && std::filesystem::is_regular_file(*path, ignored))
    throw badInput(where + ": '" + *path +
                   "' is a file; a video is a folder of images of its frames, "
                   "which 'ffmpeg -i VIDEO FOLDER/%06d.jpg' extracts");
  return requirePath(first, folders, where + ": frame");
}

} // namespace brew::formats
