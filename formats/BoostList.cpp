//===- BoostList.cpp - Sampling weights of records ------------------------===//
#include "formats/BoostList.h"

#include "formats/TextLines.h"
#include "support/NumberText.h"

#include <cmath>
#include <optional>
#include <unordered_map>

namespace brew::formats {

std::vector<BoostEntry> readBoostList(const std::string &path) {
  static const char lineFormat[] = "KEY WEIGHT";
  constexpr char kSpace[] = " \t\r\f\v";
  std::vector<BoostEntry> entries;
  std::unordered_map<std::string, size_t> lineOf;
  for (const TextLine &line : readTextLines(path, lineFormat, "boost_file")) {
    const size_t last = line.text.find_last_not_of(kSpace);
    if (last == std::string::npos)
      continue;
    const std::string text = line.text.substr(0, last + 1);
    const size_t separator = text.find_last_of(kSpace);
    const size_t keyEnd = separator == std::string::npos
                              ? separator
                              : text.find_last_not_of(kSpace, separator);
    if (keyEnd == std::string::npos)
      throw malformedLine(path, line, lineFormat);
    const std::optional<double> weight =
        parseDouble(std::string_view(text).substr(separator + 1));
    if (!weight)
      throw malformedLine(path, line, lineFormat);
    if (!(*weight >= 0) || std::isinf(*weight))
      throw badInput(lineLocation(path, line.number) +
                     ": a weight must be finite and not negative");
    BoostEntry entry{text.substr(0, keyEnd + 1), *weight, line.number};
    const auto [entryLine, isNew] = lineOf.emplace(entry.key, line.number);
    if (!isNew)
      throw badInput(lineLocation(path, line.number) + ": '" + entry.key +
                     "' is already in line " +
                     std::to_string(entryLine->second));
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    throw badInput(path + ": lists no weights");
  return entries;
}

} // namespace brew::formats
