//===- TimingCache.cpp - File of tuned implementations --------------------===//
#include "runtime/executor/TimingCache.h"

#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <cmath>
#include <fstream>

namespace brew::runtime {

namespace {

constexpr std::string_view kFormat = "brew-timing-cache 1";
/// Maximum size of a file, far more than the calls of any net need.
constexpr std::size_t kMaxBytes = std::size_t(16) << 20;

/// Removes the text up to and including the next `end` and returns it without
/// `end`. Returns nullopt if there is no `end`.
std::optional<std::string_view> takeUntil(std::string_view &text, char end) {
  const std::size_t size = text.find(end);
  if (size == text.npos)
    return std::nullopt;
  const std::string_view result = text.substr(0, size);
  text.remove_prefix(size + 1);
  return result;
}

} // namespace

TimingCache::TimingCache(std::string file, Warning onWarning)
    : path(std::move(file)), warn(std::move(onWarning)) {
  if (path.empty())
    return;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return;
  std::string text(kMaxBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  std::optional<Choices> read;
  if (text.size() <= kMaxBytes)
    read = parse(text);
  if (read)
    choices = std::move(*read);
  else
    warn(path + ": the timing cache is damaged or of another version of Brew; "
                "it is ignored");
}

std::optional<TimingCache::Choices> TimingCache::parse(std::string_view text) {
  if (takeUntil(text, '\n') != kFormat)
    return std::nullopt;
  Choices result;
  while (!text.empty()) {
    std::optional<std::string_view> line = takeUntil(text, '\n');
    if (!line)
      return std::nullopt; // truncated
    const auto key = takeUntil(*line, '\t'), candidate = takeUntil(*line, '\t');
    if (!key || key->empty() || !candidate || candidate->empty())
      return std::nullopt;
    const std::optional<double> microseconds = parseDouble(*line);
    if (!microseconds || !std::isfinite(*microseconds) || *microseconds < 0)
      return std::nullopt;
    result[std::string(*key)] = {std::string(*candidate), *microseconds};
  }
  return result;
}

const TimingCache::Choice *TimingCache::find(const std::string &key) const {
  const auto entry = choices.find(key);
  return entry == choices.end() ? nullptr : &entry->second;
}

void TimingCache::set(const std::string &key, const Choice &choice) {
  choices[key] = choice;
  changed = true;
}

void TimingCache::write() {
  if (path.empty())
    return;
  std::string text = std::string(kFormat) + '\n';
  for (const auto &[key, choice] : choices)
    text += key + '\t' + choice.candidate + '\t' +
            fixedText(choice.microseconds, 3) + '\n';
  writeFileAtomically(path, text);
  changed = false;
}

void TimingCache::saveOrWarn() {
  if (!changed)
    return;
  try {
    write();
  } catch (const Error &error) {
    path.clear();
    changed = false;
    warn(std::string(error.what()) +
         " (the timing cache): the next run measures again");
  }
}

} // namespace brew::runtime
