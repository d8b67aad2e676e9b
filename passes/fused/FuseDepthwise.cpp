//===- FuseDepthwise.cpp - Depthwise convolutions that make their bottom --===//
//
// A depthwise convolution takes as long as its blobs take to move. Its bottom
// is mostly a normalised blob, which a nest makes of another one at the cost of
// a few operations per element: generated code that makes it wherever the
// convolution, or its gradient by the weights, reads it saves writing and
// reading it, in both passes of the net, and its place between them.
//
// rematerialize-producers does that where nests read a value element by element. Here
// readers are calls, which become nests only if all of them do, and read each
// element once for every tap of a window.
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

/// Operations that a function such as an exponential counts as.
constexpr int64_t kFunction = 10;

/// The floating-point operations of an iteration.
int64_t flopsOf(linalg::GenericOp nest) {
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator())
    if (isa<math::MathDialect>(op.getDialect()))
      count += kFunction;
    else if (isa<arith::ArithDialect>(op.getDialect()) &&
             !isa<arith::SelectOp>(op) && op.getNumOperands() > 0 &&
             isa<FloatType>(op.getOperand(0).getType()))
      ++count;
  return count;
}

/// Whether the neighbours in memory are those of dimension 1, which is what
/// vectors of generated code take.
bool isChannelsLast(Value value) {
  SmallVector<int64_t> order = memoryOrder(tensorTypeOf(value));
  return order.size() > 2 && order.back() == 1;
}

/// The nest that makes `value` element by element of elements of others.
linalg::GenericOp makerOf(Value value) {
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
  // What it extracts itself it reads at places that need not be neighbours.
  const bool extracts =
      nest.getBody()
          ->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return isElementwise && !extracts ? nest : linalg::GenericOp();
}

/// A call that reads `bottom` and moves about as much as it computes.
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
  return tensorTypeOf(top).getRank() > 2 && group == tensorTypeOf(top).getDimSize(1) &&
         group == tensorTypeOf(bottom).getDimSize(1) && isChannelsLast(top) &&
         isChannelsLast(bottom);
}

class DepthwiseFusing {
public:
  DepthwiseFusing(ProgramOp program,
                  const brew::dialects::target::Roofline &roofline)
      : program(program), roofline(roofline) {}

  void run() {
    for (auto nest : llvm::make_early_inc_range(
             program.getBody().front().getOps<linalg::GenericOp>()))
      if (auto maker = nest->getNumResults() == 1 ? makerOf(nest->getResult(0))
                                                  : linalg::GenericOp())
        fuse(maker);
  }

private:
  void fuse(linalg::GenericOp maker) {
    const Value bottom = maker->getResult(0);
    SmallVector<Operation *> calls(bottom.getUsers());
    if (calls.empty() || !llvm::all_of(calls, [&](Operation *call) {
          return isDepthwise(call, bottom);
        }))
      return;
    double before = secondsOf(maker), after = 0;
    for (Operation *call : calls) {
      brew::dialects::target::Work library = movedBy(call), generated = library;
      library.isProduct = true;
      library.flops = flopsOf(call);
      before += roofline.seconds(library);
      // A product and a sum are what a call counts as well.
      generated.flops =
          flopsOf(call) / 2 * static_cast<double>(2 + ::flopsOf(maker));
      generated.bytes -= bytesOf(bottom);
      for (Value input : maker.getDpsInputs())
        generated.bytes += bytesOf(input);
      after += roofline.seconds(generated);
    }
    if (after >= before)
      return;
    for (Operation *call : calls)
      generate(call, maker);
    maker.erase();
  }

  double secondsOf(linalg::GenericOp nest) const {
    brew::dialects::target::Work work;
    for (Value input : nest.getDpsInputs())
      work.bytes += bytesOf(input);
    work.bytes += bytesOf(nest->getResult(0));
    work.flops = static_cast<double>(::flopsOf(nest) *
                                     countOf(nest.getStaticLoopRanges()));
    return roofline.seconds(work);
  }

  static brew::dialects::target::Work movedBy(Operation *call) {
    brew::dialects::target::Work work;
    for (Value value : call->getOperands())
      work.bytes += bytesOf(value);
    for (Value value : call->getResults())
      work.bytes += bytesOf(value);
    return work;
  }

  static double flopsOf(Operation *call) {
    return static_cast<double>(cast<PlanStepInterface>(call).countFlops());
  }

  /// Replaces a call by nests, which compute its bottom as `maker` does.
  void generate(Operation *call, linalg::GenericOp maker) {
    OpBuilder b(call);
    brew::passes::computeInF32(call);
    if (auto forward = dyn_cast<ConvolutionOp>(call))
      if (Value w = forward.getW(); w.getType() != besideChannels(w))
        forward.getWMutable().assign(copy(b, call, w, besideChannels(w)));
    // Sums of neighbouring channels side by side; then where they belong.
    b.setInsertionPointAfter(call);
    if (auto weights = dyn_cast<ConvolutionBackwardWeightsOp>(call);
        weights &&
        weights.getDw().getType() != besideChannels(weights.getDw())) {
      Value dw = weights.getDw();
      const auto type = tensorTypeOf(dw);
      dw.setType(besideChannels(dw));
      Value placed = copy(b, call, dw, type);
      dw.replaceAllUsesExcept(placed, placed.getDefiningOp());
    }
    b.setInsertionPoint(call);
    Operation *before = call->getPrevNode();
    SmallVector<Value> results = cast<LoopNestInterface>(call).buildNests(b);
    for (auto [result, value] : llvm::zip(call->getResults(), results))
      result.replaceAllUsesWith(value);
    const Origin origin = Origin::of(call);
    for (Operation *op = before ? before->getNextNode()
                                : &program.getBody().front().front();
         op != call; op = op->getNextNode()) {
      origin.mark(op);
      if (auto nest = dyn_cast<linalg::GenericOp>(op))
        inlineMaker(nest, maker);
    }
    SmallVector<Value> operands(call->getOperands());
    call->erase();
    for (Value operand : operands)
      if (auto cast = operand.getDefiningOp<CastOp>();
          cast && cast->use_empty())
        cast.erase();
  }

  /// The type of weights whose channels lie side by side.
  static RankedTensorType besideChannels(Value weights) {
    auto type = tensorTypeOf(weights);
    auto order = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
    order.push_back(0);
    return withMemoryOrder(
        RankedTensorType::get(type.getShape(), type.getElementType()), order);
  }

  static Value copy(OpBuilder &b, Operation *reason, Value from,
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

  /// Lets the nest compute what it extracts of the maker's result.
  static void inlineMaker(linalg::GenericOp nest, linalg::GenericOp maker) {
    const Value bottom = maker->getResult(0);
    SmallVector<tensor::ExtractOp> extracts;
    nest.getBody()->walk([&](tensor::ExtractOp extract) {
      if (castSource(extract.getTensor()) == bottom)
        extracts.push_back(extract);
    });
    for (tensor::ExtractOp extract : extracts) {
      OpBuilder b(extract);
      const Type element = extract.getType();
      Value made = compute(b, extract, maker);
      if (made.getType() != element)
        made = arith::ExtFOp::create(b, extract.getLoc(), element, made);
      extract.replaceAllUsesWith(made);
      extract.erase();
    }
  }

  static Value compute(OpBuilder &b, tensor::ExtractOp extract,
                       linalg::GenericOp maker) {
    // The maker's loops, at that element.
    SmallVector<Value> loops(maker.getNumLoops());
    AffineMap result = maker.getMatchingIndexingMap(maker.getDpsInitOperand(0));
    for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
      loops[result.getDimPosition(dim)] = index;
    IRMapping map;
    for (OpOperand *input : maker.getDpsInputOperands()) {
      Value value = input->get();
      if (isa<RankedTensorType>(value.getType())) {
        SmallVector<Value> indices;
        AffineMap read = maker.getMatchingIndexingMap(input);
        for (unsigned dim = 0; dim < read.getNumResults(); ++dim)
          indices.push_back(loops[read.getDimPosition(dim)]);
        value = tensor::ExtractOp::create(b, extract.getLoc(), value, indices);
      }
      map.map(maker.getMatchingBlockArgument(input), value);
    }
    for (Operation &op : maker.getBody()->without_terminator())
      if (auto index = dyn_cast<linalg::IndexOp>(op))
        map.map(index.getResult(), loops[index.getDim()]);
      else
        b.clone(op, map);
    return map.lookupOrDefault(maker.getBody()->getTerminator()->getOperand(0));
  }

  ProgramOp program;
  const brew::dialects::target::Roofline &roofline;
};

struct FuseDepthwise : brew::passes::impl::FuseDepthwiseBase<FuseDepthwise> {
  using FuseDepthwiseBase::FuseDepthwiseBase;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (program.getBody().empty())
        continue;
      const auto roofline = brew::dialects::target::Roofline::of(
          program, precision, /*f64=*/false);
      DepthwiseFusing(program, roofline).run();
    }
  }
};

} // namespace
