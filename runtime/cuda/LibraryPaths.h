//===- LibraryPaths.h - Which CUDA libraries a plan runs on --------*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"

#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Names or paths for dlopen.
struct LibraryPaths {
  std::string driver = "libcuda.so.1";
  /// The first that opens is taken.
  std::vector<std::string> cublasLt = {"libcublasLt.so.13",
                                       "libcublasLt.so.12"};
  /// Likewise.
  std::vector<std::string> nccl = {"libnccl.so.2"};
  /// A shared object that exports brewVendorTable; empty: cuDNN.
  std::string vendorTable;
  /// Whether these are the stand-ins of Brew's own tests.
  bool simulated = false;
};

/// The machine's own libraries; for a plan with code for the architecture `sim`
/// the stand-ins in $BREW_CUDASIM, or beside the executable in
/// ../lib/cudasim, if the plan has no other code or there is no GPU for it.
/// Throws Error (3) if a plan needs them and they are not there.
LibraryPaths chooseLibraryPaths(const plan::Target &target,
                          const std::string &planPath);

} // namespace brew::runtime::cuda
