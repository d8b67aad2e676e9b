//===- LogLines.h - Captures the log in tests -------------------*- C++ -*-===//
#pragma once

#include "runtime/log/Log.h"

#include <mutex>
#include <string>
#include <vector>

namespace brew::test {

/// Collects the log lines written while it lives, from all threads.
class LogLines {
public:
  LogLines() {
    log::redirect([this](std::string_view line) {
      std::lock_guard<std::mutex> lock(mutex);
      lines.emplace_back(line);
    });
  }
  ~LogLines() { log::redirect({}); }

  /// Returns the lines that contain `substring`, without glog's prefix.
  std::vector<std::string> texts(const std::string &substring = "") const {
    std::vector<std::string> result;
    for (const std::string &line : lines) {
      const std::size_t end = line.find("] ");
      if (line.find(substring) != line.npos && end != line.npos)
        result.push_back(line.substr(end + 2));
    }
    return result;
  }

  std::vector<std::string> lines;

private:
  std::mutex mutex;
};

} // namespace brew::test
