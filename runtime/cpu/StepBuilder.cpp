//===- StepBuilder.cpp - Creation of the steps of CPU programs ------------===//
#include "runtime/cpu/StepBuilder.h"

#include "plan/Operands.h"
#include "runtime/cpu/AllReduce.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/cpu/KernelLaunch.h"
#include "runtime/cpu/LoopStep.h"
#include "runtime/cpu/StridedCopy.h"
#include "runtime/executor/Backend.h"
#include "runtime/executor/CallTimingKey.h"
#include "runtime/host_layers/HostLayerStep.h"
#include "support/Error.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace brew::runtime {

using plan::Buffer;
using plan::Program;
using plan::Step;

namespace {

/// A step that a host layer computes.
struct HostLayerCall : CpuStep {
  HostLayerStep step;
  std::vector<std::byte *> memory; ///< of the operands

  HostLayerCall(HostLayerStep step, std::vector<std::byte *> memory)
      : step(std::move(step)), memory(std::move(memory)) {}

  void run(const Threads &) override {
    step.compute(memory);
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (step.operands()[i].isWritten)
        step.store(i, memory[i]);
  }
  std::string describe() const override { return "host"; }
  bool isHostLayer() const override { return true; }
};

/// Returns the instruction set that oneDNN uses, which ONEDNN_MAX_CPU_ISA may
/// limit.
std::string instructionSet() {
  static const std::pair<dnnl::cpu_isa, const char *> names[] = {
      {dnnl::cpu_isa::sse41, "SSE4.1"},
      {dnnl::cpu_isa::avx, "AVX"},
      {dnnl::cpu_isa::avx2, "AVX2"},
      {dnnl::cpu_isa::avx2_vnni, "AVX2-VNNI"},
      {dnnl::cpu_isa::avx512_core, "AVX-512"},
      {dnnl::cpu_isa::avx512_core_vnni, "AVX512-VNNI"},
      {dnnl::cpu_isa::avx512_core_bf16, "AVX512-BF16"},
      {dnnl::cpu_isa::avx512_core_fp16, "AVX512-FP16"},
      {dnnl::cpu_isa::avx512_core_amx, "AMX"}};
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  for (const auto &[namedIsa, name] : names)
    if (namedIsa == isa)
      return name;
  return "instruction set " + std::to_string(static_cast<unsigned>(isa));
}

std::string libraryVersion() {
  const dnnl_version_t *version = dnnl_version();
  return "oneDNN " + std::to_string(version->major) + "." +
         std::to_string(version->minor) + "." + std::to_string(version->patch);
}

/// Returns the part of the keys that is the same for all calls.
std::string deviceKey(const DnnlContext &context) {
  return processorName() + ", " + instructionSet() + ", " +
         std::to_string(context.threads) +
         (context.threads == 1 ? " thread, " : " threads, ") +
         libraryVersion() + ": ";
}

} // namespace

StepBuilder::StepBuilder(const plan::PlanFile &plan, const Arenas &arenas,
                         const Threads &workers, HostLayers &hosts,
                         const ExecutorOptions &options, int chosenFor)
    : dnnl{{chosenFor ? chosenFor : workers.count(), &workers,
            plan.manifest().target().exact_convolutions()},
           {}},
      plan(plan), manifest(plan.manifest()), arenas(arenas), hosts(hosts),
      communicator(options.communicator.get()), kernels(plan),
      cache(options.timingCache, options.warn),
      tuner(cache, deviceKey(dnnl), kCpuTuningPolicy, options.tune) {}

BoundBuffer StepBuilder::boundBuffer(std::uint32_t index) const {
  return {&manifest.buffers(static_cast<int>(index)), arenas.address(index)};
}

/// Returns the weights of a call. Weights of `deploy` are constant: callers
/// change them only between runs, and then call packParameters().
BoundBuffer StepBuilder::boundWeights(std::uint32_t index, int program) const {
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
bool StepBuilder::areShared(std::uint32_t weights,
                            const Program &program) const {
  constexpr int kMinReaders = 4;
  std::function<std::int64_t(const Step &)> reads =
      [&](const Step &step) -> std::int64_t {
    if (!step.has_loop())
      return step.has_inner_product() &&
             step.inner_product().direction() == plan::FORWARD &&
             plan::callOperands(step).w == weights;
    const auto &nested = step.loop().steps();
    return std::any_of(nested.begin(), nested.end(), reads)
               ? step.loop().iterations()
               : 0;
  };
  const auto &steps = program.steps();
  const auto first = std::find_if(steps.begin(), steps.end(), reads);
  const auto pastLast =
      std::find_if(steps.rbegin(), steps.rend(), reads).base();
  std::int64_t readers = 0;
  for (auto step = first; step < pastLast; ++step)
    readers += reads(*step);
  if (readers < kMinReaders)
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

StepBuilder::CallBuffers StepBuilder::callBuffers(const Step &step,
                                                  int program) const {
  const plan::CallOperands indices = plan::callOperands(step);
  return {boundBuffer(indices.x), boundWeights(indices.w, program),
          indices.b ? boundBuffer(*indices.b) : BoundBuffer(),
          boundBuffer(indices.y)};
}

CallCandidates StepBuilder::candidatesOf(const Step &step,
                                         const CallBuffers &buffers) {
  const auto &[x, w, b, y] = buffers;
  std::string key = step.has_convolution()
                        ? convolutionKey(step.convolution(), *x.buffer,
                                         *w.buffer, b.buffer, *y.buffer)
                        : innerProductKey(step.inner_product(), *x.buffer,
                                          *w.buffer, b.buffer, *y.buffer);
  key += w.isConstant ? " fixed weights" : w.isShared ? " shared weights" : "";
  if (dnnl.exactConvolutions)
    key += " exact";
  if (step.has_generated_alternative())
    key += generatedAlternativeKey(manifest.producer() + " for " +
                                   manifest.target().cpu());
  return {std::move(key), [this, &step, buffers] {
            const auto &[x, w, b, y] = buffers;
            CallCandidates::List list;
            try {
              list = step.has_convolution()
                         ? convolutionCandidates(dnnl, step.convolution(), x, w,
                                                 b, y)
                         : innerProductCandidates(dnnl, step.inner_product(), x,
                                                  w, b, y);
            } catch (const dnnl::error &) {
              return list; // build() reports the error
            }
            if (step.has_generated_alternative())
              list.push_back({kGeneratedCode, [this, &step](DnnlContext &) {
                                return makeAlternative(step);
                              }});
            return list;
          }};
}

/// Creates the call with the candidate in the timing cache. If the cache has
/// none, a cost model chooses it.
std::unique_ptr<CpuStep> StepBuilder::makeCall(const Step &step, int program,
                                               const std::string &where) {
  const CallBuffers buffers = callBuffers(step, program);
  const CallCandidates candidates = candidatesOf(step, buffers);
  if (const std::optional<int> choice = tuner.find(candidates)) {
    const std::size_t packedCount = dnnl.packed.size();
    try {
      if (auto call = candidates[*choice].make(dnnl))
        return call;
    } catch (const dnnl::error &) {
      // The choice is not available on this machine: use the default
      // candidate, and discard the weights that the choice has packed.
      dnnl.packed.resize(packedCount);
    }
  }
  const auto &[x, w, b, y] = buffers;
  try {
    if (step.has_convolution())
      return makeConvolution(dnnl, step.convolution(), x, w, b, y, where);
    return makeInnerProduct(dnnl, step.inner_product(), x, w, b, y, where);
  } catch (const Error &error) {
    // If the library has no fast implementation, use the generated kernel.
    if (error.status() != ExitStatus::Unavailable ||
        !step.has_generated_alternative())
      throw;
    return makeAlternative(step);
  }
}

/// A generated kernel reads its operands in the plan's layouts.
std::unique_ptr<CpuStep> StepBuilder::makeAlternative(const Step &step) const {
  return makeLaunch(step.generated_alternative().kernel_index(),
                    plan::alternativeArguments(step), kGeneratedCode);
}

const CallTuner::Result &StepBuilder::tune(int program, const Step &step,
                                           const CpuClock &clock) {
  CallCandidates candidates = candidatesOf(step, callBuffers(step, program));
  CpuBenchmark benchmark(dnnl, clock, candidates);
  std::vector<std::vector<std::byte>> saved;
  auto forEachResult = [&](auto &&visit) {
    for (const plan::Operand &operand : step.operands())
      if (plan::isWritten(operand))
        visit(boundBuffer(operand.buffer_index()));
  };
  return tuner.tune(
      candidates, benchmark,
      [&] {
        forEachResult([&](BoundBuffer result) {
          saved.emplace_back(result.data, result.data + result.buffer->size());
        });
      },
      [&, i = std::size_t(0)]() mutable {
        forEachResult([&](BoundBuffer result) {
          std::copy(saved[i].begin(), saved[i].end(), result.data);
          ++i;
        });
      });
}

std::unique_ptr<KernelLaunch>
StepBuilder::makeLaunch(std::uint32_t kernelIndex,
                        const std::vector<std::uint32_t> &buffers,
                        const char *name) const {
  const plan::Kernel &kernel = manifest.kernels(static_cast<int>(kernelIndex));
  auto result = std::make_unique<KernelLaunch>();
  result->function = kernels.function(kernelIndex);
  result->domain = kernel.domain();
  result->grain = kernel.grain();
  result->name = name;
  for (std::uint32_t index : buffers)
    result->arguments.push_back(arenas.address(index));
  return result;
}

std::unique_ptr<CpuStep> StepBuilder::makeLoop(const Step &step, int program,
                                               const std::string &where) {
  const plan::Loop &loop = step.loop();
  auto result = std::make_unique<CpuLoopStep>(loop);
  addLoopSteps(
      manifest, loop, *result,
      [&](const Step &call) { return makeCall(call, program, where); },
      [&](std::uint32_t kernel, const std::vector<std::uint32_t> &buffers) {
        return makeLaunch(kernel, buffers, "kernel");
      });
  return result;
}

std::unique_ptr<CpuStep> StepBuilder::build(int program, int index) {
  const Step &step = manifest.programs(program).steps(index);
  auto where = [&] {
    return describeStep(plan, manifest.programs(program), index);
  };
  switch (step.action_case()) {
  case Step::kLaunch:
    return makeLaunch(step.launch().kernel_index(),
                      plan::kernelArguments(manifest, step), "kernel");
  case Step::kConvolution:
  case Step::kInnerProduct:
    return makeCall(step, program, where());
  case Step::kLoop:
    return makeLoop(step, program, where());
  case Step::kCopy: {
    BoundBuffer source = boundBuffer(step.operands(0).buffer_index());
    BoundBuffer target = boundBuffer(step.operands(1).buffer_index());
    return std::make_unique<StridedCopy>(*source.buffer, source.data,
                                         *target.buffer, target.data);
  }
  case Step::kHost: {
    HostLayerStep host(manifest, program, step, hosts);
    std::vector<std::byte *> memory;
    for (const plan::HostOperand &operand : host.operands())
      memory.push_back(arenas.address(operand.index));
    return std::make_unique<HostLayerCall>(std::move(host), std::move(memory));
  }
  case Step::kAllReduce:
    return std::make_unique<AllReduce>(
        manifest, step,
        [this](std::uint32_t index) { return arenas.address(index); },
        communicator);
  case Step::ACTION_NOT_SET:
    break;
  }
  throw Error(ExitStatus::Bug, where() + ": unknown action");
}

} // namespace brew::runtime
