//===- Roofline.h - Lower bound of the time of steps ------------*- C++ -*-===//
//
// A roofline model: a machine moves a number of bytes and does a number of
// operations per second, and needs some time to launch a step. No step of a
// plan takes less time. Reports compare steps by it, and rematerialization
// chooses values by it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Target/TargetDialect.h"

namespace brew::dialects::target {

/// The work of a step.
struct Work {
  double bytes = 0; ///< read and written
  double flops = 0; ///< a multiply-add counts as two
  /// Whether it is a convolution or matrix product of the vendor library, for
  /// which machines have special units.
  bool isProduct = false;
  /// Stages of a launch. The barrier between two stages counts as another
  /// launch.
  unsigned stages = 1;
};

/// The rates of a machine for nets of one precision.
class Roofline {
public:
  enum class Bound { Memory, Compute, Launch };

  /// Returns the rates of the machine of `op`'s module (see cpuOf, gpuOf).
  /// If `f64`, the net is in 64 bits and `precision` is ignored.
  static Roofline of(mlir::Operation *op, Precision precision, bool f64);

  /// Returns the launch time plus the larger of the times to move the bytes and
  /// to compute.
  double seconds(const Work &work) const;
  /// Returns the largest component of that time.
  Bound boundOf(const Work &work) const;

  double bytesPerSecond = 0;
  double flopsPerSecond = 0;        ///< of generated kernels
  double productFlopsPerSecond = 0; ///< of library products
  double launchSeconds = 0;         ///< per step

private:
  double memorySeconds(const Work &work) const;
  double computeSeconds(const Work &work) const;
  double launchOverhead(const Work &work) const;
};

} // namespace brew::dialects::target
