//===- Flags.h - Parser of Caffe's flags ------------------------*- C++ -*-===//
#pragma once

#include <map>
#include <string>
#include <vector>

namespace brew::caffe_command {

/// A command line of `caffe`.
struct CommandLine {
  std::string action; ///< train, test, time or device_query; "": no action
  /// Values of flags, by their names with underscores. Booleans are "true" or
  /// "false".
  std::map<std::string, std::string> flags;

  bool has(const std::string &name) const { return flags.count(name) != 0; }
  /// Whether a boolean flag is true.
  bool isTrue(const std::string &name) const { return (*this)[name] == "true"; }
  /// Returns the value of a flag, or "".
  const std::string &operator[](const std::string &name) const;
};

/// Parses flags as gflags does: `-name value`, `--name=value`, `-name` and
/// `-noname` for booleans, `--` before words that are not flags, and gflags'
/// own flags: `flagfile` (files with a flag per line, and comments after `#`),
/// `fromenv` and `tryfromenv` (names of flags whose values are in FLAGS_name),
/// `undefok` (names of flags to ignore). The last of several values wins.
/// Throws Error: (2) for unknown flags, wrong or missing values and several
/// actions, (1) for flag files that cannot be opened or are nested too deeply,
/// (3) for a flag file that cannot be read.
CommandLine readCommandLine(const std::vector<std::string> &arguments);

} // namespace brew::caffe_command
