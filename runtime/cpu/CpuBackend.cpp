//===- CpuBackend.cpp - Execution of plans on the processor ---------------===//
//
// The constructor resolves everything that steps need. Running a program only
// follows pointers and allocates nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/executor/Backend.h"

#include "runtime/cpu/Arenas.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/Denormals.h"
#include "runtime/cpu/LoneProgram.h"
#include "runtime/cpu/StepBuilder.h"
#include "runtime/cpu/StreamingCopy.h"
#include "runtime/cpu/StridedCopy.h"
#include "runtime/cpu/TeamChoice.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cpu/WorkerPool.h"
#include "support/Error.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <utility>
#include <vector>

namespace brew::runtime {

using plan::Buffer;
using plan::Step;

namespace {

using CompiledStep = std::unique_ptr<CpuStep>;
using CompiledProgram = std::vector<CompiledStep>;

class CpuBackend : public Backend {
public:
  CpuBackend(std::shared_ptr<const plan::PlanFile> file,
             const ExecutorOptions &options,
             std::shared_ptr<Arena> sharedParameters)
      : Backend(std::move(file), options), options(options), pool(options.pool),
        workers(pool ? pool->threads() : options.threads),
        keepDenormals(options.keepDenormals),
        arenas(*plan, std::move(sharedParameters)),
        builder(*plan, arenas, workers, *hosts, options) {
    const Threads::Scope scope = workers.enter();
    for (int p = 0; p < manifest.programs_size(); ++p) {
      programs.emplace_back();
      for (int i = 0; i < manifest.programs(p).steps_size(); ++i)
        programs.back().push_back(builder.build(p, i));
    }
    std::uint64_t scratch = 0;
    for (const CompiledProgram &steps : programs)
      scratch = std::max(scratch, scratchBytes(steps));
    useWorkspace(makeWorkspace(scratch));
    choosingProgram = findChoosingProgram();
  }

  int threads() const override { return workers.count(); }
  void *data(std::uint32_t buffer) const override {
    return arenas.address(buffer);
  }
  void bindMemory(const MemoryBindings &bindings) override;
  bool hasBoundMemory(std::uint32_t buffer) const override {
    return arenas.bindings().count(buffer) > 0;
  }
  void upload(std::uint32_t buffer, const std::byte *bytes) override;
  void download(std::uint32_t buffer, std::byte *bytes) override;
  void uploadBytes(std::uint32_t arena, std::uint64_t offset, const void *bytes,
                   std::size_t size) override {
    std::memcpy(arenas.data(arena) + offset, bytes, size);
  }
  std::shared_ptr<Arena> parameterMemory() override {
    return arenas.parameters();
  }
  void packParameters() override;
  void packIfNeeded(int program);
  void run(int program, std::size_t begin, std::size_t end) override;
  void
  runTimed(int program,
           const std::function<void(std::size_t, double)> &observer) override;
  Measurement measure(const std::vector<int> &sequence, int count) override;
  void tune(const std::function<void(const TunedCall &)> &report) override;
  std::string implementation(int program, std::size_t step) const override {
    return programs[static_cast<std::size_t>(program)][step]->describe();
  }
  std::string description() const override { return "cpu"; }
  std::uint64_t workspaceBytes() const override {
    return workspace.size() + packedBytes;
  }

private:
  /// Returns the bytes of scratch memory of the step that needs most. All steps
  /// share them, since they run one after the other.
  static std::uint64_t scratchBytes(const CompiledProgram &steps) {
    std::uint64_t bytes = 0;
    for (const CompiledStep &step : steps)
      bytes = std::max(bytes, step->scratchBytes());
    return bytes;
  }
  Arena makeWorkspace(std::uint64_t bytes) const {
    return Arena(bytes, plan->path() + ", scratch of oneDNN");
  }
  void useWorkspace(Arena memory);
  template <typename Action> void forAllSteps(const Action &action) {
    for (CompiledProgram &program : programs)
      for (CompiledStep &step : program)
        action(*step);
  }
  using StepIndex = std::pair<int, int>; ///< program and index of a step
  template <typename Predicate>
  std::vector<StepIndex> stepsWhere(const Predicate &predicate) const {
    std::vector<StepIndex> result;
    for (int p = 0; p < manifest.programs_size(); ++p)
      for (int i = 0; i < manifest.programs(p).steps_size(); ++i)
        if (std::invoke(predicate, manifest.programs(p).steps(i)))
          result.emplace_back(p, i);
    return result;
  }
  void recompile(const std::vector<StepIndex> &indices);

  /// Calls `job` on the compute threads: the caller's OpenMP team or, when it
  /// is this executor's turn, the pool's team.
  template <typename Job> void runOnTeam(const Job &job) {
    const auto run = [&] {
      const DenormalScope denormals(workers.count(), keepDenormals);
      job();
    };
    if (pool)
      return pool->run(run);
    const Threads::Scope scope = workers.enter();
    run();
  }

  /// Calls `visit` with steps [begin, end): with steps of host layers on the
  /// caller's thread, with others on the compute threads. Each sequence between
  /// host layers has its own turn on the pool, so that host layers may use
  /// sessions of the same pool.
  template <typename Visit>
  void forEachStep(int program, std::size_t begin, std::size_t end,
                   const Visit &visit) {
    packIfNeeded(program);
    ++builder.dnnl.run;
    CompiledProgram &steps = programs[static_cast<std::size_t>(program)];
    while (begin < end) {
      if (steps[begin]->isHostLayer()) {
        visit(*steps[begin++]);
        continue;
      }
      runOnTeam([&] {
        for (; begin < end && !steps[begin]->isHostLayer(); ++begin)
          visit(*steps[begin]);
      });
    }
  }

  /// Returns the program whose runs choose between the team and one thread, or
  /// -1.
  int findChoosingProgram() const;
  void runChosen(int program);
  /// Runs a program on one thread, or returns false if that is not possible.
  bool runAlone(int program);

  const ExecutorOptions options;
  std::shared_ptr<WorkerPool> pool;
  Threads workers;
  const bool keepDenormals;
  Arenas arenas;
  StepBuilder builder;
  std::vector<CompiledProgram> programs;
  Arena workspace;
  std::uint64_t packedBytes = 0;
  bool isPacked = false; ///< the weights of `deploy` are packed
  int choosingProgram = -1;
  TeamChoice teamChoice;             ///< of choosingProgram
  std::unique_ptr<LoneProgram> lone; ///< choosingProgram, once it runs alone
};

/// Binds all steps to their scratch memory.
void CpuBackend::useWorkspace(Arena memory) {
  workspace = std::move(memory);
  packedBytes = 0;
  forAllSteps([&](CpuStep &step) {
    packedBytes += step.packedBytes();
    step.bindScratch(workspace.data());
  });
  for (const auto &packed : builder.dnnl.packed)
    packedBytes += packed->memory.size();
}

void CpuBackend::bindMemory(const MemoryBindings &bindings) {
  MemoryBindings previous = arenas.bindings();
  try {
    for (const auto &[index, memory] : bindings)
      arenas.bind(index, memory);
    std::vector<bool> hasMoved(
        static_cast<std::size_t>(manifest.buffers_size()));
    for (std::uint32_t i = 0; i < hasMoved.size(); ++i)
      hasMoved[i] = std::any_of(
          bindings.begin(), bindings.end(), [&](const auto &binding) {
            return previous != arenas.bindings() &&
                   isWithin(buffer(i), buffer(binding.first));
          });
    auto usesMoved = [&](const Step &step) {
      return std::any_of(step.operands().begin(), step.operands().end(),
                         [&](const plan::Operand &operand) {
                           return hasMoved[operand.buffer_index()];
                         });
    };
    // Library calls may share packed weights.
    const bool movesCalls =
        !builder.dnnl.packed.empty() && !stepsWhere([&](const Step &step) {
                                           return StepBuilder::hasCall(step) &&
                                                  usesMoved(step);
                                         }).empty();
    recompile(stepsWhere([&](const Step &step) {
      return usesMoved(step) || (movesCalls && StepBuilder::hasCall(step));
    }));
  } catch (...) {
    arenas.setBindings(std::move(previous));
    throw;
  }
}

/// Replaces steps by new ones. If one cannot be created, keeps all current
/// steps. If library calls share packed weights, `indices` contains all calls
/// of all programs, or none.
void CpuBackend::recompile(const std::vector<StepIndex> &indices) {
  if (indices.empty())
    return;
  lone = nullptr; // shares steps
  runOnTeam([&] {
    auto packed = std::exchange(builder.dnnl.packed, {});
    CompiledProgram steps;
    Arena scratch;
    bool hasCalls = false;
    try {
      for (const auto &[p, i] : indices) {
        hasCalls |= StepBuilder::hasCall(manifest.programs(p).steps(i));
        steps.push_back(builder.build(p, i));
      }
      if (hasCalls) {
        std::uint64_t bytes = scratchBytes(steps);
        for (const CompiledProgram &current : programs)
          bytes = std::max(bytes, scratchBytes(current));
        scratch = makeWorkspace(bytes);
      }
    } catch (...) {
      steps.clear();
      builder.dnnl.packed = std::move(packed);
      throw;
    }
    for (std::size_t i = 0; i < indices.size(); ++i)
      programs[static_cast<std::size_t>(indices[i].first)]
              [static_cast<std::size_t>(indices[i].second)] =
                  std::move(steps[i]);
    if (hasCalls) {
      isPacked = false;
      useWorkspace(std::move(scratch));
    } else {
      builder.dnnl.packed = std::move(packed);
    }
  });
}

/// Packs the current weights of `deploy` if the caller has not done so.
void CpuBackend::packIfNeeded(int program) {
  if (!isPacked && manifest.programs(program).name() == plan::programs::kDeploy)
    packParameters();
}

void CpuBackend::packParameters() {
  isPacked = false; // in case packing throws
  if (lone)
    lone->weightsChanged();
  if (packedBytes > 0)
    runOnTeam([&] { forAllSteps([](CpuStep &step) { step.pack(); }); });
  isPacked = true;
}

void CpuBackend::upload(std::uint32_t index, const std::byte *bytes) {
  const Buffer &target = buffer(index);
  if (isDense(target)) { // in any order
    streamingCopy(arenas.address(index), bytes, target.size());
    return;
  }
  runOnTeam([&] {
    StridedCopy(target, bytes, target, arenas.address(index)).run(workers);
  });
}

void CpuBackend::download(std::uint32_t index, std::byte *bytes) {
  std::memcpy(bytes, arenas.address(index), buffer(index).size());
}

int CpuBackend::findChoosingProgram() const {
  // Packed weights exist twice, and a pool's runs wait for their turn.
  constexpr std::uint64_t kMaxPackedBytes = std::uint64_t(256) << 20;
  if (workers.count() == 1 || pool || packedBytes > kMaxPackedBytes)
    return -1;
  for (int p = 0; p < manifest.programs_size(); ++p) {
    const auto &steps = manifest.programs(p).steps();
    if (manifest.programs(p).name() == plan::programs::kDeploy)
      return std::any_of(steps.begin(), steps.end(),
                         [](const Step &step) { return step.has_host(); })
                 ? -1
                 : p;
  }
  return -1;
}

/// Returns the time that the current thread has run, in seconds.
double threadSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

void CpuBackend::runChosen(int program) {
  using Clock = std::chrono::steady_clock;
  packIfNeeded(program);
  const bool measuresWaits = teamChoice.measuresWaits();
  const double before = measuresWaits ? threadSeconds() : 0;
  const Clock::time_point start = Clock::now();
  if (teamChoice.usesTeam() || !runAlone(program))
    forEachStep(program, 0, programs[static_cast<std::size_t>(program)].size(),
                [&](CpuStep &step) { step.run(workers); });
  const double seconds =
      std::chrono::duration<double>(Clock::now() - start).count();
  const double waited =
      measuresWaits ? seconds - (threadSeconds() - before) : 0;
  teamChoice.record(seconds, waited);
}

bool CpuBackend::runAlone(int program) {
  if (!lone)
    try {
      lone = std::make_unique<LoneProgram>(
          *plan, arenas, *hosts, options, workers, program,
          programs[static_cast<std::size_t>(program)]);
    } catch (const std::exception &) { // the team does without
      teamChoice.requireTeam();
      return false;
    }
  const DenormalScope denormals(1, keepDenormals);
  lone->run();
  return true;
}

void CpuBackend::run(int program, std::size_t begin, std::size_t end) {
  if (begin == 0 && end == programs[static_cast<std::size_t>(program)].size() &&
      program == choosingProgram)
    return runChosen(program);
  forEachStep(program, begin, end, [&](CpuStep &step) { step.run(workers); });
}

void CpuBackend::runTimed(
    int program, const std::function<void(std::size_t, double)> &observer) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  forEachStep(
      program, 0, programs[static_cast<std::size_t>(program)].size(),
      [&](CpuStep &step) {
        Clock::time_point start = Clock::now();
        step.run(workers);
        seconds.push_back(
            std::chrono::duration<double>(Clock::now() - start).count());
      });
  for (std::size_t i = 0; i < seconds.size(); ++i)
    observer(i, seconds[i]);
}

Measurement CpuBackend::measure(const std::vector<int> &sequence, int count) {
  using Clock = std::chrono::steady_clock;
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
  const std::vector<StepIndex> hostSteps = stepsWhere(&Step::has_host);
  if (std::any_of(hostSteps.begin(), hostSteps.end(),
                  [&](StepIndex host) {
                    return std::count(sequence.begin(), sequence.end(),
                                      host.first) > 0;
                  }) ||
      std::count(sequence.begin(), sequence.end(), choosingProgram) > 0)
    repeat([&](int program) { run(program, 0, stepsOf(program).size()); });
  else
    runOnTeam([&] {
      repeat([&](int program) {
        ++builder.dnnl.run;
        for (const CompiledStep &step : stepsOf(program))
          step->run(workers);
      });
    });
  return result;
}

void CpuBackend::tune(const std::function<void(const TunedCall &)> &report) {
  builder.startTuning();
  arenas.commitPages();
  const CpuClock clock = evictingClock(workers);
  const std::vector<StepIndex> callSteps = stepsWhere(StepBuilder::hasCall);
  for (const auto &[program, index] : callSteps) {
    auto tuneCall = [&, program = program, index = index](const Step &call) {
      const CallTuner::Result *result = nullptr;
      runOnTeam([&] { result = &builder.tune(program, call, clock); });
      if (result->error.empty())
        report({program,
                static_cast<std::size_t>(index),
                {result->first.name, result->first.seconds},
                {result->fastest.name, result->fastest.seconds}});
    };
    const Step &step = manifest.programs(program).steps(index);
    if (StepBuilder::isCall(step))
      tuneCall(step);
    for (const Step &nested : step.loop().steps())
      if (StepBuilder::isCall(nested))
        tuneCall(nested);
  }
  recompile(callSteps);
}

} // namespace

std::unique_ptr<Backend>
makeCpuBackend(std::shared_ptr<const plan::PlanFile> plan,
               const ExecutorOptions &options,
               std::shared_ptr<Arena> sharedParameters) {
  checkTarget(plan->manifest().target(), plan->path());
  return std::make_unique<CpuBackend>(std::move(plan), options,
                                      std::move(sharedParameters));
}

} // namespace brew::runtime
