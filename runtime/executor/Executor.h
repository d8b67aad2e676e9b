//===- Executor.h - Runs the programs of a plan -----------------*- C++ -*-===//
//
// Owns the memory of a loaded plan, on the device that it was compiled for, and
// executes step lists there. Feeding data, initialising parameters and solving
// are built on top (DataPipeline.h, Trainer.h). An Executor is used by one thread at
// a time; several may exist side by side.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"
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
  /// Layers that this program computes; null: none.
  std::shared_ptr<const HostLayerTypes> hostLayerTypes = {};

  /// The ranks that gradients are added up over (comm/Communicator.h); null:
  /// this process is alone.
  std::shared_ptr<Communicator> communicator = {};

  // CPU only.
  /// Threads that several executors take turns on (cpu/WorkerPool.h), instead
  /// of a team for each thread that runs one; `threads` is not used then.
  std::shared_ptr<WorkerPool> pool = {};
  /// Executor whose parameters this one uses, in the same memory; null: none.
  /// The constructor throws Error (2) if their plans' parameters do not lie
  /// alike.
  const Executor *shareParameters = nullptr;

  /// File that keeps which ways to do library calls were fastest; "": none.
  std::string timingCache = {};
  /// CUDA: measure calls that the timing cache does not know. CPU: do what it
  /// says; it measures in Executor::tune() alone. Else the first way to do a
  /// call is taken, whatever the cache says.
  bool tune = true;

  // CUDA only.
  /// Number of the GPU.
  int gpu = 0;
  /// Bytes of scratch that a vendor call may use.
  std::uint64_t workspaceLimit = std::uint64_t(1) << 30;
  /// Only vendor engines whose results repeat to the bit; a plan may ask for
  /// that too.
  bool deterministic = false;
  /// Takes sentences about what went wrong but can be gone without.
  std::function<void(const std::string &)> warn = [](const std::string &) {};
};

/// What a program left that was started and has finished: its outputs, its
/// losses and what its checks looked at.
class RunResults {
public:
  /// Calls `use` with the bytes of one of those buffers.
  void read(std::uint32_t buffer,
            const std::function<void(const std::byte *)> &use) const;

private:
  friend class Executor;
  std::map<std::uint32_t, std::vector<std::byte>> values;
};

/// Buffers that a step reads or writes, in no order of meaning.
std::vector<std::uint32_t> buffersOf(const plan::Step &step);

/// What measuring programs tells.
struct Measurement {
  std::vector<double> seconds;   ///< of each run
  std::size_t graphNodes = 0;    ///< of the CUDA graph, where there is one
  std::uint64_t deviceBytes = 0; ///< memory held on the GPU
};

/// A library call that was measured.
struct TunedCall {
  int program = 0;
  std::size_t step = 0;
  /// A way to do it, by the backend's name for it.
  struct Implementation {
    std::string name;
    double seconds = 0;
  };
  Implementation untuned;   ///< what is taken unmeasured
  Implementation fastest; ///< what is taken from now on; the same if none is faster
};

class Executor {
public:
  /// Checks the target against this machine, allocates the arenas, opens the
  /// kernel images and prepares the vendor calls of every program.
  /// Throws Error (3) when the machine lacks something the plan needs.
  explicit Executor(std::shared_ptr<const plan::PlanFile> plan,
                    ExecutorOptions options = {});
  ~Executor();

  const plan::Manifest &manifest() const { return plan->manifest(); }
  /// First byte of a segment of the plan.
  const std::byte *segment(std::uint32_t index) const {
    return plan->segment(index);
  }
  int threads() const;

  /// Index of the program called `name`, or -1.
  int findProgram(std::string_view name) const;

  //===--------------------------------------------------------------------===//
  // Buffers. Their bytes hold elements of the buffer's type in the order of its
  // strides. All of these wait for programs that were started before.
  //===--------------------------------------------------------------------===//

  /// Writes the elements of a buffer from bytes in its layout. The gaps of its
  /// strides, which belong to other buffers, keep their bytes.
  void upload(std::uint32_t buffer, const std::byte *bytes);
  /// Reads all bytes of a buffer, gaps included.
  void download(std::uint32_t buffer, std::byte *bytes) const;

  /// Writes bytes of an arena, for what may have no buffer (solver scalars).
  void uploadBytes(std::uint32_t arena, std::uint64_t offset, const void *bytes,
                   std::size_t size);

  /// Like upload(), made for the inputs of every run: on a device the bytes
  /// travel while it computes, and the program that is started next sees them.
  void feed(std::uint32_t buffer, const std::byte *bytes);

  /// Whether the device makes the first top of feed `feed` of a program of
  /// pixels (plan::PixelConversion).
  bool convertsPixels(int program, int feed) const;
  /// The mean that such a conversion subtracts, as many values as the plan
  /// says.
  void setPixelMean(int program, int feed, const std::vector<float> &mean);
  /// Like feed() for that top, from a PixelBlock (data/PixelBlock.h).
  void feedPixels(int program, int feed, const std::byte *block);

  /// Calls `use` with the bytes of a buffer: the memory itself where the host
  /// can reach it, else a copy.
  void read(std::uint32_t buffer,
            const std::function<void(const std::byte *)> &use) const;
  /// Likewise, and takes over what `change` writes.
  void modify(std::uint32_t buffer,
              const std::function<void(std::byte *)> &change);
  /// Like modify() for a `fill` that writes every element and reads none, so
  /// that nothing need be copied from a device first.
  void overwrite(std::uint32_t buffer,
                 const std::function<void(std::byte *)> &fill);

  /// Has a buffer of the transient arena lie in the caller's memory, aligned to
  /// plan::kAlignment, or with null in its own again; values are not moved.
  /// Throws Error (2) on a device, and where the buffer shares its bytes with
  /// others that go beyond it.
  void bindMemory(std::uint32_t buffer, std::byte *memory);
  /// Whether a buffer lies in memory that bindMemory() was given.
  bool hasBoundMemory(std::uint32_t buffer) const;
  /// First byte of a buffer that the host can reach, valid for the executor's
  /// life, or until bindMemory(); null if it lies on a device.
  std::byte *hostData(std::uint32_t buffer) const;
  /// First byte of a buffer in the memory of a GPU, likewise; null if it is not
  /// there.
  void *deviceData(std::uint32_t buffer) const;

  //===--------------------------------------------------------------------===//
  // Programs
  //===--------------------------------------------------------------------===//

  /// Parameters have changed, or `prepare` has computed some: keeps those that
  /// `deploy` reads in the form that the machine's calls want. Due before its
  /// next run.
  void packParameters();
  /// Runs steps [begin, end) of a program. A host layer's functions are called
  /// on the caller's thread; what they throw ends the run.
  void run(int program, std::size_t begin, std::size_t end);
  /// Runs a whole program, then its checks. Throws Error (1) when one fails
  /// (e.g. a label outside [0, classes)).
  void run(int program);
  /// Makes the checks of a program whose forward pass has run.
  void check(int program) const;
  /// Waits for all that was started, where a device works on its own.
  void synchronize() const;

  /// Starts programs that run one after the other; a device returns before they
  /// end, though not before their last host layer. Programs may be started
  /// together if canStartTogether() says so.
  void start(const std::vector<int> &programs);
  /// Runs that were started and whose results were not taken.
  std::size_t pendingRuns() const { return pending.size(); }
  /// Whether what was started has ended when start() returns.
  bool runsSynchronously() const { return pending.empty() || pending.back().done; }
  /// Waits for the oldest of them, runs its programs' checks as run() does, and
  /// returns what its programs left.
  RunResults finish();
  /// Whether the results of `first` are still there after `second`, and few
  /// enough to be copied after every run.
  bool canStartTogether(int first, int second) const;

  /// Runs `programs` one after the other, `count` times, without looking at
  /// their checks; times are the device's own.
  Measurement measure(const std::vector<int> &programs, int count);

  /// Like run(program), calling `observer(step, seconds)` for every step, in
  /// order; returns what the program left.
  RunResults runTimed(int program,
                      const std::function<void(std::size_t, double)> &observer);

  /// Measures the ways to do each library call, whatever the timing cache says
  /// of it, keeps the fastest there, and does the calls so from now on; `report`
  /// hears of each, in order. Blobs and gradients hold anything then. Throws
  /// Error (3) where the cache's file cannot be written.
  void tune(const std::function<void(const TunedCall &)> &report);

  /// What executes a step on this machine: "kernel", "copy", "zero", "host", or
  /// a vendor kernel's name ("oneDNN brgconv:avx512_core").
  std::string implementation(int program, std::size_t step) const;

  /// The layers that the host computes: what they remember of their calls.
  HostLayers &hostLayers();

  /// The device: "cpu", or the GPU's name and the architecture of the code.
  std::string description() const;

  /// Bytes of vendor scratch, one slab for all calls.
  std::uint64_t workspaceBytes() const;

private:
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
    RunResults results; ///< where the device has no queue: already there
    bool done;
  };

  std::shared_ptr<const plan::PlanFile> plan;
  std::unique_ptr<Backend> backend;
  std::deque<PendingRun> pending;
};

} // namespace brew::runtime
