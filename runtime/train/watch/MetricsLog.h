//===- MetricsLog.h - A training run as lines of JSON -----------*- C++ -*-===//
//
// metrics.jsonl: an object a line, for each iteration that is displayed and
// each test. A line is written whole, by one call, so that a run that is killed
// leaves at most a last one without its end.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/watch/LogRows.h"

#include <string>

namespace brew::runtime {

class MetricsLog {
public:
  /// Goes on with FOLDER/metrics.jsonl. Rows of `iteration` and later ones,
  /// which training will do again, and what is no row, go to the end of
  /// FOLDER/metrics.replaced.jsonl. Throws Error (3) if the files cannot be
  /// read or written.
  MetricsLog(const std::string &folder, int iteration);
  ~MetricsLog();
  MetricsLog(const MetricsLog &) = delete;
  MetricsLog &operator=(const MetricsLog &) = delete;

  // Each throws Error (3) if the row cannot be written.
  void add(const TrainRow &row);
  void add(const TestRow &row);
  void addStop(int iteration, const std::string &reason);

private:
  void setAside(int iteration);
  void append(const std::string &line);

  std::string path, replacedPath;
  int fd = -1;
};

} // namespace brew::runtime
