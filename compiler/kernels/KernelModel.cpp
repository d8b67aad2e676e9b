//===- KernelModel.cpp - Model of a kernel's loop nests and accesses ------===//

#include "compiler/kernels/KernelModel.h"

#include "support/Error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <utility>

using namespace mlir;

namespace brew::compiler {

void throwCannotEmit(dialects::plan::KernelOp op, const std::string &reason) {
  throw Error(ExitStatus::Bug, "kernel '" + op.getSymName().str() +
                                   "' cannot be emitted: " + reason);
}

unsigned Nest::reductions() const {
  return llvm::count_if(loops, [](const Loop &loop) { return loop.reduction; });
}

int64_t Nest::iterations() const {
  int64_t count = 1;
  for (const Loop &loop : loops)
    count *= loop.extent;
  return count;
}

void Nest::forEachLinear(llvm::function_ref<void(LinearExpr &)> function) {
  for (std::optional<Access> &input : inputs)
    if (input) {
      function(input->address);
      function(input->local);
    }
  for (Output &output : outputs) {
    function(output.address);
    function(output.local);
    if (output.initial) {
      function(output.initial->address);
      function(output.initial->local);
    }
  }
  for (Output &store : perIterationStores)
    function(store.address);
  for (auto &entry : extracts) {
    function(entry.second.address);
    function(entry.second.local);
  }
  for (std::optional<LinearExpr> &index : indices)
    if (index)
      function(*index);
}

/// Returns the operation that yields output `number`.
static Operation *yieldingOperation(linalg::GenericOp nest, unsigned number) {
  return nest.getBody()->getTerminator()->getOperand(number).getDefiningOp();
}

Value maximumOperand(linalg::GenericOp nest, unsigned number) {
  auto select =
      dyn_cast_or_null<arith::SelectOp>(yieldingOperation(nest, number));
  Value accumulated = nest.getRegionOutputArgs()[number];
  if (!select || select.getFalseValue() != accumulated ||
      std::distance(accumulated.use_begin(), accumulated.use_end()) != 2)
    return {};
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  Value x = select.getTrueValue();
  if (!compare || !compare->hasOneUse() || !select->hasOneUse() ||
      compare.getPredicate() != arith::CmpFPredicate::OGT ||
      compare.getLhs() != x || compare.getRhs() != accumulated)
    return {};
  return x;
}

OwningOpRef<dialects::plan::KernelOp> foldBodies(dialects::plan::KernelOp op) {
  OwningOpRef<dialects::plan::KernelOp> folded(op.clone());
  if (failed(
          applyPatternsGreedily(*folded, RewritePatternSet(op->getContext()))))
    throwCannotEmit(op, "its bodies do not fold");
  return folded;
}

int64_t elementBytes(Type element) { return elementBytes(element, 1); }

int64_t elementBytes(Type element, int64_t count) {
  const unsigned bits = element.getIntOrFloatBitWidth();
  return bits < 8 ? llvm::divideCeil(count * bits, 8)
                  : count * llvm::divideCeil(bits, 8);
}

uint64_t flopsOf(const Kernel &kernel) {
  uint64_t flops = 0;
  for (const SubKernel &subKernel : kernel.subKernels)
    for (const Nest &nest : subKernel.nests) {
      uint64_t perIteration = 0;
      for (Operation &op : nest.body()->without_terminator()) {
        if (isa<arith::ConstantOp, arith::SelectOp>(op) ||
            op.getNumOperands() == 0)
          continue;
        bool isArithmetic =
            isa<arith::ArithDialect, math::MathDialect>(op.getDialect());
        perIteration +=
            isArithmetic && isa<FloatType>(op.getOperand(0).getType());
      }
      flops += perIteration * nest.iterations();
    }
  return flops;
}

ElementTraffic elementTraffic(const Kernel &kernel) {
  const size_t count = kernel.arguments.size();
  ElementTraffic total{SmallVector<int64_t>(count),
                       SmallVector<int64_t>(count)},
      stageTraffic = total;
  auto elements = [&](unsigned argument) {
    return kernel.arguments[argument].getNumElements();
  };
  auto recordRead = [&](const Source &source, int64_t maxElements = INT64_MAX) {
    if (source.kind == Source::Kind::Argument)
      stageTraffic.read[source.argument] =
          std::max(stageTraffic.read[source.argument],
                   std::min(elements(source.argument), maxElements));
  };
  // Adds the stage's traffic to the total: the next stage must load its data
  // again.
  auto endStage = [&] {
    for (auto [sum, stage] : {std::pair(&total.read, &stageTraffic.read),
                              std::pair(&total.written, &stageTraffic.written)})
      for (size_t i = 0; i < count; ++i)
        (*sum)[i] += std::exchange((*stage)[i], 0);
  };
  unsigned stage = 0;
  for (const SubKernel &subKernel : kernel.subKernels) {
    if (subKernel.stage != std::exchange(stage, subKernel.stage))
      endStage();
    for (const Nest &nest : subKernel.nests) {
      for (const std::optional<Access> &input : nest.inputs)
        if (input)
          recordRead(input->source);
      for (const auto &entry : nest.extracts)
        recordRead(entry.second.source, nest.iterations());
      for (const Output &output : nest.outputs) {
        if (output.initial)
          recordRead(output.initial->source);
        for (unsigned argument : output.arguments)
          stageTraffic.written[argument] = elements(argument);
      }
      for (const Output &store : nest.perIterationStores)
        for (unsigned argument : store.arguments)
          stageTraffic.written[argument] = elements(argument);
    }
  }
  endStage();
  return total;
}

uint64_t bytesOf(const Kernel &kernel) {
  const ElementTraffic traffic = elementTraffic(kernel);
  uint64_t bytes = 0;
  for (auto [i, type] : llvm::enumerate(kernel.arguments))
    bytes += elementBytes(type.getElementType(), traffic.read[i]) +
             elementBytes(type.getElementType(), traffic.written[i]);
  return bytes;
}

} // namespace brew::compiler
