//===- MetricsLog.h - Training metrics as JSON lines ------------*- C++ -*-===//
//
// metrics.jsonl: one object per line, for each displayed iteration and each
// test. Each line is written by one system call, so that a killed run leaves at
// most one incomplete line at the end.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/watch/LogRows.h"

#include <string>

namespace brew::runtime {

class MetricsLog {
public:
  /// Continues FOLDER/metrics.jsonl. Moves rows of `iteration` and later, which
  /// training will repeat, and lines that are not rows to the end of
  /// FOLDER/metrics.replaced.jsonl. Throws Error (3) if the files cannot be
  /// read or written.
  MetricsLog(const std::string &folder, int iteration);
  ~MetricsLog();
  MetricsLog(const MetricsLog &) = delete;
  MetricsLog &operator=(const MetricsLog &) = delete;

  // Each throws Error (3) if the row cannot be written.
  void add(const TrainRow &row);
  void add(const TestRow &row);
  void add(const EpisodeRow &row);
  void addStop(int iteration, const std::string &reason);

private:
  void moveReplacedRows(int iteration);
  void append(const std::string &line);

  std::string path, replacedPath;
  int fd = -1;
};

} // namespace brew::runtime
