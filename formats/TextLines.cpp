//===- TextLines.cpp - Text files with one entry a line -------------------===//
#include "formats/TextLines.h"

#include "formats/ExpectedFile.h"
#include "formats/image/ImageFile.h"

#include <algorithm>
#include <sstream>

namespace brew::formats {

std::vector<TextLine> readTextLines(const std::string &path,
                                    const std::string &lineFormat,
                                    const std::string &where) {
  refuseOtherKind(path, textFileOf(where.empty() ? "a text file" : "a " + where,
                                   lineFormat));
  const std::string text = readFileBytes(path, where);
  std::vector<TextLine> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back({text.substr(begin, end - begin), lines.size() + 1});
    begin = end + 1;
    if (lines.back().text.find('\0') != std::string::npos)
      throw badInput(
          lineLocation(path, lines.back().number) +
          ": contains a zero byte; it must be a text file with lines "
          "of " +
          lineFormat);
  }
  return lines;
}

std::vector<std::string> wordsOf(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::string lineLocation(const std::string &path, size_t line) {
  return path + ":" + std::to_string(line);
}

Error malformedLine(const std::string &path, const TextLine &line,
                    const std::string &lineFormat) {
  return badInput(lineLocation(path, line.number) + ": not a line of " +
                  lineFormat);
}

} // namespace brew::formats
