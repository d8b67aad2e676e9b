//===- LibraryPaths.h - Paths of the CUDA libraries of a plan ---*- C++ -*-===//
#pragma once

#include "plan/PlanFile.h"

#include <string>
#include <vector>

namespace brew::runtime::cuda {

/// Names or paths of shared libraries for dlopen.
struct LibraryPaths {
  std::string driver = "libcuda.so.1";
  /// Alternatives; the first that can be opened is used.
  std::vector<std::string> cublasLt = {"libcublasLt.so.13",
                                       "libcublasLt.so.12"};
  /// Alternatives, as above.
  std::vector<std::string> nccl = {"libnccl.so.2"};
  /// A shared library that exports brewVendorTable; empty for cuDNN.
  std::string vendorTable;
  /// Whether these are the libraries of the CUDA simulator.
  bool simulated = false;
};

/// Returns the system's libraries, or the CUDA simulator's if the plan has code
/// for the architecture `sim` and either no other code or no GPU to run it on.
/// The simulator is in $BREW_CUDASIM or, if that is not set, in ../lib/cudasim
/// relative to the executable's folder. Throws Error (3) if the plan needs the
/// simulator and it is missing.
LibraryPaths chooseLibraryPaths(const plan::Target &target,
                                const std::string &planPath);

} // namespace brew::runtime::cuda
