//===- ExitGuard.h - Work of threads at Python's exit -----------*- C++ -*-===//
//
// While Python exits, daemon threads go on. One that then works in Brew's
// libraries would use destroyed objects, and one that acquires the GIL is ended
// by Python in the middle of C++ functions, which terminates the process.
// Therefore an exit handler stops trainers and waits for all work; threads that
// have finished theirs, or begin it later, sleep until the process ends.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <brew/brew.hpp>

#include <nanobind/nanobind.h>

namespace brew::python {

class ExitGuard {
public:
  /// Registers the exit handler.
  static void install();

private:
  friend class GilRelease;
  friend class TrainerRun;
  static void beginWork();
  static void endWork();
  static void waitForWork();
};

/// Releases the GIL, for work that an exit of Python waits for.
class GilRelease {
public:
  GilRelease() { ExitGuard::beginWork(); }
  /// Does not return while Python exits, unless this thread runs the exit.
  ~GilRelease() { ExitGuard::endWork(); }
  GilRelease(const GilRelease &) = delete;
  GilRelease &operator=(const GilRelease &) = delete;

private:
  nanobind::gil_scoped_release released; // first, so that it ends last
};

/// A trainer that an exit of Python stops.
class TrainerRun {
public:
  explicit TrainerRun(api::Trainer &trainer);
  ~TrainerRun();
  TrainerRun(const TrainerRun &) = delete;
  TrainerRun &operator=(const TrainerRun &) = delete;

private:
  api::Trainer &trainer;
};

} // namespace brew::python
