//===- TimingCache.h - Choices of implementations, kept in a file ---------===//
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace brew::runtime {

/// Which candidate was fastest for a library call on a device, a GPU or a
/// processor with so many threads. The file is text: a line that names the
/// format, then lines of key, choice and microseconds, separated by tabs. One
/// file may hold choices of several devices: a key begins with the device.
class TimingCache {
public:
  using Warning = std::function<void(const std::string &)>;
  struct Choice {
    std::string candidate;
    double microseconds = 0;
  };
  using Choices = std::map<std::string, Choice>;

  /// Reads `path`; "" keeps nothing. No file is an empty cache; one that cannot
  /// be read as a timing cache is one too, with a warning.
  TimingCache(std::string path, Warning warn);

  /// What the text of a file says, or nothing: it is no timing cache of this
  /// version, or damaged.
  static std::optional<Choices> parse(std::string_view text);

  bool isEmpty() const { return choices.empty(); }
  /// The choice kept for a key, or null.
  const Choice *find(const std::string &key) const;
  /// Neither `key` nor the candidate is empty or has a tab or the end of a line
  /// in it.
  void set(const std::string &key, const Choice &choice);

  /// Writes the file, whole or not at all. Throws Error (3) where it cannot be.
  void write();
  /// Writes it if anything was set; what went wrong is a warning, and nothing
  /// is written from then on.
  void saveOrWarn();

private:
  std::string path;
  Warning warn;
  Choices choices;
  bool changed = false;
};

} // namespace brew::runtime
