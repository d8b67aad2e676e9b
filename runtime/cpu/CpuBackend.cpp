//===- CpuBackend.cpp - Runs a plan's steps on the processor --------------===//
//
// Everything a step needs is resolved when the plan is loaded: running a
// program follows pointers and allocates nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/Backend.h"

#include "formats/Error.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/DnnlCall.h"
#include "runtime/cpu/KernelImages.h"
#include "runtime/cpu/StridedCopy.h"
#include "runtime/cpu/Threads.h"
#include "runtime/cpu/WorkerPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <variant>
#include <vector>

namespace brew::runtime {

using plan::Buffer;
using plan::Manifest;
using plan::Program;
using plan::Step;

namespace {

struct KernelLaunch {
  KernelFunction function;
  std::int64_t domain, grain;
  std::vector<void *> arguments;
};

using CompiledStep = std::variant<KernelLaunch, std::unique_ptr<DnnlCall>,
                                  StridedCopy, StridedZero>;

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
        workers(pool ? pool->threads() : options.threads) {
    checkTarget(manifest.target(), plan->path());
    workers.enter();
    dnnl.threads = workers.count();
    allocateArenas(std::move(sharedParameters));
    kernels = std::make_unique<KernelImages>(*plan);
    for (const Program &program : manifest.programs())
      programs.push_back(compile(program));
    allocateWorkspace();
  }

  int threads() const override { return workers.count(); }
  std::byte *hostData(std::uint32_t buffer) override { return address(buffer); }
  void upload(std::uint32_t buffer, const std::byte *bytes) override;
  void download(std::uint32_t buffer, std::byte *bytes) override;
  void uploadBytes(std::uint32_t arena, std::uint64_t offset, const void *bytes,
                   std::size_t size) override {
    std::memcpy(arenas[arena]->data() + offset, bytes, size);
  }
  std::shared_ptr<Arena> parameterMemory() override;
  void run(int program, std::size_t begin, std::size_t end) override;
  void
  runTimed(int program,
           const std::function<void(std::size_t, double)> &observer) override;
  Measurement measure(const std::vector<int> &sequence, int count) override;
  std::string implementation(int program, std::size_t step) const override;
  std::string description() const override { return "cpu"; }
  std::uint64_t workspaceBytes() const override { return workspace.size(); }

private:
  void allocateArenas(std::shared_ptr<Arena> sharedParameters);
  void allocateWorkspace();
  std::byte *address(std::uint32_t buffer) const;
  BoundBuffer bound(std::uint32_t buffer) const;
  CompiledProgram compile(const Program &program);
  CompiledStep compile(const Step &step, const std::string &where);
  void runStep(CompiledStep &step);
  void runSteps(int program, std::size_t begin, std::size_t end);

  /// Calls `job` on the threads that compute: the caller's team, or the pool's
  /// when it is this executor's turn.
  template <typename Job> void onTeam(const Job &job) {
    if (pool)
      return pool->run(job);
    workers.enter();
    job();
  }

  std::shared_ptr<const plan::PlanFile> plan;
  const Manifest &manifest;
  std::shared_ptr<WorkerPool> pool;
  Threads workers;
  std::vector<std::shared_ptr<Arena>> arenas; ///< parameters may be shared
  std::unique_ptr<KernelImages> kernels;
  DnnlContext dnnl;
  std::vector<CompiledProgram> programs;
  Arena workspace;
};

void CpuBackend::allocateArenas(std::shared_ptr<Arena> sharedParameters) {
  auto isShared = [&](const plan::Arena &arena) {
    return sharedParameters && arena.kind() == plan::PARAMETERS;
  };
  // The system hands out more memory than it has and ends the process when it
  // is used: what cannot fit is refused here, with numbers.
  std::uint64_t total = 0;
  for (const plan::Arena &arena : manifest.arenas())
    total += isShared(arena) ? 0 : arena.size();
  if (total > machineMemory())
    throw machineLacks(plan->path() + ": the net needs " +
                       describeBytes(total) + " of memory, this machine has " +
                       describeBytes(machineMemory()));
  for (const plan::Arena &arena : manifest.arenas()) {
    if (isShared(arena)) { // with the values it has
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

/// Calls run one after the other, so one slab of the largest need serves all.
void CpuBackend::allocateWorkspace() {
  std::uint64_t size = 0;
  auto forEachCall = [&](auto action) {
    for (CompiledProgram &program : programs)
      for (CompiledStep &step : program)
        if (auto *call = std::get_if<std::unique_ptr<DnnlCall>>(&step))
          action(**call);
  };
  forEachCall(
      [&](DnnlCall &call) { size = std::max(size, call.scratchBytes()); });
  workspace = Arena(size, plan->path() + ", scratch of oneDNN");
  forEachCall([&](DnnlCall &call) { call.bind(workspace.data()); });
}

std::byte *CpuBackend::address(std::uint32_t index) const {
  const Buffer &buffer = manifest.buffers(static_cast<int>(index));
  return arenas[buffer.arena_index()]->data() + buffer.offset();
}

std::shared_ptr<Arena> CpuBackend::parameterMemory() {
  for (int i = 0; i < manifest.arenas_size(); ++i)
    if (manifest.arenas(i).kind() == plan::PARAMETERS)
      return arenas[static_cast<std::size_t>(i)];
  return std::make_shared<Arena>(); // a net without parameters
}

BoundBuffer CpuBackend::bound(std::uint32_t index) const {
  return {&manifest.buffers(static_cast<int>(index)), address(index)};
}

CompiledProgram CpuBackend::compile(const Program &program) {
  CompiledProgram result;
  for (int i = 0; i < program.steps_size(); ++i)
    result.push_back(
        compile(program.steps(i), describeStep(*plan, program, i)));
  return result;
}

CompiledStep CpuBackend::compile(const Step &step, const std::string &where) {
  switch (step.action_case()) {
  case Step::kLaunch: {
    const plan::Launch &launch = step.launch();
    const plan::Kernel &kernel =
        manifest.kernels(static_cast<int>(launch.kernel_index()));
    KernelLaunch result{kernels->function(launch.kernel_index()),
                        kernel.domain(),
                        kernel.grain(),
                        {}};
    for (std::uint32_t index : launch.buffer_indices())
      result.arguments.push_back(address(index));
    return result;
  }
  case Step::kConvolution: {
    const plan::ConvolutionCall &call = step.convolution();
    BoundBuffer bias;
    if (call.has_b_buffer_index())
      bias = bound(call.b_buffer_index());
    return makeConvolution(dnnl, call, bound(call.x_buffer_index()),
                           bound(call.w_buffer_index()), bias,
                           bound(call.y_buffer_index()), where);
  }
  case Step::kInnerProduct: {
    const plan::InnerProductCall &call = step.inner_product();
    BoundBuffer bias;
    if (call.has_b_buffer_index())
      bias = bound(call.b_buffer_index());
    return makeInnerProduct(dnnl, call, bound(call.x_buffer_index()),
                            bound(call.w_buffer_index()), bias,
                            bound(call.y_buffer_index()), where);
  }
  case Step::kCopy: {
    BoundBuffer source = bound(step.copy().source_buffer_index());
    BoundBuffer target = bound(step.copy().target_buffer_index());
    return StridedCopy(*source.buffer, source.data, *target.buffer,
                       target.data);
  }
  case Step::kZero: {
    BoundBuffer target = bound(step.zero().buffer_index());
    return StridedZero(*target.buffer, target.data);
  }
  case Step::kAllReduce:
    throw machineLacks(where + ": this plan reduces over several devices, "
                               "which is not supported");
  case Step::ACTION_NOT_SET:
    break;
  }
  throw Error(ExitStatus::Bug, where + ": unknown action");
}

void CpuBackend::runStep(CompiledStep &step) {
  std::visit(Overloaded{[&](KernelLaunch &launch) {
                          void **arguments = launch.arguments.data();
                          KernelFunction function = launch.function;
                          workers.parallelFor(
                              launch.domain, launch.grain,
                              [&](std::int64_t begin, std::int64_t end) {
                                function(arguments, begin, end);
                              });
                        },
                        [](std::unique_ptr<DnnlCall> &call) { call->run(); },
                        [&](StridedCopy &copy) { copy.run(workers); },
                        [&](StridedZero &zero) { zero.run(workers); }},
             step);
}

void CpuBackend::upload(std::uint32_t index, const std::byte *bytes) {
  const BoundBuffer target = bound(index);
  const Buffer &buffer = *target.buffer;
  const std::uint64_t dense = std::uint64_t(plan::elementCount(buffer)) *
                              plan::elementSize(buffer.type());
  if (dense == buffer.size()) { // any order, but no gaps
    std::memcpy(target.data, bytes, dense);
    return;
  }
  onTeam([&] { StridedCopy(buffer, bytes, buffer, target.data).run(workers); });
}

void CpuBackend::download(std::uint32_t index, std::byte *bytes) {
  const BoundBuffer source = bound(index);
  std::memcpy(bytes, source.data, source.buffer->size());
}

void CpuBackend::run(int program, std::size_t begin, std::size_t end) {
  onTeam([&] { runSteps(program, begin, end); });
}

void CpuBackend::runSteps(int program, std::size_t begin, std::size_t end) {
  CompiledProgram &steps = programs[static_cast<std::size_t>(program)];
  for (std::size_t i = begin; i < end; ++i)
    runStep(steps[i]);
}

void CpuBackend::runTimed(
    int program, const std::function<void(std::size_t, double)> &observer) {
  using Clock = std::chrono::steady_clock;
  CompiledProgram &steps = programs[static_cast<std::size_t>(program)];
  std::vector<double> seconds;
  onTeam([&] {
    for (CompiledStep &step : steps) {
      Clock::time_point start = Clock::now();
      runStep(step);
      seconds.push_back(
          std::chrono::duration<double>(Clock::now() - start).count());
    }
  });
  for (std::size_t i = 0; i < seconds.size(); ++i)
    observer(i, seconds[i]);
}

Measurement CpuBackend::measure(const std::vector<int> &sequence, int count) {
  using Clock = std::chrono::steady_clock;
  Measurement result;
  onTeam([&] {
    for (int i = 0; i < count; ++i) {
      const Clock::time_point start = Clock::now();
      for (int program : sequence)
        runSteps(program, 0,
                 programs[static_cast<std::size_t>(program)].size());
      result.seconds.push_back(
          std::chrono::duration<double>(Clock::now() - start).count());
    }
  });
  return result;
}

std::string CpuBackend::implementation(int program, std::size_t step) const {
  return std::visit(
      Overloaded{[](const KernelLaunch &) { return std::string("kernel"); },
                 [](const std::unique_ptr<DnnlCall> &call) {
                   return "oneDNN " + call->implementation();
                 },
                 [](const StridedCopy &) { return std::string("copy"); },
                 [](const StridedZero &) { return std::string("zero"); }},
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
