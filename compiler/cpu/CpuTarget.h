//===- CpuTarget.h - The processor that kernels are compiled for ----------===//
//
// Resolves brewc's --cpu option. Free of LLVM headers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace brew::compiler::cpu {

/// What generated code may use. Code is compiled for plain x86-64 plus exactly
/// `features`, so a machine that has them all can run it; `cpu` steers only
/// scheduling and cost decisions.
struct CpuTarget {
  std::string triple;                ///< e.g. "x86_64-pc-linux-gnu"
  std::string cpu;                   ///< LLVM's name, e.g. "sapphirerapids"
  std::vector<std::string> features; ///< LLVM's names, e.g. "avx512f"
  unsigned vectorBits = 128;         ///< widest vector register to use

  bool has(std::string_view feature) const;
  /// LLVM's notation, e.g. "+avx,+avx2".
  std::string featureString() const;
};

/// Resolves `native` (this machine: its real features, whatever its model is
/// said to have) or a name that LLVM knows for a 64-bit x86 processor, such as
/// `x86-64-v3` or `skylake-avx512`. Throws Error: Usage for an unknown name
/// (with the nearest ones), Unavailable for `native` elsewhere than on x86-64.
CpuTarget resolveCpuTarget(std::string_view name);

} // namespace brew::compiler::cpu
