//===- PadChannels.cpp - As many channels as tensor cores multiply --------===//
//
// Tensor cores multiply 16 bytes of channels at a time, and the library's
// convolutions for them want no fewer: an image of three channels goes to
// kernels that are several times as slow. Here the images and the weights of
// such a convolution get channels of zeros, which add nothing to its sums; of
// its gradient by the weights those of the real channels are taken.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_PADCHANNELS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::target::GpuAttr;

namespace {

/// Rewrites one program.
class Padding {
public:
  Padding(ProgramOp program, ArrayRef<std::string> noLibrary)
      : program(program), noLibrary(noLibrary) {}

  void run() {
    program.walk([&](ConvolutionBackwardDataOp op) {
      learning.insert(op.getLayerAttr());
    });
    SmallVector<Operation *> calls;
    program.walk([&](Operation *op) {
      if (isa<ConvolutionOp, ConvolutionSumOp, ConvolutionBackwardWeightsOp>(
              op) &&
          gains(op))
        calls.push_back(op);
    });
    for (Operation *op : calls) {
      op->setAttr(kUnpaddedChannelsAttr,
                  Builder(op).getI64IntegerAttr(shapeOf(op->getOperand(0))[1]));
      if (auto product = dyn_cast<ConvolutionBackwardWeightsOp>(op)) {
        pad(op->getOpOperand(0));
        cutGradient(product);
      } else {
        pad(op->getOpOperand(0));
        pad(op->getOpOperand(1));
      }
    }
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
      if (isa<CastOp>(op) && op.use_empty())
        op.erase();
  }

private:
  static int64_t wanted(Type element) {
    return GpuAttr::kMaxAccessBytes * 8 / element.getIntOrFloatBitWidth();
  }

  /// Whether a call reads an image of too few channels and makes enough: else
  /// its other operand is as little for tensor cores. A bottom that has a
  /// gradient is none of the first, and its channels are somebody's result.
  bool gains(Operation *op) const {
    const Type element = elementTypeOf(op->getOperand(0));
    if (!isNarrowFloat(element) ||
        op->getAttrOfType<IntegerAttr>("group").getInt() != 1 ||
        !brew::passes::usesLibrary(op, noLibrary) ||
        learning.contains(op->getAttrOfType<StringAttr>("layer")))
      return false;
    ArrayRef<int64_t> x = shapeOf(op->getOperand(0));
    const Value y = isa<ConvolutionBackwardWeightsOp>(op) ? op->getOperand(1)
                                                          : op->getResult(0);
    return x.size() == 4 && x[1] < wanted(element) &&
           shapeOf(y)[1] % wanted(element) == 0;
  }

  static RankedTensorType withChannels(RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = wanted(type.getElementType());
    return RankedTensorType::get(shape, type.getElementType());
  }

  static DenseI64ArrayAttr noOffsets(RankedTensorType type, OpBuilder &b) {
    return b.getDenseI64ArrayAttr(SmallVector<int64_t>(type.getRank(), 0));
  }

  /// Gives what a call reads channels of zeros: before it is rounded, so that
  /// one nest does both.
  void pad(OpOperand &operand) {
    const Value narrow = operand.get();
    Value &wide = padded[narrow];
    if (!wide) {
      auto cast = narrow.getDefiningOp<CastOp>();
      const RankedTensorType type = withChannels(tensorTypeOf(narrow));
      OpBuilder b(operand.getOwner());
      if (cast)
        b.setInsertionPoint(cast);
      else
        b.setInsertionPointAfterValue(narrow);
      Operation *reason = cast ? cast : operand.getOwner();
      const Value from = cast ? cast.getX() : narrow;
      auto layer = reason->getAttrOfType<StringAttr>("layer");
      auto zeros = ZeroPadOp::create(
          b, reason->getLoc(),
          RankedTensorType::get(type.getShape(), elementTypeOf(from)), from, layer,
          noOffsets(type, b));
      Origin::of(reason).mark(zeros);
      wide = zeros;
      if (cast) {
        wide = CastOp::create(b, cast.getLoc(), type, zeros, layer);
        Origin::of(cast).mark(wide.getDefiningOp());
      }
    }
    operand.set(wide);
  }

  void cutGradient(ConvolutionBackwardWeightsOp op) {
    const RankedTensorType type = tensorTypeOf(op.getDw());
    op.getDw().setType(withChannels(type));
    OpBuilder b(op);
    b.setInsertionPointAfter(op);
    auto part = SubviewOp::create(b, op.getLoc(), type, op.getDw(),
                              op.getLayerAttr(), noOffsets(type, b));
    Origin::of(op).mark(part);
    op.getDw().replaceAllUsesExcept(part, part);
  }

  ProgramOp program;
  ArrayRef<std::string> noLibrary;
  llvm::DenseSet<StringAttr> learning; ///< layers with a gradient by the data
  llvm::DenseMap<Value, Value> padded;
};

struct PadChannels : brew::passes::impl::PadChannelsBase<PadChannels> {
  using PadChannelsBase::PadChannelsBase;

  void runOnOperation() override {
    SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    for (auto program : getOperation().getOps<ProgramOp>())
      if (brew::dialects::target::isForGpu(program))
        Padding(program, disabled).run();
  }
};

} // namespace
