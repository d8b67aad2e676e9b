//===- Executor.cpp - Runs the programs of a plan -------------------------===//
//
// Everything a step needs is resolved when the plan is loaded: running a
// program follows pointers and allocates nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/Executor.h"

#include "formats/Error.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/DnnlCall.h"
#include "runtime/cpu/KernelImages.h"
#include "runtime/cpu/StridedCopy.h"
#include "runtime/cpu/Threads.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
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

struct CompiledCheck {
  const plan::Check *check;
  const std::int32_t *status;
  const Buffer *values;
  const std::byte *valueBytes;
};

struct CompiledProgram {
  std::vector<CompiledStep> steps;
  std::vector<CompiledCheck> checks;
};

template <typename... Cases> struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

} // namespace

struct Executor::Impl {
  std::shared_ptr<const plan::PlanFile> plan;
  const Manifest &manifest;
  Threads threads;
  std::vector<Arena> arenas;
  std::unique_ptr<KernelImages> kernels;
  DnnlContext dnnl;
  std::vector<CompiledProgram> programs;
  Arena workspace;

  Impl(std::shared_ptr<const plan::PlanFile> file, int threadCount)
      : plan(std::move(file)), manifest(plan->manifest()),
        threads(threadCount) {
    checkTarget(manifest.target(), plan->path());
    threads.enter();
    dnnl.threads = threads.count();
    allocateArenas();
    kernels = std::make_unique<KernelImages>(*plan);
    for (const Program &program : manifest.programs())
      programs.push_back(compile(program));
    allocateWorkspace();
  }

  void allocateArenas();
  void allocateWorkspace();
  std::byte *address(std::uint32_t buffer) const;
  BoundBuffer bound(std::uint32_t buffer) const;
  CompiledProgram compile(const Program &program);
  CompiledStep compile(const Step &step, const std::string &where);
  void runStep(CompiledStep &step);
  void runChecks(const CompiledProgram &program) const;
  CompiledProgram &program(int index);
};

void Executor::Impl::allocateArenas() {
  // The system hands out more memory than it has and ends the process when it
  // is used: what cannot fit is refused here, with numbers.
  std::uint64_t total = 0;
  for (const plan::Arena &arena : manifest.arenas())
    total += arena.size();
  if (total > machineMemory())
    throw machineLacks(plan->path() + ": the net needs " +
                       describeBytes(total) + " of memory, this machine has " +
                       describeBytes(machineMemory()));
  for (const plan::Arena &arena : manifest.arenas()) {
    Arena memory(arena.size(), plan->path() + ", arena " +
                                   plan::ArenaKind_Name(arena.kind()) + " of " +
                                   describeBytes(total) + " in all");
    if (arena.has_initial_segment_index()) {
      std::uint32_t segment = arena.initial_segment_index();
      std::uint64_t size = manifest.segments(static_cast<int>(segment)).size();
      if (size > 0)
        std::memcpy(memory.data(), plan->segment(segment), size);
    }
    arenas.push_back(std::move(memory));
  }
}

/// Calls run one after the other, so one slab of the largest need serves all.
void Executor::Impl::allocateWorkspace() {
  std::uint64_t size = 0;
  auto forEachCall = [&](auto action) {
    for (CompiledProgram &program : programs)
      for (CompiledStep &step : program.steps)
        if (auto *call = std::get_if<std::unique_ptr<DnnlCall>>(&step))
          action(**call);
  };
  forEachCall(
      [&](DnnlCall &call) { size = std::max(size, call.scratchBytes()); });
  workspace = Arena(size, plan->path() + ", scratch of oneDNN");
  forEachCall([&](DnnlCall &call) { call.bind(workspace.data()); });
}

std::byte *Executor::Impl::address(std::uint32_t index) const {
  const Buffer &buffer = manifest.buffers(static_cast<int>(index));
  return arenas[buffer.arena_index()].data() + buffer.offset();
}

BoundBuffer Executor::Impl::bound(std::uint32_t index) const {
  return {&manifest.buffers(static_cast<int>(index)), address(index)};
}

static std::string describeStep(const Step &step, const std::string &program,
                                int index) {
  std::string layers;
  for (const std::string &layer : step.layers())
    layers += (layers.empty() ? "" : "+") + layer;
  return "program '" + program + "', step " + std::to_string(index) +
         (layers.empty() ? "" : " (" + layers + ")");
}

CompiledProgram Executor::Impl::compile(const Program &program) {
  CompiledProgram result;
  for (int i = 0; i < program.steps_size(); ++i)
    result.steps.push_back(
        compile(program.steps(i),
                plan->path() + ": " +
                    describeStep(program.steps(i), program.name(), i)));
  for (const plan::Check &check : program.checks()) {
    BoundBuffer values = bound(check.values_buffer_index());
    result.checks.push_back({&check,
                             reinterpret_cast<const std::int32_t *>(
                                 address(check.status_buffer_index())),
                             values.buffer, values.data});
  }
  return result;
}

CompiledStep Executor::Impl::compile(const Step &step,
                                     const std::string &where) {
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

void Executor::Impl::runStep(CompiledStep &step) {
  std::visit(Overloaded{[&](KernelLaunch &launch) {
                          void **arguments = launch.arguments.data();
                          KernelFunction function = launch.function;
                          threads.parallelFor(
                              launch.domain, launch.grain,
                              [&](std::int64_t begin, std::int64_t end) {
                                function(arguments, begin, end);
                              });
                        },
                        [](std::unique_ptr<DnnlCall> &call) { call->run(); },
                        [&](StridedCopy &copy) { copy.run(threads); },
                        [&](StridedZero &zero) { zero.run(threads); }},
             step);
}

static double readElement(plan::DataType type, const std::byte *bytes,
                          std::int64_t index) {
  auto read = [&](auto value) {
    std::memcpy(&value, bytes + index * static_cast<std::int64_t>(sizeof value),
                sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
  case plan::F32:
    return read(float());
  case plan::F64:
    return read(double());
  case plan::I32:
    return read(std::int32_t());
  case plan::U8:
    return read(std::uint8_t());
  case plan::BF16:
  case plan::F16:
    break;
  }
  return 0;
}

void Executor::Impl::runChecks(const CompiledProgram &program) const {
  for (const CompiledCheck &entry : program.checks) {
    std::int32_t status = *entry.status;
    if (status == 0)
      continue;
    const plan::Check &check = *entry.check;
    std::int64_t position = std::int64_t(status) - 1;
    if (position < 0 || position >= elementCount(*entry.values))
      throw Error(ExitStatus::Bug, "the kernel of layer '" + check.layer() +
                                       "' reports the impossible status " +
                                       std::to_string(status));
    // The position counts elements in the order of the dimensions; memory may
    // have another.
    std::int64_t rest = position, index = 0;
    for (int d = entry.values->dims_size() - 1; d >= 0; --d) {
      index += rest % entry.values->dims(d) * entry.values->strides(d);
      rest /= entry.values->dims(d);
    }
    char value[32];
    std::snprintf(value, sizeof value, "%.9g",
                  readElement(entry.values->type(), entry.valueBytes, index));
    std::string place = check.source_location().empty()
                            ? ""
                            : " (" + check.source_location() + ")";
    throw badInput("layer '" + check.layer() + "'" + place + ": label " +
                   value + " at position " + std::to_string(position) +
                   " of blob '" + check.blob() + "' is outside [0, " +
                   std::to_string(check.limit()) + ")");
  }
}

CompiledProgram &Executor::Impl::program(int index) {
  if (index < 0 || static_cast<std::size_t>(index) >= programs.size())
    throw Error(ExitStatus::Bug,
                "the plan has no program " + std::to_string(index));
  return programs[static_cast<std::size_t>(index)];
}

Executor::Executor(std::shared_ptr<const plan::PlanFile> plan,
                   ExecutorOptions options)
    : impl(std::make_unique<Impl>(std::move(plan), options.threads)) {}
Executor::~Executor() = default;

const Manifest &Executor::manifest() const { return impl->manifest; }
int Executor::threads() const { return impl->threads.count(); }

int Executor::findProgram(std::string_view name) const {
  const auto &programs = impl->manifest.programs();
  for (int i = 0; i < programs.size(); ++i)
    if (programs[i].name() == name)
      return i;
  return -1;
}

std::byte *Executor::data(std::uint32_t bufferIndex) {
  if (bufferIndex >= static_cast<std::uint32_t>(impl->manifest.buffers_size()))
    throw Error(ExitStatus::Bug,
                "the plan has no buffer " + std::to_string(bufferIndex));
  return impl->address(bufferIndex);
}

void Executor::run(int program, std::size_t begin, std::size_t end) {
  std::vector<CompiledStep> &steps = impl->program(program).steps;
  if (begin > end || end > steps.size())
    throw Error(ExitStatus::Bug, "steps outside the program were asked for");
  impl->threads.enter();
  for (std::size_t i = begin; i < end; ++i)
    impl->runStep(steps[i]);
}

void Executor::run(int program) {
  CompiledProgram &compiled = impl->program(program);
  run(program, 0, compiled.steps.size());
  impl->runChecks(compiled);
}

void Executor::runTimed(
    int program, const std::function<void(std::size_t, double)> &observer) {
  using Clock = std::chrono::steady_clock;
  CompiledProgram &compiled = impl->program(program);
  impl->threads.enter();
  for (std::size_t i = 0; i < compiled.steps.size(); ++i) {
    Clock::time_point start = Clock::now();
    impl->runStep(compiled.steps[i]);
    observer(i, std::chrono::duration<double>(Clock::now() - start).count());
  }
  impl->runChecks(compiled);
}

std::string Executor::implementation(int program, std::size_t step) const {
  const std::vector<CompiledStep> &steps = impl->program(program).steps;
  if (step >= steps.size())
    throw Error(ExitStatus::Bug, "a step outside the program was asked for");
  return std::visit(
      Overloaded{[](const KernelLaunch &) { return std::string("kernel"); },
                 [](const std::unique_ptr<DnnlCall> &call) {
                   return "oneDNN " + call->implementation();
                 },
                 [](const StridedCopy &) { return std::string("copy"); },
                 [](const StridedZero &) { return std::string("zero"); }},
      steps[step]);
}

std::uint64_t Executor::workspaceBytes() const {
  return impl->workspace.size();
}

} // namespace brew::runtime
