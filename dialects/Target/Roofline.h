//===- Roofline.h - The least time that work can take -----------*- C++ -*-===//
//
// A machine moves so many bytes and does so many operations a second, and needs
// some time to begin a step: no step of a plan takes less. Reports compare
// steps by it, and what is computed again for want of memory is chosen by it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Target/TargetDialect.h"

namespace brew::dialects::target {

/// What a step does.
struct Work {
  double bytes = 0; ///< read and written
  double flops = 0; ///< a multiplication with an addition is two
  /// A convolution or matrix product of the vendor's library, for which
  /// machines have units of their own.
  bool isProduct = false;
  /// Of a launch: its blocks wait for each other between them, which counts
  /// like another launchOverhead.
  unsigned stages = 1;
};

/// The rates of a machine for nets of one precision.
class Roofline {
public:
  enum class Bound { Memory, Compute, Launch };

  /// Those of the machine that `op`'s module is for (see cpuOf, gpuOf). `f64`:
  /// the net is in 64 bits, else `precision` holds.
  static Roofline of(mlir::Operation *op, Precision precision, bool f64);

  /// The larger of memorySeconds the bytes and computeSeconds, and the time to begin.
  double seconds(const Work &work) const;
  /// What most of that time is.
  Bound boundOf(const Work &work) const;

  double bytesPerSecond = 0;
  double flopsPerSecond = 0;        ///< of generated kernels
  double productFlopsPerSecond = 0; ///< of products
  double launchSeconds = 0;         ///< to begin a step

private:
  double memorySeconds(const Work &work) const;
  double computeSeconds(const Work &work) const;
  double launchOverhead(const Work &work) const;
};

} // namespace brew::dialects::target
