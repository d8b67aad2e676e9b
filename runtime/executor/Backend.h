//===- Backend.h - What a device does for an executor -----------*- C++ -*-===//
//
// A backend owns the memory of a loaded plan on one kind of device and runs
// its steps there. Everything above it (Executor, feeds, solver) sees buffers
// only through their bytes on the host.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/executor/Executor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

class Arena;

/// Indices were checked by the caller (Executor).
class Backend {
public:
  virtual ~Backend() = default;

  /// Host threads that preparing data may use.
  virtual int threads() const = 0;

  /// The buffer's own memory where the host can reach it, else null.
  virtual std::byte *hostData(std::uint32_t buffer) = 0;
  /// The buffer's memory on a device, else null.
  virtual void *deviceData(std::uint32_t) { return nullptr; }
  /// See Executor; throws Error (2) where that cannot be.
  virtual void bindMemory(std::uint32_t buffer, std::byte *memory);
  virtual bool hasBoundMemory(std::uint32_t) const { return false; }
  /// The memory of the parameters, for another executor to use; null where it
  /// cannot.
  virtual std::shared_ptr<Arena> parameterMemory() { return nullptr; }
  /// Writes the elements of a buffer from bytes in its layout; what lies in the
  /// gaps of its strides belongs to other buffers and stays. The caller may
  /// reuse `bytes` when it returns.
  virtual void upload(std::uint32_t buffer, const std::byte *bytes) = 0;
  /// Reads the bytes of a buffer, gaps included, after all that was started.
  virtual void download(std::uint32_t buffer, std::byte *bytes) = 0;

  /// Writes bytes of an arena; programs that were started before do not see
  /// them.
  virtual void uploadBytes(std::uint32_t arena, std::uint64_t offset,
                           const void *bytes, std::size_t size) = 0;

  /// See Executor.
  virtual void feed(std::uint32_t buffer, const std::byte *bytes) {
    upload(buffer, bytes);
  }

  /// Whether feeds with a PixelConversion can be given pixels; then see
  /// Executor for the others.
  virtual bool convertsPixels() const { return false; }
  virtual void setPixelMean(int, int, const std::vector<float> &) {}
  virtual void feedPixels(int, int, const std::byte *) {}

  /// Parameters that `deploy` reads have changed: keeps them again in whatever
  /// form its calls want.
  virtual void packParameters() {}

  /// Starts steps [begin, end) of a program; downloads wait for them.
  virtual void run(int program, std::size_t begin, std::size_t end) = 0;
  /// The layers that the host computes.
  virtual HostLayers &hostLayers() = 0;
  /// Waits for all that was started.
  virtual void synchronize() {}
  /// Starts whole programs, then copies of the buffers in `reads` to the host.
  /// False, and nothing is done, where there is no queue to put them in.
  virtual bool start(const std::vector<int> &, // programs
                     const std::vector<std::uint32_t> &) {
    return false;
  }
  /// Waits for the oldest start() and returns the bytes it read, one buffer
  /// after the other.
  virtual std::vector<std::byte> finish() { return {}; }

  /// Runs all steps of a program, with a clock on each.
  virtual void
  runTimed(int program,
           const std::function<void(std::size_t, double)> &observer) = 0;

  /// See Executor.
  virtual Measurement measure(const std::vector<int> &programs, int count) = 0;
  /// See Executor.
  virtual void tune(const std::function<void(const TunedCall &)> &report) = 0;
  /// What executes a step; see Executor.
  virtual std::string implementation(int program, std::size_t step) const = 0;
  /// The device in a few words.
  virtual std::string description() const = 0;
  /// Bytes of vendor scratch.
  virtual std::uint64_t workspaceBytes() const = 0;
};

/// "PLAN: program 'main', step 3 (conv1+relu1)", for errors about a step.
std::string describeStep(const plan::PlanFile &plan,
                         const plan::Program &program, int step);

/// `sharedParameters`: another backend's, of equal layout; null: its own.
std::unique_ptr<Backend>
makeCpuBackend(std::shared_ptr<const plan::PlanFile> plan,
               const ExecutorOptions &options,
               std::shared_ptr<Arena> sharedParameters);
std::unique_ptr<Backend>
makeCudaBackend(std::shared_ptr<const plan::PlanFile> plan,
                const ExecutorOptions &options);

} // namespace brew::runtime
