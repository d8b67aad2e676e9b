//===- TimingCache.cpp - Choices of vendor engines, kept in a file --------===//
#include "runtime/cuda/TimingCache.h"

#include "formats/AtomicFile.h"
#include "formats/Error.h"
#include "formats/NumberText.h"

#include <cmath>
#include <fstream>
#include <sstream>

namespace brew::runtime::cuda {

static constexpr const char *kFormat = "brew-timing-cache 1";

TimingCache::TimingCache(std::string file, Warning onWarning)
    : path(std::move(file)), warn(std::move(onWarning)) {
  if (path.empty())
    return;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return;
  std::ostringstream text;
  text << stream.rdbuf();
  if (parse(text.str()))
    return;
  choices.clear();
  warn(path + ": this is no timing cache of this version of Brew, or it is "
              "damaged; it is ignored");
}

bool TimingCache::parse(const std::string &text) {
  if (text.empty() || text.back() != '\n')
    return false;
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kFormat)
    return false;
  while (std::getline(lines, line)) {
    const std::size_t first = line.find('\t');
    const std::size_t second =
        first == line.npos ? line.npos : line.find('\t', first + 1);
    if (first == 0 || second == line.npos || second == first + 1)
      return false;
    const std::optional<double> microseconds =
        formats::readDouble(std::string_view(line).substr(second + 1));
    if (!microseconds || !std::isfinite(*microseconds) || *microseconds < 0)
      return false;
    choices[line.substr(0, first)] = {
        line.substr(first + 1, second - first - 1), *microseconds};
  }
  return true;
}

const TimingCache::Choice *TimingCache::find(const std::string &key) const {
  const auto entry = choices.find(key);
  return entry == choices.end() ? nullptr : &entry->second;
}

void TimingCache::set(const std::string &key, const Choice &choice) {
  choices[key] = choice;
  changed = true;
}

void TimingCache::save() {
  if (path.empty() || !changed)
    return;
  changed = false;
  std::string text = std::string(kFormat) + '\n';
  for (const auto &[key, choice] : choices)
    text += key + '\t' + choice.candidate + '\t' +
            formats::fixedText(choice.microseconds, 3) + '\n';
  try {
    formats::writeFileAtomically(path, text);
  } catch (const Error &error) {
    path.clear();
    warn(std::string(error.what()) +
         " (the timing cache): the next run measures again");
  }
}

} // namespace brew::runtime::cuda
