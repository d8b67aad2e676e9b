//===- FuseDepthwise.cpp - Producers in depthwise convolutions ------------===//
//
// A depthwise convolution is bound by memory traffic. Its bottom is usually a
// normalized blob, computed by a nest from another blob with a few operations
// per element. Generated code that recomputes it wherever the convolution or
// its weight gradient reads it saves writing and reading the blob in both
// passes, and the memory to keep it between them.
//
// brew-rematerialize-producers does the same for nests that read a value
// element by element. Here the readers are calls, which read each element once
// per tap of the window; they become nests only if all of them do.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/analysis/ValueStorage.h"

#include "dialects/Brew/CommonNests.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Target/Roofline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSEDEPTHWISE
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? static_cast<double>(brew::passes::bytesOf(type)) : 0;
}

/// Cost of a math function, such as an exponential, in operations.
constexpr int64_t kMathFunctionCost = 10;

/// Returns the floating-point operations per iteration.
int64_t flopsPerIteration(linalg::GenericOp nest) {
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator())
    if (isa<math::MathDialect>(op.getDialect()))
      count += kMathFunctionCost;
    else if (isa<arith::ArithDialect>(op.getDialect()) &&
             !isa<arith::SelectOp>(op) && op.getNumOperands() > 0 &&
             isa<FloatType>(op.getOperand(0).getType()))
      ++count;
  return count;
}

/// Returns whether dimension 1 is innermost in memory, as vectors of generated
/// code require.
bool isChannelsLast(Value value) {
  SmallVector<int64_t> order = memoryOrder(tensorTypeOf(value));
  return order.size() > 2 && order.back() == 1;
}

/// Returns the elementwise nest that produces `value`, or null.
linalg::GenericOp producerOf(Value value) {
  auto nest = value.getDefiningOp<linalg::GenericOp>();
  if (!nest || nest->getNumResults() != 1 || nest.getNumReductionLoops() > 0)
    return {};
  OpOperand *init = nest.getDpsInitOperand(0);
  const bool isElementwise =
      nest.getMatchingIndexingMap(init).isPermutation() &&
      !nest.payloadUsesValueFromOperand(init) &&
      llvm::all_of(nest.getDpsInputOperands(), [&](OpOperand *input) {
        return nest.getMatchingIndexingMap(input).isProjectedPermutation();
      });
  // Extracted elements need not be adjacent in memory.
  const bool hasExtracts =
      nest.getBody()
          ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return isElementwise && !hasExtracts ? nest : linalg::GenericOp();
}

/// Returns whether `call` is a depthwise convolution of `bottom`, or its weight
/// gradient.
bool isDepthwise(Operation *call, Value bottom) {
  Value top;
  int64_t group = 0;
  if (auto forward = dyn_cast<ConvolutionOp>(call)) {
    if (forward.getX() != bottom || forward.getW() == bottom)
      return false;
    top = forward.getY();
    group = forward.getGroup();
  } else if (auto weights = dyn_cast<ConvolutionBackwardWeightsOp>(call)) {
    if (weights.getX() != bottom || weights.getDy() == bottom)
      return false;
    top = weights.getDy();
    group = weights.getGroup();
  } else {
    return false;
  }
  return tensorTypeOf(top).getRank() > 2 &&
         group == tensorTypeOf(top).getDimSize(1) &&
         group == tensorTypeOf(bottom).getDimSize(1) && isChannelsLast(top) &&
         isChannelsLast(bottom);
}

class DepthwiseFuser {
public:
  DepthwiseFuser(ProgramOp program,
                 const brew::dialects::target::Roofline &roofline)
      : program(program), roofline(roofline) {}

  void run() {
    for (auto nest : llvm::make_early_inc_range(
             program.getBody().front().getOps<linalg::GenericOp>()))
      if (auto producer = nest->getNumResults() == 1
                              ? producerOf(nest->getResult(0))
                              : linalg::GenericOp())
        fuse(producer);
  }

private:
  void fuse(linalg::GenericOp producer) {
    const Value bottom = producer->getResult(0);
    SmallVector<Operation *> calls(bottom.getUsers());
    if (calls.empty() || !llvm::all_of(calls, [&](Operation *call) {
          return isDepthwise(call, bottom);
        }))
      return;
    double separateSeconds = secondsOf(producer), fusedSeconds = 0;
    for (Operation *call : calls) {
      brew::dialects::target::Work library = trafficOf(call),
                                   generated = library;
      library.isProduct = true;
      library.flops = callFlops(call);
      separateSeconds += roofline.seconds(library);
      // A call also counts a multiplication and an addition.
      generated.flops = callFlops(call) / 2 *
                        static_cast<double>(2 + flopsPerIteration(producer));
      generated.bytes -= bytesOf(bottom);
      for (Value input : producer.getDpsInputs())
        generated.bytes += bytesOf(input);
      fusedSeconds += roofline.seconds(generated);
    }
    if (fusedSeconds >= separateSeconds)
      return;
    for (Operation *call : calls)
      replaceByNests(call, producer);
    producer.erase();
  }

  double secondsOf(linalg::GenericOp nest) const {
    brew::dialects::target::Work work;
    for (Value input : nest.getDpsInputs())
      work.bytes += bytesOf(input);
    work.bytes += bytesOf(nest->getResult(0));
    work.flops = static_cast<double>(flopsPerIteration(nest) *
                                     countOf(nest.getStaticLoopRanges()));
    return roofline.seconds(work);
  }

  static brew::dialects::target::Work trafficOf(Operation *call) {
    brew::dialects::target::Work work;
    for (Value value : call->getOperands())
      work.bytes += bytesOf(value);
    for (Value value : call->getResults())
      work.bytes += bytesOf(value);
    return work;
  }

  static double callFlops(Operation *call) {
    return static_cast<double>(cast<PlanStepInterface>(call).countFlops());
  }

  /// Replaces a call by nests that recompute its bottom as `producer` does.
  void replaceByNests(Operation *call, linalg::GenericOp producer) {
    OpBuilder b(call);
    brew::passes::computeInF32(call);
    if (auto forward = dyn_cast<ConvolutionOp>(call))
      if (Value w = forward.getW(); w.getType() != channelsInnermost(w))
        forward.getWMutable().assign(
            buildCopy(b, call, w, channelsInnermost(w)));
    // Sum with the channels innermost, then copy to the result's own layout.
    b.setInsertionPointAfter(call);
    if (auto weights = dyn_cast<ConvolutionBackwardWeightsOp>(call);
        weights &&
        weights.getDw().getType() != channelsInnermost(weights.getDw())) {
      Value dw = weights.getDw();
      const auto type = tensorTypeOf(dw);
      dw.setType(channelsInnermost(dw));
      Value copied = buildCopy(b, call, dw, type);
      dw.replaceAllUsesExcept(copied, copied.getDefiningOp());
    }
    b.setInsertionPoint(call);
    Operation *previous = call->getPrevNode();
    SmallVector<Value> results = cast<LoopNestInterface>(call).buildNests(b);
    for (auto [result, value] : llvm::zip(call->getResults(), results))
      result.replaceAllUsesWith(value);
    const Origin origin = Origin::of(call);
    for (Operation *op = previous ? previous->getNextNode()
                                  : &program.getBody().front().front();
         op != call; op = op->getNextNode()) {
      origin.mark(op);
      if (auto nest = dyn_cast<linalg::GenericOp>(op))
        inlineProducer(nest, producer);
    }
    SmallVector<Value> operands(call->getOperands());
    call->erase();
    for (Value operand : operands)
      if (auto cast = operand.getDefiningOp<CastOp>();
          cast && cast->use_empty())
        cast.erase();
  }

  /// Returns the weight type with the channels innermost.
  static RankedTensorType channelsInnermost(Value weights) {
    auto type = tensorTypeOf(weights);
    auto order = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
    order.push_back(0);
    return withMemoryOrder(
        RankedTensorType::get(type.getShape(), type.getElementType()), order);
  }

  static Value buildCopy(OpBuilder &b, Operation *reason, Value from,
                         RankedTensorType type) {
    NestBuilder nest(b, reason->getLoc(), type.getShape());
    nest.input(from, iota(type.getRank()));
    nest.output(type, iota(type.getRank()));
    Value result =
        nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.in[0]};
        })[0];
    Origin::of(reason).mark(result.getDefiningOp());
    return result;
  }

  /// Replaces each extraction from the result of `producer` by its computation.
  static void inlineProducer(linalg::GenericOp nest,
                             linalg::GenericOp producer) {
    const Value bottom = producer->getResult(0);
    SmallVector<tensor::ExtractOp> extracts;
    nest.getBody()->walk([&](tensor::ExtractOp extract) {
      if (castSource(extract.getTensor()) == bottom)
        extracts.push_back(extract);
    });
    for (tensor::ExtractOp extract : extracts) {
      OpBuilder b(extract);
      const Type element = extract.getType();
      Value computed = buildElement(b, extract, producer);
      if (computed.getType() != element)
        computed =
            arith::ExtFOp::create(b, extract.getLoc(), element, computed);
      extract.replaceAllUsesWith(computed);
      extract.erase();
    }
  }

  static Value buildElement(OpBuilder &b, tensor::ExtractOp extract,
                            linalg::GenericOp producer) {
    // Find the loop indices of `producer` for that element.
    SmallVector<Value> loops(producer.getNumLoops());
    AffineMap result =
        producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
    for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
      loops[result.getDimPosition(dim)] = index;
    IRMapping map;
    for (OpOperand *input : producer.getDpsInputOperands()) {
      Value value = input->get();
      if (isa<RankedTensorType>(value.getType())) {
        SmallVector<Value> indices;
        AffineMap read = producer.getMatchingIndexingMap(input);
        for (unsigned dim = 0; dim < read.getNumResults(); ++dim)
          indices.push_back(loops[read.getDimPosition(dim)]);
        value = tensor::ExtractOp::create(b, extract.getLoc(), value, indices);
      }
      map.map(producer.getMatchingBlockArgument(input), value);
    }
    for (Operation &op : producer.getBody()->without_terminator())
      if (auto index = dyn_cast<linalg::IndexOp>(op))
        map.map(index.getResult(), loops[index.getDim()]);
      else
        b.clone(op, map);
    return map.lookupOrDefault(
        producer.getBody()->getTerminator()->getOperand(0));
  }

  ProgramOp program;
  const brew::dialects::target::Roofline &roofline;
};

struct FuseDepthwise : brew::passes::impl::FuseDepthwiseBase<FuseDepthwise> {
  using FuseDepthwiseBase::FuseDepthwiseBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (program.getBody().empty())
      return;
    const auto roofline =
        brew::dialects::target::Roofline::of(program, precision, /*f64=*/false);
    DepthwiseFuser(program, roofline).run();
  }
};

} // namespace
