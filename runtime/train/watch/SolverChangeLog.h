//===- SolverChangeLog.h - What was changed while a run trained -------*- C++ -*-===//
//
// changes.hooks: a hook (hooks/Hooks.h) for each field of the solver that was
// set while training, so that `--hooks changes.hooks` does the same again:
//
//   after 500 iterations do set base_lr "0.001"
//
// Of iterations that training does again, the lines become comments.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <map>
#include <string>

namespace brew::runtime {

class SolverChangeLog {
public:
  explicit SolverChangeLog(const std::string &folder)
      : path(folder + "/changes.hooks") {}

  /// Training goes on with this iteration; what was set in this run still holds.
  /// Throws Error (3) if the file cannot be read or written.
  void startAt(int iteration);
  /// From this iteration on. Throws Error (3) if the line cannot be written.
  void add(int iteration, const std::string &field, const std::string &value);

private:
  void append(const std::string &text);

  std::string path;
  std::map<std::string, std::string> current; ///< fields that this run has set
};

} // namespace brew::runtime
