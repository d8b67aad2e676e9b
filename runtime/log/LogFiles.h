//===- LogFiles.h - Log files of glog ---------------------------*- C++ -*-===//
//
// Files have glog's names,
//   PROGRAM.HOST.USER.log.SEVERITY.YYYYMMDD-HHMMSS.PID
// and the link PROGRAM.SEVERITY leads to the newest one. The file of a severity
// contains the lines of this and higher severities. It is created by its first
// line.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/log/GlogSettings.h"

#include <array>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace brew::log {

/// The log files of this process. Not thread-safe. Failures to create or write
/// a file never end the run: the first one is a line on standard error.
class LogFiles {
public:
  explicit LogFiles(const GlogSettings &settings);
  ~LogFiles();
  LogFiles(const LogFiles &) = delete;
  LogFiles &operator=(const LogFiles &) = delete;

  /// Appends a line, which ends in a newline, to the files of `severity` and of
  /// lower severities.
  void write(Severity severity, std::string_view line);

private:
  struct File {
    int descriptor = -1;
    bool isAbandoned = false; ///< the first one could not be created
    std::uint64_t bytes = 0;
    std::string path;
  };

  void append(File &file, int severity, std::string_view line);
  /// Creates a file in the first possible folder, with its links and header.
  /// Returns the error number, or 0.
  int create(File &file, int severity);
  /// Begins another file. If that is impossible, keeps the file: its name has
  /// the time in seconds, and this second may already have a file.
  void replace(File &file, int severity);
  void link(const std::string &target, const std::string &path) const;
  void reportFailure(const std::string &text);

  const GlogSettings settings;
  std::vector<std::string> folders; ///< empty: no files
  std::array<File, 4> files;
  bool failureReported = false;
  const std::time_t startTime = std::time(nullptr);
};

} // namespace brew::log
