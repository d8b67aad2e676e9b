//===- EmittedModule.h - Emitted kernels and their expected values --------===//
//
// Includes no MLIR headers except the emitter's.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "compiler/cpu/EmitKernels.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace brew::test {

/// A buffer of a launch.
struct LaunchBuffer {
  enum class Type { F32, F64, I8, I32, BF16, F16 };
  Type type;
  std::size_t count;
  std::vector<std::byte> storage;

  LaunchBuffer(Type type, std::size_t count);
  void *data();
  std::size_t bytes() const;
  double get(std::size_t i) const;
  void set(std::size_t i, double value);
};

/// A module of plan.kernel operations, emitted and compiled for this machine.
class EmittedModule {
public:
  /// Throws std::logic_error if `text` does not parse.
  explicit EmittedModule(const std::string &text);
  ~EmittedModule();

  const std::vector<compiler::cpu::EmittedKernel> &kernels() const {
    return emitted;
  }
  const compiler::cpu::EmittedKernel &kernel(const std::string &name) const;
  /// Returns buffers for a launch. Inputs are filled from `values`, other
  /// buffers with a value whose presence in results would be noticed.
  std::vector<LaunchBuffer>
  buffers(const std::string &name,
          const std::function<double(unsigned argument, std::size_t)> &values);
  /// Runs the range [begin, end) of the kernel's domain on the CPU.
  void run(const std::string &name, std::vector<LaunchBuffer> &buffers,
           std::int64_t begin, std::int64_t end);
  /// Runs the kernel on the simulated GPU, with teams of `team` threads if
  /// possible. If `team` is 0, the emitter chooses the size.
  void runOnGpu(const std::string &name, std::vector<LaunchBuffer> &buffers,
                unsigned team);
  /// Returns the CUDA C++ text of the kernel for teams of `team` threads.
  std::string cudaText(const std::string &name, unsigned team);
  /// Runs the kernel in the interpreter, over the whole domain.
  void interpret(const std::string &name, std::vector<LaunchBuffer> &buffers);
  /// Returns the emitted functions as text.
  std::string functions() const;
  std::string assembly() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation;
  std::vector<compiler::cpu::EmittedKernel> emitted;
};

/// Compares a kernel with its interpretation on equal values. Runs the kernel
/// on the CPU in one range, two ranges and many uneven ranges, and on the
/// simulated GPU with teams of each given size. Returns a description of the
/// first difference beyond `tolerance` (relative to the larger of 1 and the
/// value), "" without one.
std::string compareWithInterpreter(
    EmittedModule &module, const std::string &name, double tolerance,
    const std::function<double(unsigned argument, std::size_t)> &values,
    const std::vector<unsigned> &teams = {0, 1, 32, 256});

/// Returns element `i` of a sequence of pseudorandom values in [-2, 2), which
/// differs for each argument.
double sampleValue(unsigned argument, std::size_t i);

} // namespace brew::test
