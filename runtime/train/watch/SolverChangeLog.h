//===- SolverChangeLog.h - Log of solver field changes ----------*- C++ -*-===//
//
// changes.hooks: a hook (hooks/Hooks.h) for each field of the solver that was
// set while training, and for each change of parameters by a hook, so that
// `--hooks changes.hooks` repeats the changes:
//
//   after 500 iterations do set base_lr "0.001"
//   after 800 iterations do freeze "conv*.weights"
//
// Lines of iterations that training repeats become comments.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <map>
#include <string>

namespace brew::runtime {

/// Appends changes of solver fields to FOLDER/changes.hooks.
class SolverChangeLog {
public:
  explicit SolverChangeLog(const std::string &folder)
      : path(folder + "/changes.hooks") {}

  /// Call when training starts or resumes at `iteration`. Turns the lines of
  /// iterations from there on into comments, and logs again the fields set in
  /// this run, which keep their values. Throws Error (3) if the file cannot be
  /// read or written.
  void startAt(int iteration);
  /// Logs a change from this iteration on. Throws Error (3) if the line cannot
  /// be written.
  void add(int iteration, const std::string &field, const std::string &value);
  /// Logs a change of parameters after this iteration.
  void addAction(int iteration, const std::string &action);

private:
  void append(const std::string &text);

  std::string path;
  std::map<std::string, std::string> setFields; ///< values set in this run
};

} // namespace brew::runtime
