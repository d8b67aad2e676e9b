//===- Roofline.cpp - Lower bound of the time of steps --------------------===//
#include "dialects/Target/Roofline.h"

#include <algorithm>

using namespace brew::dialects::target;

/// Floating-point operations of a multiply-add, which machines count as one.
static constexpr double kFlopsPerMultiplyAdd = 2;

static Roofline cpuRoofline(CpuAttr cpu, Precision precision, bool f64) {
  const double cycles = static_cast<double>(cpu.getClockMhz()) * 1e6;
  const double coreCycles = cycles * static_cast<double>(cpu.getCores());
  Roofline result;
  result.bytesPerSecond = coreCycles * CpuAttr::kMemoryBytes;
  result.flopsPerSecond = coreCycles * kFlopsPerMultiplyAdd *
                          CpuAttr::kVectorOperations *
                          static_cast<double>(cpu.lanes()) / (f64 ? 2 : 1);
  // A vector has twice as many 16-bit operands.
  result.productFlopsPerSecond =
      result.flopsPerSecond *
      (!f64 && cpu.getLibrary().isFasterIn(precision) ? 2 : 1);
  result.launchSeconds = CpuAttr::kWakeCycles / cycles;
  return result;
}

static Roofline gpuRoofline(GpuAttr gpu, Precision precision, bool f64) {
  const double cycles = static_cast<double>(gpu.getClockMhz()) * 1e6;
  const double operations = static_cast<double>(f64 && gpu.getF64OpsPerCycle()
                                                    ? gpu.getF64OpsPerCycle()
                                                    : gpu.getOpsPerCycle());
  Roofline result;
  result.bytesPerSecond = cycles * static_cast<double>(gpu.getBytesPerCycle());
  result.flopsPerSecond = cycles * kFlopsPerMultiplyAdd * operations;
  result.productFlopsPerSecond = result.flopsPerSecond;
  if (!f64 && gpu.getTensorOpsPerCycle() &&
      gpu.getLibrary().isFasterIn(precision))
    result.productFlopsPerSecond =
        cycles * kFlopsPerMultiplyAdd *
        static_cast<double>(gpu.getTensorOpsPerCycle()) /
        (precision == Precision::TF32 ? 2 : 1);
  result.launchSeconds = GpuAttr::kLaunchCycles / cycles;
  return result;
}

Roofline Roofline::of(mlir::Operation *op, Precision precision, bool f64) {
  return isForGpu(op) ? gpuRoofline(gpuOf(op), precision, f64)
                      : cpuRoofline(cpuOf(op), precision, f64);
}

double Roofline::memorySeconds(const Work &work) const {
  return work.bytes / bytesPerSecond;
}

double Roofline::computeSeconds(const Work &work) const {
  return work.flops / (work.isProduct ? productFlopsPerSecond : flopsPerSecond);
}

double Roofline::launchOverhead(const Work &work) const {
  return launchSeconds * work.stages;
}

double Roofline::seconds(const Work &work) const {
  return std::max(memorySeconds(work), computeSeconds(work)) +
         launchOverhead(work);
}

Roofline::Bound Roofline::boundOf(const Work &work) const {
  if (launchOverhead(work) >
      std::max(memorySeconds(work), computeSeconds(work)))
    return Bound::Launch;
  return computeSeconds(work) > memorySeconds(work) ? Bound::Compute
                                                    : Bound::Memory;
}
