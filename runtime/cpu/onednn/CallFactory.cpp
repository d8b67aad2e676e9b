//===- CallFactory.cpp - Creation of the library calls of steps -----------===//
#include "runtime/cpu/onednn/CallFactory.h"

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

template <typename Call>
Operands operandsOf(const Call &call, const CallFactory::Bindings &bindings,
                    int program) {
  Operands result{bindings.buffer(call.x_buffer_index()),
                  bindings.weights(call.w_buffer_index(), program),
                  {},
                  bindings.buffer(call.y_buffer_index())};
  if (call.has_b_buffer_index())
    result.b = bindings.buffer(call.b_buffer_index());
  return result;
}

/// Calls `use` with the step's call and its operands.
template <typename Use>
auto withCall(const plan::Step &step, const CallFactory::Bindings &bindings,
              int program, const Use &use) {
  if (step.has_convolution())
    return use(step.convolution(),
               operandsOf(step.convolution(), bindings, program));
  return use(step.inner_product(),
             operandsOf(step.inner_product(), bindings, program));
}

struct Make {
  DnnlContext &context;
  const std::string &where;
  std::unique_ptr<CpuCall> operator()(const plan::ConvolutionCall &call,
                                      const Operands &on) const {
    return makeConvolution(context, call, on.x, on.w, on.b, on.y, where);
  }
  std::unique_ptr<CpuCall> operator()(const plan::InnerProductCall &call,
                                      const Operands &on) const {
    return makeInnerProduct(context, call, on.x, on.w, on.b, on.y, where);
  }
};

struct Candidates {
  DnnlContext &context;
  auto operator()(const plan::ConvolutionCall &call, const Operands &on) const {
    return convolutionCandidates(context, call, on.x, on.w, on.b, on.y);
  }
  auto operator()(const plan::InnerProductCall &call,
                  const Operands &on) const {
    return innerProductCandidates(context, call, on.x, on.w, on.b, on.y);
  }
};

struct Text {
  std::string operator()(const plan::ConvolutionCall &call,
                         const Operands &on) const {
    return convolutionKey(call, *on.x.buffer, *on.w.buffer, on.b.buffer,
                          *on.y.buffer) +
           fixed(on);
  }
  std::string operator()(const plan::InnerProductCall &call,
                         const Operands &on) const {
    return innerProductKey(call, *on.x.buffer, *on.w.buffer, on.b.buffer,
                           *on.y.buffer) +
           fixed(on);
  }
  static std::string fixed(const Operands &on) {
    return on.w.isConstant ? " fixed weights"
           : on.w.isShared ? " shared weights"
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
  for (const auto &[known, name] : names)
    if (known == isa)
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
         libraryVersion() + ": " + withCall(step, bindings, program, Text()) +
         (context.exactConvolutions ? " exact" : "") +
         (step.has_generated_alternative()
              ? generatedAlternativeKey(bindings.generator)
              : "");
}

std::vector<CallCandidate> CallFactory::candidatesOf(const plan::Step &step,
                                                     int program) const {
  std::vector<CallCandidate> candidates;
  try {
    candidates = withCall(step, bindings, program, Candidates{context});
  } catch (const dnnl::error &) {
    return {}; // make() reports the error
  }
  if (step.has_generated_alternative())
    candidates.push_back({kGeneratedCode, [this, &step](DnnlContext &) {
                            return generated(step);
                          }});
  return candidates;
}

std::unique_ptr<CpuCall> CallFactory::make(const plan::Step &step, int program,
                                           const std::string &where) const {
  const TimingCache::Choice *known = usesCache && !cache.isEmpty()
                                         ? cache.find(keyOf(step, program))
                                         : nullptr;
  if (known)
    for (const CallCandidate &candidate : candidatesOf(step, program))
      if (candidate.name == known->candidate) {
        const std::size_t packed = context.packed.size();
        try {
          if (auto call = candidate.make(context))
            return call;
        } catch (const dnnl::error &) {
          // The choice is not available on this machine: use the default
          // candidate, and discard the weights that the choice has packed.
          context.packed.resize(packed);
        }
        break;
      }
  try {
    return withCall(step, bindings, program, Make{context, where});
  } catch (const Error &error) {
    // If the library has no fast implementation, use the generated kernel.
    if (error.status() != ExitStatus::Unavailable ||
        !step.has_generated_alternative())
      throw;
    return generated(step);
  }
}

std::unique_ptr<CpuCall> CallFactory::generated(const plan::Step &step) const {
  return std::make_unique<GeneratedCall>(
      bindings.launch(step.generated_alternative()), *context.workers);
}

std::optional<CallTuner::Choice>
CallFactory::measure(const plan::Step &step, int program, CallTuner &tuner) {
  usesCache = true;
  const std::string key = keyOf(step, program);
  const auto [entry, isNew] = measured.try_emplace(key);
  if (!isNew)
    return entry->second;
  // Save the buffers that the step writes, to restore them.
  const std::vector<BoundBuffer> results = withCall(
      step, bindings, program,
      [](const auto &call, const Operands &on) -> std::vector<BoundBuffer> {
        switch (call.direction()) {
        case plan::FORWARD:
          return {on.y};
        case plan::BACKWARD_DATA:
          return {on.x};
        case plan::BACKWARD_WEIGHTS:
          break;
        }
        if (on.b.buffer)
          return {on.w, on.b};
        return {on.w};
      });
  std::vector<std::vector<std::byte>> before;
  for (const BoundBuffer &each : results)
    before.emplace_back(each.data, each.data + each.buffer->size());
  entry->second = tuner.choose(candidatesOf(step, program));
  for (std::size_t i = 0; i < results.size(); ++i)
    std::copy(before[i].begin(), before[i].end(), results[i].data);
  if (entry->second) {
    const CallTuner::Time &fastest = entry->second->fastest;
    cache.set(key, {fastest.name, fastest.seconds * 1e6});
    cache.write(); // keeps the choice if the process is killed
  }
  return entry->second;
}

} // namespace brew::runtime
