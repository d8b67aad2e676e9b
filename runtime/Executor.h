//===- Executor.h - Runs the programs of a plan ------------------*- C++
//-*-===//
//
// Owns the memory of a loaded plan and executes step lists on it. Feeding data,
// initialising parameters and solving are built on top (Feeder.h, Trainer.h).
// An Executor is used by one thread at a time; several may exist side by side.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/plan/PlanFile.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace brew::runtime {

struct ExecutorOptions {
  /// Worker threads; 0 means OMP_NUM_THREADS, else one per available core.
  int threads = 0;
};

class Executor {
public:
  /// Checks the target against this machine, allocates the arenas, opens the
  /// kernel images and creates the vendor primitives of every program.
  /// Throws Error (3) when the machine lacks something the plan needs.
  explicit Executor(std::shared_ptr<const plan::PlanFile> plan,
                    ExecutorOptions options = {});
  ~Executor();

  const plan::Manifest &manifest() const;
  int threads() const;

  /// Index of the program called `name`, or -1.
  int findProgram(std::string_view name) const;

  /// First byte of buffer `bufferIndex`, valid for the executor's life. The
  /// bytes hold elements of the buffer's type in the order of its strides.
  std::byte *data(std::uint32_t bufferIndex);

  /// Runs steps [begin, end) of a program.
  void run(int program, std::size_t begin, std::size_t end);
  /// Runs a whole program, then its checks. Throws Error (1) when one fails
  /// (e.g. a label outside [0, classes)).
  void run(int program);

  /// Like run(program), calling `observer(step, seconds)` after every step.
  void runTimed(int program,
                const std::function<void(std::size_t, double)> &observer);

  /// What executes a step on this machine: "kernel", "copy", "zero", or a
  /// vendor kernel's name ("oneDNN brgconv:avx512_core").
  std::string implementation(int program, std::size_t step) const;

  /// Bytes of vendor scratch, one slab for all calls.
  std::uint64_t workspaceBytes() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace brew::runtime
