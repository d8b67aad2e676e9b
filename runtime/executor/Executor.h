//===- Executor.h - Runs the programs of a plan -----------------*- C++ -*-===//
//
// Owns the memory of a loaded plan on the device that it was compiled for, and
// runs its programs there. Data input, initialisation of parameters and solving
// are built on top (DataPipeline.h, Trainer.h). An Executor is used by one
// thread at a time; several may exist side by side.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/Operands.h"
#include "plan/PlanFile.h"
#include "runtime/executor/MemoryBindings.h"
#include "runtime/host_layers/HostLayers.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace brew::runtime {

class Backend;
class Communicator;
class Executor;
class WorkerPool;

struct ExecutorOptions {
  /// Worker threads; 0 means OMP_NUM_THREADS, else one per available core.
  int threads = 0;
  /// Host layer types of the embedding program; null: none.
  std::shared_ptr<const HostLayerTypes> hostLayerTypes = {};

  /// The ranks of a data-parallel run (comm/Communicator.h); null: this process
  /// is alone.
  std::shared_ptr<Communicator> communicator = {};

  // CPU only.
  /// Threads that several executors use in turn (cpu/WorkerPool.h), instead of
  /// an OpenMP team for each calling thread. Replaces `threads`.
  std::shared_ptr<WorkerPool> pool = {};
  /// Compute with denormal numbers instead of treating them as 0
  /// (cpu/Denormals.h).
  bool keepDenormals = false;
  /// Executor whose parameter memory this one uses; null: none. The constructor
  /// throws Error (2) if the layouts of the parameters differ between the
  /// plans.
  const Executor *shareParameters = nullptr;

  /// Timing cache: the file of the fastest implementations of library calls;
  /// "": none.
  std::string timingCache = {};
  /// CUDA: benchmark the calls that are not in the timing cache. CPU: use the
  /// timing cache; only Executor::tune() benchmarks. If false, ignore the cache
  /// and use the untuned implementation of each call.
  bool tune = true;

  // CUDA only.
  /// Number of the GPU.
  int gpu = 0;
  /// Maximum bytes of scratch memory of a library call.
  std::uint64_t workspaceLimit = std::uint64_t(1) << 30;
  /// Use only library engines with bitwise reproducible results. Plans can
  /// require this, too.
  bool deterministic = false;
  /// Receives messages about non-fatal failures.
  std::function<void(const std::string &)> warn = [](const std::string &) {};
};

/// The results of finished programs: outputs, losses and buffers of checks.
class RunResults {
public:
  /// Calls `use` with the bytes of a result buffer.
  void read(std::uint32_t buffer,
            const std::function<void(const std::byte *)> &use) const;

private:
  friend class Executor;
  std::map<std::uint32_t, std::vector<std::byte>> values;
};

/// The result of Executor::measure().
struct Measurement {
  std::vector<double> seconds;   ///< of each run
  std::size_t graphNodes = 0;    ///< number of nodes of the CUDA graph, if any
  std::uint64_t deviceBytes = 0; ///< GPU memory in use
};

/// The result of tuning a library call.
struct TunedCall {
  int program = 0;
  std::size_t step = 0;
  struct Implementation {
    std::string name;
    double seconds = 0;
  };
  Implementation untuned; ///< default without tuning
  Implementation fastest; ///< used from now on; `untuned` if no other is faster
};

/// Runs the programs of one plan.
class Executor {
public:
  /// Checks the target against this machine, allocates the arenas, loads the
  /// kernel images and prepares the library calls of every program. Throws
  /// Error (3) if the machine lacks something that the plan needs.
  explicit Executor(std::shared_ptr<const plan::PlanFile> plan,
                    ExecutorOptions options = {});
  ~Executor();

  const plan::Manifest &manifest() const { return plan->manifest(); }
  /// Returns the first byte of a segment of the plan.
  const std::byte *segment(std::uint32_t index) const {
    return plan->segment(index);
  }
  /// Returns the number of host threads for preparing data.
  int threads() const;

  /// Returns the index of the program called `name`, or -1.
  int findProgram(std::string_view name) const;

  //===--------------------------------------------------------------------===//
  // Buffers. Their bytes are elements of the buffer's type in the layout of its
  // strides. All these functions wait for programs that were started before.
  //===--------------------------------------------------------------------===//

  /// Writes the elements of a buffer from bytes in its layout. Leaves the gaps
  /// between its strides unchanged, which belong to other buffers.
  void upload(std::uint32_t buffer, const std::byte *bytes);
  /// Reads all bytes of a buffer, gaps included.
  void download(std::uint32_t buffer, std::byte *bytes) const;

  /// Writes bytes of an arena, for data without a buffer (solver scalars).
  void uploadBytes(std::uint32_t arena, std::uint64_t offset, const void *bytes,
                   std::size_t size);

  /// Like upload(), for the inputs of each run: on a GPU the copy overlaps with
  /// computation, and the program that is started next sees the bytes.
  void feed(std::uint32_t buffer, const std::byte *bytes);

  /// Returns whether the device computes the first top of data input `input`
  /// from pixels (plan::PixelConversion).
  bool convertsPixels(int program, int input) const;
  /// Sets the mean that the conversion subtracts. Its size must match the
  /// mean_dims of the plan.
  void setPixelMean(int program, int input, const std::vector<float> &mean);
  /// Like feed() for this top, from a PixelBlock (PixelBlock.h).
  void feedPixels(int program, int input, const std::byte *block);

  /// Calls `use` with the bytes of a buffer: its memory if the host can access
  /// it, else a copy.
  void read(std::uint32_t buffer,
            const std::function<void(const std::byte *)> &use) const;
  /// Calls `change` with the bytes of a buffer and stores its changes.
  void modify(std::uint32_t buffer,
              const std::function<void(std::byte *)> &change);
  /// Like modify() for a `fill` that writes every element and reads none, which
  /// avoids a copy from the device.
  void overwrite(std::uint32_t buffer,
                 const std::function<void(std::byte *)> &fill);

  /// Moves values of runs, parameters, their gradients and solver state to the
  /// caller's memory, aligned to plan::kAlignment, or back to their arenas: all
  /// of them, or none if it throws. Does not copy values. Recreates the steps
  /// that use the buffers.
  /// Throws Error (2) for plans for GPUs, and if a buffer that is not within
  /// one of these overlaps it; (3) if a step cannot be created.
  void bindMemory(const MemoryBindings &bindings);
  /// Returns whether a buffer is in memory passed to bindMemory().
  bool hasBoundMemory(std::uint32_t buffer) const;
  /// Returns the first byte of a buffer in host memory, or null if it is on a
  /// GPU. Valid for the executor's life or until bindMemory().
  std::byte *hostData(std::uint32_t buffer) const;
  /// Returns the first byte of a buffer in GPU memory, or null if it is on the
  /// host. Valid for the executor's life.
  void *deviceData(std::uint32_t buffer) const;

  //===--------------------------------------------------------------------===//
  // Programs
  //===--------------------------------------------------------------------===//

  /// Packs the parameters that `deploy` reads in the layouts of its library
  /// calls. Call it before the next run of `deploy` after parameters have
  /// changed or `prepare` has run.
  void packParameters();
  /// Runs steps [begin, end) of a program. Calls the functions of host layers
  /// on the caller's thread; their exceptions end the run.
  void run(int program, std::size_t begin, std::size_t end);
  /// Runs all steps of a program, then its checks. Throws Error (1) if a check
  /// fails (e.g. a label outside [0, classes)).
  void run(int program);
  /// Performs the checks of a program whose forward pass has run. Throws Error
  /// (1) if one fails.
  void check(int program) const;
  /// Waits until an asynchronous device is idle.
  void synchronize() const;

  /// Starts programs that run one after the other. On a GPU, returns before
  /// they end, but after their last host layer. Several programs require
  /// canStartTogether().
  void start(const std::vector<int> &programs);
  /// Returns the number of calls of start() without a finish().
  std::size_t pendingRuns() const { return pending.size(); }
  /// Returns whether start() has run its programs to their end.
  bool runsSynchronously() const {
    return pending.empty() || pending.back().done;
  }
  /// Waits for the oldest start(), performs the checks as run() does, and
  /// returns the results.
  RunResults finish();
  /// Returns whether `second` leaves the results of `first` intact, and these
  /// are small enough to copy after every run.
  bool canStartTogether(int first, int second) const;

  /// Runs `programs` one after the other, `count` times, without their checks.
  /// The times are measured by the device.
  Measurement measure(const std::vector<int> &programs, int count);

  /// Like run(program), but calls `observer(step, seconds)` for every step, in
  /// order. Returns the results.
  RunResults runTimed(int program,
                      const std::function<void(std::size_t, double)> &observer);

  /// Benchmarks the implementations of each library call, even if it is in the
  /// timing cache, stores the fastest there and uses it from now on. Calls
  /// `report` for each call, in order. Afterwards the values of blobs and
  /// gradients are undefined. Throws Error (3) if the file of the cache cannot
  /// be written.
  void tune(const std::function<void(const TunedCall &)> &report);

  /// Returns the implementation of a step on this machine, as described at
  /// DeviceStep::describe().
  std::string implementation(int program, std::size_t step) const;

  /// Returns the host layers, which may have state.
  HostLayers &hostLayers();

  /// Returns the device: "cpu", or the GPU's name and the architecture of the
  /// code.
  std::string description() const;

  /// Returns the bytes of the scratch memory that all library calls share.
  std::uint64_t workspaceBytes() const;

private:
  bool isOnGpu() const {
    return manifest().target().kind() == plan::Target::CUDA;
  }
  std::unique_ptr<Backend> makeBackend(const ExecutorOptions &options);
  const plan::Program &program(int index) const;
  const plan::Buffer &buffer(std::uint32_t index) const;
  using Reader = std::function<void(
      std::uint32_t, const std::function<void(const std::byte *)> &)>;
  void runChecks(const plan::Program &program, const Reader &reader) const;
  std::vector<std::uint32_t> resultBuffers(const plan::Program &program) const;
  void copyResults(const plan::Program &program, RunResults &results) const;

  struct PendingRun {
    std::vector<int> programs;
    std::vector<std::uint32_t> reads;
    RunResults results; ///< already set if the device has no queue
    bool done;
  };

  std::shared_ptr<const plan::PlanFile> plan;
  std::unique_ptr<Backend> backend;
  std::deque<PendingRun> pending;
};

} // namespace brew::runtime
