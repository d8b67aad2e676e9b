//===- TimingCache.h - Choices of vendor engines, kept in a file ----------===//
#pragma once

#include <functional>
#include <map>
#include <string>

namespace brew::runtime::cuda {

/// Which candidate was fastest for a call on a device. The file is text: a
/// line that names the format, then lines of key, choice and microseconds,
/// separated by tabs.
class TimingCache {
public:
  using Warning = std::function<void(const std::string &)>;

  /// Reads `path`; "" keeps nothing. No file is an empty cache; one that cannot
  /// be read as a timing cache is one too, with a warning.
  TimingCache(std::string path, Warning warn);

  struct Choice {
    std::string candidate;
    double microseconds = 0;
  };
  /// The choice kept for a key, or null.
  const Choice *find(const std::string &key) const;
  void set(const std::string &key, const Choice &choice);

  /// Writes the file if anything was set; what went wrong is a warning, and
  /// nothing is written from then on.
  void save();

private:
  bool parse(const std::string &text);

  std::string path;
  Warning warn;
  std::map<std::string, Choice> choices;
  bool changed = false;
};

} // namespace brew::runtime::cuda
