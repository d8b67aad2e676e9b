//===- CpuBackend.cpp - Execution of plans on the processor ---------------===//
//
// The constructor resolves everything that steps need. Running a program only
// follows pointers and allocates nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/executor/Backend.h"

#include "runtime/cpu/AllReduce.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/KernelImages.h"
#include "runtime/cpu/KernelLaunch.h"
#include "runtime/cpu/StridedCopy.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cpu/WorkerPool.h"
#include "runtime/cpu/onednn/CallFactory.h"
#include "runtime/cpu/onednn/DnnlCall.h"
#include "runtime/host_layers/HostLayerStep.h"
#include "support/Error.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace brew::runtime {

using plan::Buffer;
using plan::Manifest;
using plan::Program;
using plan::Step;

namespace {

/// A step that a host layer computes.
struct HostLayerCall {
  HostLayerStep step;
  std::vector<std::byte *> memory; ///< of the operands

  void run() {
    step.compute(memory);
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (step.operands()[i].isWritten)
        step.store(i, memory[i]);
  }
};

using CompiledStep = std::variant<KernelLaunch, std::unique_ptr<CpuCall>,
                                  StridedCopy, HostLayerCall, AllReduce>;

using CompiledProgram = std::vector<CompiledStep>;

template <typename... Cases> struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

class CpuBackend : public Backend {
public:
  CpuBackend(std::shared_ptr<const plan::PlanFile> file,
             const ExecutorOptions &options,
             std::shared_ptr<Arena> sharedParameters)
      : plan(std::move(file)), manifest(plan->manifest()), pool(options.pool),
        workers(pool ? pool->threads() : options.threads),
        calls(dnnl,
              {[this](std::uint32_t index) { return boundBuffer(index); },
               [this](std::uint32_t index, int program) {
                 return boundWeights(index, program);
               },
               [this](std::uint32_t kernel,
                      const std::vector<std::uint32_t> &buffers) {
                 return bindLaunch(kernel, buffers);
               },
               manifest.producer() + " for " + manifest.target().cpu()},
              TimingCache(options.timingCache, options.warn), options.tune),
        hosts(manifest, options.hostLayerTypes),
        communicator(options.communicator) {
    checkTarget(manifest.target(), plan->path());
    const Threads::Scope scope = workers.enter();
    dnnl.threads = workers.count();
    dnnl.workers = &workers;
    dnnl.exactConvolutions = manifest.target().exact_convolutions();
    allocateArenas(std::move(sharedParameters));
    kernels = std::make_unique<KernelImages>(*plan);
    for (int i = 0; i < manifest.programs_size(); ++i)
      programs.push_back(compile(i));
    allocateWorkspace();
  }

  int threads() const override { return workers.count(); }
  std::byte *hostData(std::uint32_t buffer) override { return address(buffer); }
  void bindMemory(std::uint32_t buffer, std::byte *memory) override;
  bool hasBoundMemory(std::uint32_t buffer) const override {
    return boundMemory.count(buffer) > 0;
  }
  void upload(std::uint32_t buffer, const std::byte *bytes) override;
  void download(std::uint32_t buffer, std::byte *bytes) override;
  void uploadBytes(std::uint32_t arena, std::uint64_t offset, const void *bytes,
                   std::size_t size) override {
    std::memcpy(arenas[arena]->data() + offset, bytes, size);
  }
  std::shared_ptr<Arena> parameterMemory() override;
  void packParameters() override;
  void packIfNeeded(int program);
  void run(int program, std::size_t begin, std::size_t end) override;
  void
  runTimed(int program,
           const std::function<void(std::size_t, double)> &observer) override;
  Measurement measure(const std::vector<int> &sequence, int count) override;
  void tune(const std::function<void(const TunedCall &)> &report) override;
  HostLayers &hostLayers() override { return hosts; }
  std::string implementation(int program, std::size_t step) const override;
  std::string description() const override { return "cpu"; }
  std::uint64_t workspaceBytes() const override {
    return workspace.size() + packedBytes;
  }

private:
  void allocateArenas(std::shared_ptr<Arena> sharedParameters);
  void allocateWorkspace();
  std::byte *address(std::uint32_t buffer) const;
  BoundBuffer boundBuffer(std::uint32_t buffer) const;
  BoundBuffer boundWeights(std::uint32_t buffer, int program) const;
  bool areShared(std::uint32_t weights, const Program &program) const;
  template <typename Action> void forEachCall(const Action &action) {
    for (CompiledProgram &program : programs)
      for (CompiledStep &step : program)
        if (auto *call = std::get_if<std::unique_ptr<CpuCall>>(&step))
          action(**call);
  }
  void rebindMovedBuffers();
  void clearCalls();
  KernelLaunch bindLaunch(std::uint32_t kernelIndex,
                          const std::vector<std::uint32_t> &buffers) const;
  CompiledProgram compile(int program);
  CompiledStep compile(const Step &step, int program, const std::string &where);
  void runStep(CompiledStep &step);
  static bool isHost(const CompiledStep &step) {
    return std::holds_alternative<HostLayerCall>(step);
  }

  /// Calls `job` on the compute threads: the caller's OpenMP team or, when it
  /// is this executor's turn, the pool's team.
  template <typename Job> void runOnTeam(const Job &job) {
    if (pool)
      return pool->run(job);
    const Threads::Scope scope = workers.enter();
    job();
  }

  /// Calls `visit` with steps [begin, end): with steps of host layers on the
  /// caller's thread, with others on the compute threads. Each sequence between
  /// host layers has its own turn on the pool, so that host layers may use
  /// sessions of the same pool.
  template <typename Visit>
  void forEachStep(int program, std::size_t begin, std::size_t end,
                   const Visit &visit) {
    rebindMovedBuffers();
    packIfNeeded(program);
    ++dnnl.run;
    CompiledProgram &steps = programs[static_cast<std::size_t>(program)];
    while (begin < end) {
      if (isHost(steps[begin])) {
        visit(steps[begin++]);
        continue;
      }
      runOnTeam([&] {
        for (; begin < end && !isHost(steps[begin]); ++begin)
          visit(steps[begin]);
      });
    }
  }

  std::shared_ptr<const plan::PlanFile> plan;
  const Manifest &manifest;
  std::shared_ptr<WorkerPool> pool;
  Threads workers;
  std::vector<std::shared_ptr<Arena>> arenas; ///< parameters may be shared
  std::map<std::uint32_t, std::byte *> boundMemory; ///< the callers' memory
  std::vector<std::uint32_t> movedBuffers; ///< since the last compilation
  std::unique_ptr<KernelImages> kernels;
  DnnlContext dnnl;
  CallFactory calls;
  HostLayers hosts; ///< outlives the steps that call it
  std::shared_ptr<Communicator> communicator; ///< may be null
  std::vector<CompiledProgram> programs;
  Arena workspace;
  std::uint64_t packedBytes = 0;
  bool isPacked = false; ///< the weights of `deploy` are packed
};

void CpuBackend::allocateArenas(std::shared_ptr<Arena> sharedParameters) {
  auto isShared = [&](const plan::Arena &arena) {
    return sharedParameters && arena.kind() == plan::PARAMETERS;
  };
  // The system overcommits memory and would kill the process later, so reject
  // plans that cannot fit.
  std::uint64_t total = 0;
  for (const plan::Arena &arena : manifest.arenas())
    total += isShared(arena) ? 0 : arena.size();
  if (total > machineMemory())
    throw unavailable(plan->path() + ": the net needs " + describeBytes(total) +
                      " of memory, this machine has " +
                      describeBytes(machineMemory()));
  for (const plan::Arena &arena : manifest.arenas()) {
    if (isShared(arena)) { // keeps its values
      arenas.push_back(sharedParameters);
      continue;
    }
    auto memory = std::make_shared<Arena>(
        arena.size(), plan->path() + ", arena " +
                          plan::ArenaKind_Name(arena.kind()) + " of " +
                          describeBytes(total) + " in all");
    if (arena.has_initial_segment_index()) {
      std::uint32_t segment = arena.initial_segment_index();
      std::uint64_t size = manifest.segments(static_cast<int>(segment)).size();
      if (size > 0)
        std::memcpy(memory->data(), plan->segment(segment), size);
    }
    arenas.push_back(std::move(memory));
  }
}

/// Allocates scratch memory for the largest call. All calls share it, since
/// they run one after the other.
void CpuBackend::allocateWorkspace() {
  std::uint64_t size = 0;
  forEachCall([&](CpuCall &call) {
    size = std::max(size, call.scratchBytes());
    packedBytes += call.packedBytes();
  });
  for (const auto &packed : dnnl.packed)
    packedBytes += packed->memory.size();
  workspace = Arena(size, plan->path() + ", scratch of oneDNN");
  forEachCall([&](CpuCall &call) { call.bindScratch(workspace.data()); });
}

/// Returns whether `inner` is within `outer` or equal to it.
static bool isWithin(const Buffer &inner, const Buffer &outer) {
  return inner.arena_index() == outer.arena_index() &&
         inner.offset() >= outer.offset() &&
         inner.offset() + inner.size() <= outer.offset() + outer.size();
}

void CpuBackend::bindMemory(std::uint32_t index, std::byte *memory) {
  const Buffer &buffer = manifest.buffers(static_cast<int>(index));
  for (const Buffer &other : manifest.buffers())
    if (plan::overlap(other, buffer) && !isWithin(other, buffer))
      throw Error(ExitStatus::Usage,
                  plan->path() + ": the blob is a view of a larger buffer, so "
                                 "it cannot be in the caller's memory");
  if (memory) {
    // Otherwise it would be ambiguous which memory the steps must use.
    for (const auto &[other, otherMemory] : boundMemory)
      if (other != index &&
          plan::overlap(manifest.buffers(static_cast<int>(other)), buffer))
        throw Error(ExitStatus::Usage,
                    plan->path() + ": the blob shares bytes with another one "
                                   "that is in the caller's memory");
    boundMemory[index] = memory;
  } else {
    boundMemory.erase(index);
  }
  movedBuffers.push_back(index);
}

/// Recompiles the steps that use moved buffers. Recompiles all calls if one is
/// affected, since calls share packed weights.
void CpuBackend::rebindMovedBuffers() {
  if (movedBuffers.empty())
    return;
  auto isCall = [](const CompiledStep &step) {
    return std::holds_alternative<std::unique_ptr<CpuCall>>(step);
  };
  auto hasMoved = [&](const Step &step) {
    for (const plan::Operand &operand : step.operands())
      for (std::uint32_t index : movedBuffers)
        if (isWithin(manifest.buffers(static_cast<int>(operand.buffer_index())),
                     manifest.buffers(static_cast<int>(index))))
          return true;
    return false;
  };
  runOnTeam([&] {
    std::vector<std::pair<std::size_t, int>> stepsToCompile;
    bool recompilesCalls = false;
    for (std::size_t p = 0; p < programs.size(); ++p)
      for (std::size_t i = 0; i < programs[p].size(); ++i) {
        const int step = static_cast<int>(i);
        const bool isAffected =
            hasMoved(manifest.programs(static_cast<int>(p)).steps(step));
        recompilesCalls |= isAffected && isCall(programs[p][i]);
        if (isAffected || isCall(programs[p][i]))
          stepsToCompile.emplace_back(p, step);
      }
    if (recompilesCalls)
      clearCalls();
    for (const auto &[p, step] : stepsToCompile) {
      CompiledStep &compiled = programs[p][static_cast<std::size_t>(step)];
      const Program &program = manifest.programs(static_cast<int>(p));
      if (recompilesCalls || !isCall(compiled))
        compiled = compile(program.steps(step), static_cast<int>(p),
                           describeStep(*plan, program, step));
    }
    if (recompilesCalls)
      allocateWorkspace();
  });
  movedBuffers.clear();
}

/// Discards packed weights, before all calls are recreated.
void CpuBackend::clearCalls() {
  dnnl.packed.clear();
  packedBytes = 0;
  isPacked = false;
}

std::byte *CpuBackend::address(std::uint32_t index) const {
  const Buffer &buffer = manifest.buffers(static_cast<int>(index));
  for (const auto &[other, memory] : boundMemory) {
    const Buffer &outer = manifest.buffers(static_cast<int>(other));
    if (isWithin(buffer, outer))
      return memory + (buffer.offset() - outer.offset());
  }
  return arenas[buffer.arena_index()]->data() + buffer.offset();
}

std::shared_ptr<Arena> CpuBackend::parameterMemory() {
  for (int i = 0; i < manifest.arenas_size(); ++i)
    if (manifest.arenas(i).kind() == plan::PARAMETERS)
      return arenas[static_cast<std::size_t>(i)];
  return std::make_shared<Arena>(); // a net without parameters
}

BoundBuffer CpuBackend::boundBuffer(std::uint32_t index) const {
  return {&manifest.buffers(static_cast<int>(index)), address(index)};
}

/// Returns the weights of a call. Weights of `deploy` are constant: callers
/// change them only between runs, and then call packParameters().
BoundBuffer CpuBackend::boundWeights(std::uint32_t index, int program) const {
  BoundBuffer result = boundBuffer(index);
  const plan::Arena &arena =
      manifest.arenas(static_cast<int>(result.buffer->arena_index()));
  result.isConstant =
      arena.kind() == plan::PARAMETERS &&
      manifest.programs(program).name() == plan::programs::kDeploy;
  result.isShared =
      !result.isConstant && areShared(index, manifest.programs(program));
  return result;
}

/// Returns whether it is faster to pack the weights once per run: enough
/// forward inner products read them, and no step between these can change them.
bool CpuBackend::areShared(std::uint32_t weights,
                           const Program &program) const {
  constexpr int kMinReaders = 4;
  auto reads = [&](const Step &step) {
    return step.has_inner_product() &&
           step.inner_product().direction() == plan::FORWARD &&
           plan::callOperands(step).w == weights;
  };
  const auto &steps = program.steps();
  const auto first = std::find_if(steps.begin(), steps.end(), reads);
  const auto pastLast =
      std::find_if(steps.rbegin(), steps.rend(), reads).base();
  if (first >= pastLast || std::count_if(first, pastLast, reads) < kMinReaders)
    return false;
  const Buffer &weightsBuffer = manifest.buffers(static_cast<int>(weights));
  return std::none_of(first, pastLast, [&](const Step &step) {
    return std::any_of(step.operands().begin(), step.operands().end(),
                       [&](const plan::Operand &operand) {
                         return plan::isWritten(operand) &&
                                plan::overlap(manifest.buffers(static_cast<int>(
                                                  operand.buffer_index())),
                                              weightsBuffer);
                       });
  });
}

/// Packs the current weights of `deploy` if the caller has not done so.
void CpuBackend::packIfNeeded(int program) {
  if (!isPacked && manifest.programs(program).name() == plan::programs::kDeploy)
    packParameters();
}

void CpuBackend::packParameters() {
  rebindMovedBuffers();
  isPacked = false; // in case packing throws
  if (packedBytes > 0)
    runOnTeam([&] { forEachCall([](CpuCall &call) { call.pack(); }); });
  isPacked = true;
}

CompiledProgram CpuBackend::compile(int index) {
  const Program &program = manifest.programs(index);
  CompiledProgram result;
  for (int i = 0; i < program.steps_size(); ++i)
    result.push_back(
        compile(program.steps(i), index, describeStep(*plan, program, i)));
  return result;
}

KernelLaunch
CpuBackend::bindLaunch(std::uint32_t kernelIndex,
                       const std::vector<std::uint32_t> &buffers) const {
  const plan::Kernel &kernel = manifest.kernels(static_cast<int>(kernelIndex));
  KernelLaunch result{
      kernels->function(kernelIndex), kernel.domain(), kernel.grain(), {}};
  for (std::uint32_t index : buffers)
    result.arguments.push_back(address(index));
  return result;
}

CompiledStep CpuBackend::compile(const Step &step, int program,
                                 const std::string &where) {
  switch (step.action_case()) {
  case Step::kLaunch:
    return bindLaunch(step.launch().kernel_index(),
                      plan::kernelArguments(manifest, step));
  case Step::kConvolution:
  case Step::kInnerProduct:
    return calls.make(step, program, where);
  case Step::kCopy: {
    BoundBuffer source = boundBuffer(step.operands(0).buffer_index());
    BoundBuffer target = boundBuffer(step.operands(1).buffer_index());
    return StridedCopy(*source.buffer, source.data, *target.buffer,
                       target.data);
  }
  case Step::kHost: {
    HostLayerCall result{HostLayerStep(manifest, program, step, hosts), {}};
    for (const plan::HostOperand &operand : result.step.operands())
      result.memory.push_back(address(operand.index));
    return result;
  }
  case Step::kAllReduce:
    return AllReduce(
        manifest, step, [this](std::uint32_t index) { return address(index); },
        communicator.get());
  case Step::ACTION_NOT_SET:
    break;
  }
  throw Error(ExitStatus::Bug, where + ": unknown action");
}

void CpuBackend::runStep(CompiledStep &step) {
  std::visit(Overloaded{[&](KernelLaunch &launch) { launch.run(workers); },
                        [](std::unique_ptr<CpuCall> &call) { call->run(); },
                        [&](StridedCopy &copy) { copy.run(workers); },
                        [](HostLayerCall &host) { host.run(); },
                        [](AllReduce &reduce) { reduce.run(); }},
             step);
}

void CpuBackend::upload(std::uint32_t index, const std::byte *bytes) {
  const BoundBuffer target = boundBuffer(index);
  const Buffer &buffer = *target.buffer;
  const std::uint64_t denseBytes = std::uint64_t(plan::elementCount(buffer)) *
                                   plan::elementSize(buffer.type());
  if (denseBytes == buffer.size()) { // any order, but no gaps
    std::memcpy(target.data, bytes, denseBytes);
    return;
  }
  runOnTeam(
      [&] { StridedCopy(buffer, bytes, buffer, target.data).run(workers); });
}

void CpuBackend::download(std::uint32_t index, std::byte *bytes) {
  const BoundBuffer source = boundBuffer(index);
  std::memcpy(bytes, source.data, source.buffer->size());
}

void CpuBackend::run(int program, std::size_t begin, std::size_t end) {
  forEachStep(program, begin, end, [&](CompiledStep &step) { runStep(step); });
}

void CpuBackend::runTimed(
    int program, const std::function<void(std::size_t, double)> &observer) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  forEachStep(
      program, 0, programs[static_cast<std::size_t>(program)].size(),
      [&](CompiledStep &step) {
        Clock::time_point start = Clock::now();
        runStep(step);
        seconds.push_back(
            std::chrono::duration<double>(Clock::now() - start).count());
      });
  for (std::size_t i = 0; i < seconds.size(); ++i)
    observer(i, seconds[i]);
}

Measurement CpuBackend::measure(const std::vector<int> &sequence, int count) {
  using Clock = std::chrono::steady_clock;
  rebindMovedBuffers();
  for (int program : sequence)
    packIfNeeded(program);
  Measurement result;
  auto repeat = [&](auto &&runOne) {
    for (int i = 0; i < count; ++i) {
      const Clock::time_point start = Clock::now();
      for (int program : sequence)
        runOne(program);
      result.seconds.push_back(
          std::chrono::duration<double>(Clock::now() - start).count());
    }
  };
  auto stepsOf = [&](int program) -> CompiledProgram & {
    return programs[static_cast<std::size_t>(program)];
  };
  if (std::any_of(sequence.begin(), sequence.end(), [&](int program) {
        return std::any_of(stepsOf(program).begin(), stepsOf(program).end(),
                           isHost);
      }))
    repeat([&](int program) { run(program, 0, stepsOf(program).size()); });
  else
    runOnTeam([&] {
      repeat([&](int program) {
        ++dnnl.run;
        for (CompiledStep &step : stepsOf(program))
          runStep(step);
      });
    });
  return result;
}

/// Fills the per-core caches with other data, as the steps between two runs of
/// a call do.
class CacheFiller {
public:
  explicit CacheFiller(const Threads &workers)
      : workers(workers),
        memory(kBytes * static_cast<std::uint64_t>(workers.count()),
               "memory to fill caches with") {}

  void run() {
    ++value;
    workers.parallelFor(
        workers.count(), 1, [&](std::int64_t begin, std::int64_t end) {
          std::memset(memory.data() + kBytes * static_cast<std::size_t>(begin),
                      value, kBytes * static_cast<std::size_t>(end - begin));
        });
  }

private:
  static constexpr std::size_t kBytes = std::size_t(4) << 20; ///< per thread
  const Threads &workers;
  Arena memory;
  unsigned char value = 0;
};

/// Makes the system allocate pages that were never written. Before that, all of
/// them map to one page of zeros, which stays in the caches.
static void commitPages(const Arena &memory) {
  constexpr std::uint64_t kPage = 4096;
  for (std::uint64_t i = 0; i < memory.size(); i += kPage) {
    volatile std::byte *byte = memory.data() + i;
    *byte = *byte;
  }
}

void CpuBackend::tune(const std::function<void(const TunedCall &)> &report) {
  using Clock = std::chrono::steady_clock;
  rebindMovedBuffers();
  calls.requireWritable();
  calls.clearMeasurements();
  for (const std::shared_ptr<Arena> &arena : arenas)
    commitPages(*arena);
  CacheFiller filler(workers);
  CallTuner tuner(dnnl, {[] {
                           return std::chrono::duration<double>(
                                      Clock::now().time_since_epoch())
                               .count();
                         },
                         [&] { filler.run(); }});
  auto forEachStep = [&](auto &&visit) {
    for (int program = 0; program < manifest.programs_size(); ++program)
      for (int i = 0; i < manifest.programs(program).steps_size(); ++i)
        if (CallFactory::isCall(manifest.programs(program).steps(i)))
          visit(program, i, manifest.programs(program).steps(i));
  };
  forEachStep([&](int program, int index, const Step &step) {
    std::optional<CallTuner::Choice> choice;
    runOnTeam([&] { choice = calls.measure(step, program, tuner); });
    if (choice)
      report({program,
              static_cast<std::size_t>(index),
              {choice->first.name, choice->first.seconds},
              {choice->fastest.name, choice->fastest.seconds}});
  });
  runOnTeam([&] {
    // Keep the current calls if a new one cannot be created.
    auto packed = std::move(dnnl.packed);
    const std::uint64_t bytes = packedBytes;
    clearCalls();
    std::vector<std::unique_ptr<CpuCall>> newCalls;
    try {
      forEachStep([&](int program, int index, const Step &step) {
        newCalls.push_back(
            calls.make(step, program,
                       describeStep(*plan, manifest.programs(program), index)));
      });
    } catch (...) {
      newCalls.clear();
      dnnl.packed = std::move(packed);
      packedBytes = bytes;
      throw;
    }
    auto next = newCalls.begin();
    forEachStep([&](int program, int index, const Step &) {
      programs[static_cast<std::size_t>(program)]
              [static_cast<std::size_t>(index)] = std::move(*next++);
    });
    allocateWorkspace();
  });
}

std::string CpuBackend::implementation(int program, std::size_t step) const {
  return std::visit(
      Overloaded{
          [](const KernelLaunch &) { return std::string("kernel"); },
          [](const std::unique_ptr<CpuCall> &call) {
            return call->implementation();
          },
          [](const StridedCopy &) { return std::string("copy"); },
          [](const HostLayerCall &) { return std::string("host"); },
          [](const AllReduce &reduce) { return reduce.implementation(); }},
      programs[static_cast<std::size_t>(program)][step]);
}

} // namespace

std::unique_ptr<Backend>
makeCpuBackend(std::shared_ptr<const plan::PlanFile> plan,
               const ExecutorOptions &options,
               std::shared_ptr<Arena> sharedParameters) {
  return std::make_unique<CpuBackend>(std::move(plan), options,
                                      std::move(sharedParameters));
}

} // namespace brew::runtime
