//===- PropertyList.cpp - Lists of properties as text ---------------------===//

#include "caffe/PropertyList.h"

#include <algorithm>

namespace brew::caffe {
namespace {

constexpr const char *kBlanks = " \t\r\n";

std::string trim(const std::string &text) {
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == text.npos)
    return "";
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

} // namespace

std::string PropertyEntry::key() const {
  return trim(text.substr(0, text.find('=')));
}

std::string PropertyEntry::value() const {
  return trim(text.substr(text.find('=') + 1));
}

std::size_t PropertyEntry::valueOffset() const {
  const std::size_t after = text.find('=') + 1;
  return offset +
         std::min(text.find_first_not_of(kBlanks, after), text.size() - 1);
}

std::vector<PropertyEntry> parsePropertyList(const std::string &text) {
  std::vector<PropertyEntry> entries;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string segment = text.substr(begin, end - begin);
    if (const std::string entry = trim(segment); !entry.empty())
      entries.push_back({entry, begin + segment.find(entry)});
    begin = end + 1;
  }
  return entries;
}

} // namespace brew::caffe
