//===- KernelText.h - Writes plan.kernel operations for tests ---*- C++ -*-===//
//
// Includes no MLIR headers, so that tests compile fast.
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
  std::string initial = ""; ///< initial value of a reduction's result
};

/// Returns a linalg.generic. `iterators` has a letter per loop: p for parallel,
/// r for reduction. The `grid` outermost loops are the sub-kernel's grid. In
/// `body` %a, %b, ... are the inputs, %o is the result's current value and %r
/// its next value.
std::string nestText(const TensorUse &result, const std::string &iterators,
                     int grid, const std::vector<TensorUse> &inputs,
                     const std::string &body, int subKernel = 0);

/// Returns a plan.kernel with arguments %0, %1, ... of the given types.
/// `results` are names and types, `inPlace` the elements of attribute in_place.
std::string
kernelText(const std::string &name, const std::string &inPlace,
           const std::vector<std::string> &arguments, const std::string &nests,
           const std::vector<std::pair<std::string, std::string>> &results);

} // namespace brew::test
