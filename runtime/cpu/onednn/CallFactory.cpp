//===- CallFactory.cpp - Creation of the library calls of steps -----------===//
#include "runtime/cpu/onednn/CallFactory.h"

#include "plan/Operands.h"
#include "runtime/cpu/CpuFeatures.h"
#include "runtime/executor/CallTimingKey.h"
#include "support/Error.h"

#include <algorithm>
#include <vector>

namespace brew::runtime {

namespace {

/// The operands of a step's call.
struct Operands {
  BoundBuffer x, w, b, y;
};

Operands operandsOf(const plan::Step &step,
                    const CallFactory::Bindings &bindings, int program) {
  const plan::CallOperands indices = plan::callOperands(step);
  return {bindings.buffer(indices.x), bindings.weights(indices.w, program),
          indices.b ? bindings.buffer(*indices.b) : BoundBuffer(),
          bindings.buffer(indices.y)};
}

/// Calls `use` with the step's call and its operands.
template <typename Use>
auto withCall(const plan::Step &step, const CallFactory::Bindings &bindings,
              int program, const Use &use) {
  const Operands operands = operandsOf(step, bindings, program);
  return step.has_convolution() ? use(step.convolution(), operands)
                                : use(step.inner_product(), operands);
}

struct MakeCall {
  DnnlContext &context;
  const std::string &where;
  std::unique_ptr<CpuCall> operator()(const plan::ConvolutionCall &call,
                                      const Operands &operands) const {
    return makeConvolution(context, call, operands.x, operands.w, operands.b,
                           operands.y, where);
  }
  std::unique_ptr<CpuCall> operator()(const plan::InnerProductCall &call,
                                      const Operands &operands) const {
    return makeInnerProduct(context, call, operands.x, operands.w, operands.b,
                            operands.y, where);
  }
};

struct ListCandidates {
  DnnlContext &context;
  auto operator()(const plan::ConvolutionCall &call,
                  const Operands &operands) const {
    return convolutionCandidates(context, call, operands.x, operands.w,
                                 operands.b, operands.y);
  }
  auto operator()(const plan::InnerProductCall &call,
                  const Operands &operands) const {
    return innerProductCandidates(context, call, operands.x, operands.w,
                                  operands.b, operands.y);
  }
};

struct KeyText {
  std::string operator()(const plan::ConvolutionCall &call,
                         const Operands &operands) const {
    return convolutionKey(call, *operands.x.buffer, *operands.w.buffer,
                          operands.b.buffer, *operands.y.buffer) +
           weightsText(operands);
  }
  std::string operator()(const plan::InnerProductCall &call,
                         const Operands &operands) const {
    return innerProductKey(call, *operands.x.buffer, *operands.w.buffer,
                           operands.b.buffer, *operands.y.buffer) +
           weightsText(operands);
  }
  static std::string weightsText(const Operands &operands) {
    return operands.w.isConstant ? " fixed weights"
           : operands.w.isShared ? " shared weights"
                                 : "";
  }
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

} // namespace

CallFactory::CallFactory(DnnlContext &context, Bindings bindings,
                         TimingCache cache, bool usesCache)
    : context(context), bindings(std::move(bindings)), cache(std::move(cache)),
      usesCache(usesCache) {}

std::string CallFactory::keyOf(const plan::Step &step, int program) const {
  return processorName() + ", " + instructionSet() + ", " +
         std::to_string(context.threads) +
         (context.threads == 1 ? " thread, " : " threads, ") +
         libraryVersion() + ": " +
         withCall(step, bindings, program, KeyText()) +
         (context.exactConvolutions ? " exact" : "") +
         (step.has_generated_alternative()
              ? generatedAlternativeKey(bindings.generator)
              : "");
}

std::vector<CallCandidate> CallFactory::candidatesOf(const plan::Step &step,
                                                     int program) const {
  std::vector<CallCandidate> candidates;
  try {
    candidates = withCall(step, bindings, program, ListCandidates{context});
  } catch (const dnnl::error &) {
    return {}; // make() reports the error
  }
  if (step.has_generated_alternative())
    candidates.push_back({kGeneratedCode, [this, &step](DnnlContext &) {
                            return makeGenerated(step);
                          }});
  return candidates;
}

std::unique_ptr<CpuCall> CallFactory::make(const plan::Step &step, int program,
                                           const std::string &where) const {
  const TimingCache::Choice *choice = usesCache && !cache.isEmpty()
                                          ? cache.find(keyOf(step, program))
                                          : nullptr;
  if (choice)
    for (const CallCandidate &candidate : candidatesOf(step, program))
      if (candidate.name == choice->candidate) {
        const std::size_t packedCount = context.packed.size();
        try {
          if (auto call = candidate.make(context))
            return call;
        } catch (const dnnl::error &) {
          // The choice is not available on this machine: use the default
          // candidate, and discard the weights that the choice has packed.
          context.packed.resize(packedCount);
        }
        break;
      }
  try {
    return withCall(step, bindings, program, MakeCall{context, where});
  } catch (const Error &error) {
    // If the library has no fast implementation, use the generated kernel.
    if (error.status() != ExitStatus::Unavailable ||
        !step.has_generated_alternative())
      throw;
    return makeGenerated(step);
  }
}

std::unique_ptr<CpuCall>
CallFactory::makeGenerated(const plan::Step &step) const {
  return std::make_unique<GeneratedCall>(
      bindings.launch(step.generated_alternative().kernel_index(),
                      plan::alternativeArguments(step)),
      *context.workers);
}

std::optional<CallTuner::Choice>
CallFactory::measure(const plan::Step &step, int program, CallTuner &tuner) {
  usesCache = true;
  const std::string key = keyOf(step, program);
  const auto [entry, isNew] = measurements.try_emplace(key);
  if (!isNew)
    return entry->second;
  // Save the buffers that the step writes, to restore them.
  std::vector<BoundBuffer> results;
  for (const plan::Operand &operand : step.operands())
    if (plan::isWritten(operand))
      results.push_back(bindings.buffer(operand.buffer_index()));
  std::vector<std::vector<std::byte>> savedBytes;
  for (const BoundBuffer &resultBuffer : results)
    savedBytes.emplace_back(resultBuffer.data,
                            resultBuffer.data + resultBuffer.buffer->size());
  entry->second = tuner.choose(candidatesOf(step, program));
  for (std::size_t i = 0; i < results.size(); ++i)
    std::copy(savedBytes[i].begin(), savedBytes[i].end(), results[i].data);
  if (entry->second) {
    const CallTuner::Time &fastest = entry->second->fastest;
    cache.set(key, {fastest.name, fastest.seconds * 1e6});
    cache.write(); // keeps the choice if the process is killed
  }
  return entry->second;
}

} // namespace brew::runtime
