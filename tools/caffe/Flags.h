//===- Flags.h - Caffe's flags, as gflags reads them ------------*- C++ -*-===//
#pragma once

#include <map>
#include <string>
#include <vector>

namespace brew::caffe_command {

/// A command line of `caffe`.
struct CommandLine {
  std::string action; ///< train, test, time or device_query; "": none
  /// Values of flags, by their names with underscores.
  std::map<std::string, std::string> flags;

  bool has(const std::string &name) const { return flags.count(name) != 0; }
  /// The value; "" without one.
  const std::string &operator[](const std::string &name) const;
};

/// Reads `-name value`, `--name=value`, and the lines of `--flagfile` (flags,
/// and `#` for comments); the last of several values counts. Throws Error: (2)
/// for flags that Caffe does not have, without a value, or for several actions;
/// (1) for a file of flags that cannot be read.
CommandLine readCommandLine(const std::vector<std::string> &arguments);

} // namespace brew::caffe_command
