//===- CpuTarget.cpp - Target processor of generated code -----------------===//

#include "compiler/cpu/CpuTarget.h"

#include "support/Error.h"
#include "support/JoinNames.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <algorithm>
#include <utility>

namespace brew::compiler::cpu {
namespace {

/// Instruction sets useful for f32, f64, their 16-bit storage types and integer
/// masks. Other features of a processor (AMX, AES...) stay off, because the
/// plan would require them without benefit. An entry follows the features that
/// it implies in LLVM.
constexpr const char *usefulFeatures[] = {
    "sse3",     "ssse3",    "sse4.1",   "sse4.2",   "popcnt",    "avx",
    "f16c",     "avx2",     "fma",      "bmi",      "bmi2",      "avx512f",
    "avx512cd", "avx512dq", "avx512bw", "avx512vl", "avx512bf16"};

template <typename Predicate>
CpuTarget makeTarget(llvm::StringRef cpu, Predicate hasFeature) {
  CpuTarget target;
  target.triple = "x86_64-pc-linux-gnu";
  target.cpu = cpu.str();
  for (const char *feature : usefulFeatures)
    if (hasFeature(feature))
      target.features.push_back(feature);
  // A hypervisor can hide the 128- and 256-bit forms of AVX-512. LLVM cannot
  // shorten vectors without them, so treat such a machine as AVX2.
  if (!target.has("avx512vl") || !target.has("avx512bw") ||
      !target.has("avx512dq"))
    target.features.erase(
        std::remove_if(target.features.begin(), target.features.end(),
                       [](const std::string &feature) {
                         return llvm::StringRef(feature).starts_with("avx512");
                       }),
        target.features.end());
  target.vectorBits = target.has("avx512f") ? 512
                      : target.has("avx")   ? 256
                                            : 128;
  return target;
}

CpuTarget resolveNative() {
  if (llvm::Triple(llvm::sys::getProcessTriple()).getArch() !=
      llvm::Triple::x86_64)
    throw unavailable("--cpu native: this machine is not an x86-64 one; name "
                      "the processor to compile for, e.g. --cpu x86-64-v3");
  llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  llvm::StringRef cpu = llvm::sys::getHostCPUName();
  return makeTarget(cpu.empty() ? "x86-64" : cpu, [&](llvm::StringRef feature) {
    return present.lookup(feature);
  });
}

[[noreturn]] void
throwUnknownProcessor(llvm::StringRef name,
                      llvm::ArrayRef<llvm::StringRef> knownNames) {
  std::vector<std::pair<unsigned, llvm::StringRef>> ranked;
  for (llvm::StringRef candidate : knownNames)
    ranked.emplace_back(name.edit_distance_insensitive(candidate), candidate);
  ranked.emplace_back(name.edit_distance_insensitive("native"), "native");
  std::sort(ranked.begin(), ranked.end());
  std::string text = "--cpu: unknown processor '" + name.str() + "'";
  // Do not suggest names that share few letters.
  unsigned limit = (name.size() + 1) / 2;
  std::vector<std::string> similar;
  for (std::size_t i = 0;
       i < 3 && i < ranked.size() && ranked[i].first <= limit; ++i)
    similar.push_back("'" + ranked[i].second.str() + "'");
  text += similar.empty()
              ? "; use 'native', 'x86-64-v2', 'x86-64-v3', 'x86-64-v4' or "
                "LLVM's name of an x86-64 processor"
              : "; did you mean " + joinNames(similar, "or") + "?";
  throw Error(ExitStatus::Usage, text);
}

} // namespace

bool CpuTarget::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::string CpuTarget::featureString() const {
  std::string text;
  for (const std::string &feature : features)
    text += (text.empty() ? "+" : ",+") + feature;
  return text;
}

CpuTarget resolveCpuTarget(std::string_view name) {
  if (name == "native")
    return resolveNative();
  llvm::SmallVector<llvm::StringRef, 128> knownNames;
  llvm::X86::fillValidCPUArchList(knownNames, /*Only64Bit=*/true);
  if (std::find(knownNames.begin(), knownNames.end(), llvm::StringRef(name)) ==
      knownNames.end())
    throwUnknownProcessor(name, knownNames);
  llvm::SmallVector<llvm::StringRef, 64> listed;
  llvm::X86::getFeaturesForCPU(name, listed);
  // The list omits implied features.
  llvm::StringMap<bool> present;
  for (llvm::StringRef feature : listed) {
    present[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, /*Enabled=*/true, present);
  }
  return makeTarget(
      name, [&](llvm::StringRef feature) { return present.lookup(feature); });
}

} // namespace brew::compiler::cpu
