//===- Backend.h - Interface of the devices that run plans ------*- C++ -*-===//
//
// A backend owns the memory of a loaded plan on one kind of device and runs
// its steps there. Its users exchange the contents of buffers as bytes on the
// host; only deviceData() exposes memory of the device.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/executor/Executor.h"
#include "runtime/executor/MemoryBindings.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::runtime {

class Arena;

/// Runs a plan on one device. The caller (Executor) has checked all indices.
class Backend {
public:
  Backend(std::shared_ptr<const plan::PlanFile> file,
          const ExecutorOptions &options)
      : plan(std::move(file)), manifest(plan->manifest()),
        hosts(std::in_place, manifest, options.hostLayerTypes),
        communicator(options.communicator) {}
  virtual ~Backend() = default;

  HostLayers &hostLayers() { return *hosts; }

  /// Returns the number of host threads for preparing data.
  virtual int threads() const = 0;

  /// Returns the buffer's memory on the device.
  virtual void *data(std::uint32_t buffer) const = 0;
  /// See Executor, which calls it only for a CPU.
  virtual void bindMemory(const MemoryBindings & /*bindings*/) {}
  virtual bool hasBoundMemory(std::uint32_t) const { return false; }
  /// Returns the memory of the parameters for another executor, or null if it
  /// cannot be shared.
  virtual std::shared_ptr<Arena> parameterMemory() { return nullptr; }
  /// Writes the elements of a buffer from bytes in its layout. Leaves the gaps
  /// between its strides unchanged, which belong to other buffers. The caller
  /// may reuse `bytes` afterwards.
  virtual void upload(std::uint32_t buffer, const std::byte *bytes) = 0;
  /// Reads the bytes of a buffer, gaps included, after all started programs
  /// have finished.
  virtual void download(std::uint32_t buffer, std::byte *bytes) = 0;

  /// Writes bytes of an arena. Programs started earlier do not see them.
  virtual void uploadBytes(std::uint32_t arena, std::uint64_t offset,
                           const void *bytes, std::size_t size) = 0;

  /// See Executor.
  virtual void feed(std::uint32_t buffer, const std::byte *bytes) {
    upload(buffer, bytes);
  }

  /// See Executor, which calls these two functions only for a GPU.
  virtual void setPixelMean(int /*program*/, int /*input*/,
                            const std::vector<float> & /*mean*/) {}
  virtual void feedPixels(int /*program*/, int /*input*/,
                          const std::byte * /*block*/) {}

  /// Repacks the parameters of `deploy` in the layouts of its library calls,
  /// after they have changed.
  virtual void packParameters() {}

  /// Starts steps [begin, end) of a program. Downloads wait for them.
  virtual void run(int program, std::size_t begin, std::size_t end) = 0;
  /// Waits for all started programs.
  virtual void synchronize() {}
  /// Enqueues complete programs, then copies of the buffers in `reads` to the
  /// host. Returns false and does nothing if the device has no queue.
  virtual bool start(const std::vector<int> & /*programs*/,
                     const std::vector<std::uint32_t> & /*reads*/) {
    return false;
  }
  /// Waits for the oldest start() and returns the bytes of its `reads`,
  /// concatenated.
  virtual std::vector<std::byte> finish() { return {}; }

  /// Runs all steps of a program. Calls `observer` with the index of each step
  /// and its time in seconds.
  virtual void
  runTimed(int program,
           const std::function<void(std::size_t, double)> &observer) = 0;

  /// See Executor.
  virtual Measurement measure(const std::vector<int> &programs, int count) = 0;
  virtual void tune(const std::function<void(const TunedCall &)> &report) = 0;
  virtual std::string implementation(int program, std::size_t step) const = 0;
  /// Returns a short description of the device.
  virtual std::string description() const = 0;
  /// Returns the bytes of scratch memory of library calls.
  virtual std::uint64_t workspaceBytes() const = 0;

protected:
  const plan::Buffer &buffer(std::uint32_t index) const {
    return manifest.buffers(static_cast<int>(index));
  }

  const std::shared_ptr<const plan::PlanFile> plan;
  const plan::Manifest &manifest;
  /// Always set; a backend may destroy the layers before its device.
  std::optional<HostLayers> hosts;
  const std::shared_ptr<Communicator> communicator; ///< may be null
};

/// Returns whether a buffer has no gaps between its elements.
inline bool isDense(const plan::Buffer &buffer) {
  return std::uint64_t(plan::elementCount(buffer)) *
             plan::elementSize(buffer.type()) ==
         buffer.size();
}

/// Returns "PLAN: program 'main', step 3 (conv1+relu1)", for errors about a
/// step.
std::string describeStep(const plan::PlanFile &plan,
                         const plan::Program &program, int step);

/// Creates the backend for CPUs. `sharedParameters` is the parameter memory of
/// another backend with an equal layout, or null.
std::unique_ptr<Backend>
makeCpuBackend(std::shared_ptr<const plan::PlanFile> plan,
               const ExecutorOptions &options,
               std::shared_ptr<Arena> sharedParameters);
/// Creates the backend for CUDA GPUs.
std::unique_ptr<Backend>
makeCudaBackend(std::shared_ptr<const plan::PlanFile> plan,
                const ExecutorOptions &options);

} // namespace brew::runtime
