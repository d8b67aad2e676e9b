//===- CpuTarget.h - Target processor of generated code ---------*- C++ -*-===//
//
// Resolves brewc's --cpu option. Does not include LLVM headers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brew::compiler::cpu {

/// Instruction sets of generated code: plain x86-64 plus exactly `features`, so
/// any machine with these can run it. `cpu` only tunes scheduling and cost
/// decisions.
struct CpuTarget {
  std::string triple;                ///< e.g. "x86_64-pc-linux-gnu"
  std::string cpu;                   ///< LLVM's name, e.g. "sapphirerapids"
  std::vector<std::string> features; ///< LLVM's names, e.g. "avx512f"
  unsigned vectorBits = 128;         ///< width of the widest vector register to
                                     ///< use

  bool has(std::string_view feature) const;
  /// Returns LLVM's notation, e.g. "+avx,+avx2".
  std::string featureString() const;
};

/// Resolves `native` (this machine's actual features, regardless of its model)
/// or LLVM's name of a 64-bit x86 processor, such as `x86-64-v3` or
/// `skylake-avx512`. Throws Error (Usage) with similar names for an unknown
/// name, and Error (Unavailable) for `native` on machines other than x86-64.
CpuTarget resolveCpuTarget(std::string_view name);

} // namespace brew::compiler::cpu
