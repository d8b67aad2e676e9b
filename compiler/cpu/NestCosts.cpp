//===- NestCosts.cpp - Cost of a nest on a CPU ----------------------------===//

#include "compiler/cpu/NestCosts.h"

#include "compiler/cpu/Sums.h"
#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace brew::compiler::cpu {

namespace {

/// Maximum length of a row of partial sums.
constexpr int64_t kMaxPartialSums = 512;
/// Cost of starting a loop, and of each step of a horizontal vector sum.
constexpr double kLoopCost = 2, kHorizontalCost = 3;

/// Returns the cost of one vector of iterations, without memory accesses.
double computeCost(const Nest &nest) {
  double cost = 0;
  for (Operation &op : nest.body()->without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp, tensor::ExtractOp>(op) ||
        op.getResult(0).getType().isIndex())
      continue;
    bool isSlow =
        isa<arith::DivFOp>(op) || op.getDialect()->getNamespace() == "math";
    cost += isSlow ? 8 : 0.5;
  }
  return cost;
}

} // namespace

/// Returns the cost of accessing the elements of a vector of consecutive
/// iterations.
double NestCosts::accessCost(std::optional<int64_t> step, Type element) const {
  if (!step)
    return lanes;
  if (*step == 0)
    return 0.1;
  if (std::abs(*step) == 1)
    return 1;
  // No instruction gathers or scatters 16-bit elements.
  return (element.getIntOrFloatBitWidth() < 32 ? 2 : 0.8) * lanes;
}

bool NestCosts::hasPartialSums(const Nest &nest, unsigned loop) const {
  return nest.loops[loop].reduction && nest.reductions() >= 2 &&
         nest.loops[loop].extent <= kMaxPartialSums && sumsInAnyOrder(nest);
}

double NestCosts::iterationCost(const Nest &nest, unsigned loop) const {
  double cost = computeCost(nest);
  for (auto [number, input] : llvm::enumerate(nest.inputs))
    if (input && input->source.kind != Source::Kind::Constant)
      cost += accessCost(input->address.coefs[loop],
                         nest.body()->getArgument(number).getType());
  // Visits extracts in program order, so that the floating-point sum is
  // reproducible.
  for (Operation &op : nest.body()->without_terminator())
    if (auto found = nest.extracts.find(&op); found != nest.extracts.end())
      cost += accessCost(extractStep(nest, &op, found->second, loop),
                         op.getResult(0).getType());
  double vectors = (nest.loops[loop].extent + lanes - 1) / lanes;
  cost += kLoopCost / vectors;
  if (nest.loops[loop].reduction) {
    if (!nest.reorderable) // one lane after the other
      return cost;
    cost += hasPartialSums(nest, loop)
                ? 0.2
                : kHorizontalCost * llvm::Log2_64(lanes) / vectors;
  } else {
    int64_t window = reductionIterations(nest);
    for (const Output &output : nest.outputs)
      cost += accessCost(output.address.coefs[loop], output.element) / window;
    if (window > 1) // accumulators in memory
      cost += nest.loops[loop].extent > kRegisterRow ? 1 : 0.2;
  }
  return cost * vectors / nest.loops[loop].extent;
}

double NestCosts::rowsCost(const Nest &nest, unsigned outer,
                           std::optional<unsigned> &innermost) const {
  double best = 0;
  innermost.reset();
  for (unsigned loop = outer; loop < nest.loops.size(); ++loop) {
    // If the order of reductions matters, only the last one may be innermost.
    if (nest.loops[loop].reduction && !nest.reorderable &&
        loop + 1 != nest.loops.size())
      continue;
    double cost = iterationCost(nest, loop);
    if (innermost && cost >= best)
      continue;
    best = cost;
    innermost = loop;
  }
  if (!innermost) // the nest computes a scalar per grid point
    best = computeCost(nest) + nest.inputs.size() + nest.outputs.size();
  return best * nest.iterations();
}

} // namespace brew::compiler::cpu
