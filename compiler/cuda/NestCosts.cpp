//===- NestCosts.cpp - Cost of loops on a GPU -----------------------------===//
#include "compiler/cuda/NestCosts.h"

#include "compiler/kernels/KernelIndices.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace brew::compiler::cuda {

using dialects::target::GpuAttr;

/// Returns the traffic per element, in four-byte elements, along a loop that
/// moves its address by `step` (nullopt: irregularly). Neighbouring lanes share
/// memory sectors.
static double trafficPerElement(std::optional<int64_t> step, Type element) {
  double bytes = static_cast<double>(elementBytes(element));
  if (!step)
    return 8;
  if (*step == 0)
    return 0.05;
  return std::min(static_cast<double>(std::abs(*step)) * bytes,
                  static_cast<double>(GpuAttr::kSectorBytes)) /
         4;
}

static Type elementOf(const Kernel &kernel, const SubKernel &subKernel,
                      const Source &source) {
  if (source.kind == Source::Kind::Argument)
    return kernel.arguments[source.argument].getElementType();
  if (source.kind == Source::Kind::Result)
    return subKernel.nests[source.nest].outputs[source.result].element;
  return source.constant.getType();
}

static int64_t ceilLog2(unsigned value) { return llvm::Log2_32_Ceil(value); }

/// Returns whether iterations read the kernel's arguments.
static bool readsMemory(const Nest &nest) {
  return llvm::any_of(nest.inputs,
                      [](const std::optional<Access> &input) {
                        return input &&
                               input->source.kind == Source::Kind::Argument;
                      }) ||
         llvm::any_of(nest.extracts, [](const auto &entry) {
           return entry.second.source.kind == Source::Kind::Argument;
         });
}

/// Returns the latency of an iteration.
static double latencyOf(const Nest &nest) {
  return readsMemory(nest) ? GpuAttr::kLoadCycles : GpuAttr::kIterationCycles;
}

/// Returns the latency of `pack` neighbouring iterations, whose loads overlap.
static double packLatency(const Nest &nest, unsigned pack) {
  return latencyOf(nest) + (pack - 1) * GpuAttr::kIterationCycles;
}

NestCosts::Cost &NestCosts::Cost::operator+=(const Cost &other) {
  traffic += other.traffic;
  latency += other.latency;
  return *this;
}

/// Returns the traffic of one iteration, in four-byte elements, if lanes move
/// along `loop` (nullopt: no loop). Converts operations to the traffic that
/// takes as long.
double NestCosts::ofIteration(const SubKernel &subKernel, const Nest &nest,
                              std::optional<unsigned> loop) const {
  double cost = 0;
  auto stepOf = [&](const LinearExpr &address) -> std::optional<int64_t> {
    return loop ? address.coefs[*loop] : 0;
  };
  for (const std::optional<Access> &input : nest.inputs)
    if (input && input->source.kind == Source::Kind::Argument)
      cost += trafficPerElement(stepOf(input->address),
                                elementOf(kernel, subKernel, input->source));
  // Visits extracts in program order, so that the floating-point sum is
  // reproducible.
  for (Operation &op : nest.body()->without_terminator())
    if (auto found = nest.extracts.find(&op);
        found != nest.extracts.end() &&
        found->second.source.kind == Source::Kind::Argument)
      cost +=
          trafficPerElement(loop ? extractStep(nest, &op, found->second, *loop)
                                 : std::optional(0l),
                            elementOf(kernel, subKernel, found->second.source));
  int64_t operations = 0;
  for (Operation &op : nest.body()->without_terminator())
    operations += op.getDialect()->getNamespace() == "math" ? 10 : 1;
  cost +=
      operations * elementsPerCycle / static_cast<double>(gpu.getOpsPerCycle());
  int64_t reductions = 1;
  for (const Loop &inner : nest.loops)
    if (inner.reduction)
      reductions *= inner.extent;
  for (const Output &output : nest.outputs)
    if (!output.arguments.empty())
      cost += trafficPerElement(stepOf(output.address), output.element) /
              static_cast<double>(reductions);
  for (const Output &store : nest.perIterationStores)
    cost += trafficPerElement(stepOf(store.address), store.element);
  return cost;
}

NestCosts::Cost NestCosts::ofNest(const SubKernel &subKernel, const Nest &nest,
                                  const NestSchedule &inner, unsigned team,
                                  unsigned lanes, unsigned pack) const {
  std::optional<unsigned> loop;
  if (team == 1) {
    if (subKernel.grid)
      loop = subKernel.grid - 1;
  } else if (lanes > 1) {
    loop = inner.reductions.back();
  } else if (!inner.parallel.empty()) {
    loop = inner.parallel.back();
  }
  const int64_t values = lanes > 1 ? inner.values : inner.values / pack,
                iterations =
                    lanes > 1 ? inner.iterations / pack : inner.iterations;
  const double rounds =
      static_cast<double>(llvm::divideCeil(values, team / lanes)) *
      static_cast<double>(llvm::divideCeil(iterations, lanes));
  Cost cost;
  cost.traffic = rounds * pack * team * ofIteration(subKernel, nest, loop);
  cost.latency = rounds * packLatency(nest, pack) + GpuAttr::kNestCycles;
  if (lanes > 1) {
    double combinations = static_cast<double>(
        llvm::divideCeil(inner.values, team / lanes) * nest.outputs.size());
    cost.latency += combinations * GpuAttr::kShuffleCycles *
                    static_cast<double>(ceilLog2(std::min(lanes, kWarp)));
    if (lanes > kWarp)
      cost.latency +=
          combinations * (GpuAttr::kSharedCycles + lanes / kWarp * 4);
  }
  return cost;
}

NestCosts::Cost NestCosts::ofColumns(const SubKernel &subKernel,
                                     const Nest &nest,
                                     const NestSchedule &inner,
                                     unsigned columns, unsigned threads) const {
  const unsigned shares = threads / columns * inner.pack;
  const double rounds =
      static_cast<double>(llvm::divideCeil(inner.iterations, shares));
  // Threads without a point of their own repeat other threads' reads; a share
  // that is shorter than others moves less data.
  const int64_t extent = nest.loops[subKernel.grid - 1].extent;
  const double usedShare =
      static_cast<double>(extent) /
      static_cast<double>(llvm::divideCeil(extent, columns) * columns);
  Cost cost;
  cost.traffic = static_cast<double>(inner.iterations * columns) * usedShare *
                 ofIteration(subKernel, nest, subKernel.grid - 1);
  cost.latency = rounds * packLatency(nest, inner.pack) + GpuAttr::kNestCycles;
  if (inner.iterations > 1)
    cost.latency +=
        GpuAttr::kSharedCycles +
        static_cast<double>(nest.outputs.size() * shares / inner.pack * 4);
  return cost;
}

double NestCosts::timeOf(const Cost &cost, int64_t points,
                         unsigned team) const {
  double threads = static_cast<double>(points) * team;
  double waves =
      std::max(1.0, threads / static_cast<double>(gpu.residentThreads()));
  double traffic =
             static_cast<double>(points) * cost.traffic / elementsPerCycle,
         latency = cost.latency * waves;
  // Traffic and latency overlap partially.
  return std::max(traffic, latency) + std::min(traffic, latency) / 4;
}

double NestCosts::timeAlone(const Cost &cost, int64_t points,
                            int64_t concurrentPoints) const {
  // One multiprocessor alone reaches about four times its share of the memory
  // bandwidth.
  const double traffic = static_cast<double>(points) * cost.traffic /
                         elementsPerCycle *
                         static_cast<double>(gpu.getMultiprocessors()) / 4;
  const double latency =
      cost.latency *
      static_cast<double>(llvm::divideCeil(points, concurrentPoints));
  return std::max(traffic, latency) + std::min(traffic, latency) / 4;
}

} // namespace brew::compiler::cuda
