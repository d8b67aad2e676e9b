//===- KernelText.h - Writes plan.kernel operations for tests ---*- C++ -*-===//
//
// Free of MLIR headers, so that tests compile fast.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace brew::test {

/// A tensor that a nest reads or computes.
struct TensorUse {
  std::string name; ///< %0, %1, ... are the kernel's arguments
  std::string type;
  std::string map;          ///< e.g. "(i, j) -> (i)"
  std::string initial = ""; ///< results only: value to start from, if any
};

/// Returns a linalg.generic. `iterators` has a letter per loop, p or r. In
/// `body` %a, %b, ... are the inputs, %o the result's current value and %r its
/// next value.
std::string nestText(const TensorUse &result, const std::string &iterators,
                     int grid, const std::vector<TensorUse> &inputs,
                     const std::string &body, int subKernel = 0);

/// Returns a plan.kernel with arguments %0, %1, ... of the given types;
/// `results` are names and types.
std::string
kernelText(const std::string &name, const std::string &inPlace,
           const std::vector<std::string> &arguments, const std::string &nests,
           const std::vector<std::pair<std::string, std::string>> &results);

} // namespace brew::test
