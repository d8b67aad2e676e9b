//===- TimingCache.h - File of tuned implementations ------------*- C++ -*-===//
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace brew::runtime {

/// The fastest candidate for each library call on a device (a GPU, or a
/// processor with a number of threads). The file is text: a line that names the
/// format, then lines of key, candidate and microseconds, separated by tabs.
/// One file may contain choices for several devices: a key begins with the
/// device.
class TimingCache {
public:
  using Warning = std::function<void(const std::string &)>;
  struct Choice {
    std::string candidate;
    double microseconds = 0;
  };
  using Choices = std::map<std::string, Choice>;

  /// Reads `path`; "": the cache has no file. A missing or invalid file is an
  /// empty cache; `warn` is called if it is invalid.
  TimingCache(std::string path, Warning warn);

  /// Parses the text of a file. Returns nullopt if it is damaged or not a
  /// timing cache of this version.
  static std::optional<Choices> parse(std::string_view text);

  bool isEmpty() const { return choices.empty(); }
  /// Returns the choice for a key, or null.
  const Choice *find(const std::string &key) const;
  /// Stores a choice. `key` and the candidate must not be empty or contain
  /// tabs or line ends.
  void set(const std::string &key, const Choice &choice);

  /// Writes the file atomically. Throws Error (3) on failure.
  void write();
  /// Writes the file if it has changed. Warns on failure and does not write
  /// again.
  void saveOrWarn();

private:
  std::string path;
  Warning warn;
  Choices choices;
  bool changed = false;
};

} // namespace brew::runtime
