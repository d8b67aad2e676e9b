//===- PadChannels.cpp - Channel padding for tensor cores -----------------===//
//
// Tensor cores multiply 16 bytes of channels at a time, and the library's
// tensor-core convolutions require as many: an image of three channels falls
// back to kernels that are several times slower. This pass pads the images and
// the weights of such a convolution with channels of zeros, which do not change
// its sums, and slices the real channels from its weight gradient.
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
class ChannelPadder {
public:
  ChannelPadder(ProgramOp program, ArrayRef<std::string> noLibrary)
      : program(program), noLibrary(noLibrary) {}

  void run() {
    program.walk([&](ConvolutionBackwardDataOp op) {
      layersWithDataGradient.insert(op.getLayerAttr());
    });
    SmallVector<Operation *> calls;
    program.walk([&](Operation *op) {
      if (isa<ConvolutionOp, ConvolutionSumOp, ConvolutionBackwardWeightsOp>(
              op) &&
          isProfitable(op))
        calls.push_back(op);
    });
    for (Operation *op : calls) {
      op->setAttr(kUnpaddedChannelsAttr,
                  Builder(op).getI64IntegerAttr(shapeOf(op->getOperand(0))[1]));
      if (auto gradient = dyn_cast<ConvolutionBackwardWeightsOp>(op)) {
        pad(op->getOpOperand(0));
        sliceGradient(gradient);
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
  static int64_t requiredChannels(Type element) {
    return GpuAttr::kMaxAccessBytes * 8 / element.getIntOrFloatBitWidth();
  }

  /// Returns whether padding helps: the call reads an image of too few
  /// channels, and its other operand has enough for tensor cores. Excludes
  /// bottoms with a gradient: they are not input images but results of other
  /// layers.
  bool isProfitable(Operation *op) const {
    const Type element = elementTypeOf(op->getOperand(0));
    if (!isNarrowFloat(element) ||
        op->getAttrOfType<IntegerAttr>("group").getInt() != 1 ||
        !brew::passes::usesLibrary(op, noLibrary) ||
        layersWithDataGradient.contains(op->getAttrOfType<StringAttr>("layer")))
      return false;
    ArrayRef<int64_t> x = shapeOf(op->getOperand(0));
    const Value y = isa<ConvolutionBackwardWeightsOp>(op) ? op->getOperand(1)
                                                          : op->getResult(0);
    return x.size() == 4 && x[1] < requiredChannels(element) &&
           shapeOf(y)[1] % requiredChannels(element) == 0;
  }

  static RankedTensorType withChannels(RankedTensorType type) {
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = requiredChannels(type.getElementType());
    return RankedTensorType::get(shape, type.getElementType());
  }

  static DenseI64ArrayAttr noOffsets(RankedTensorType type, OpBuilder &b) {
    return b.getDenseI64ArrayAttr(SmallVector<int64_t>(type.getRank(), 0));
  }

  /// Pads an operand. If a CastOp computes it, pads the cast's operand, so that
  /// one nest pads and casts.
  void pad(OpOperand &operand) {
    const Value unpadded = operand.get();
    Value &paddedValue = padded[unpadded];
    if (!paddedValue) {
      auto cast = unpadded.getDefiningOp<CastOp>();
      const RankedTensorType type = withChannels(tensorTypeOf(unpadded));
      OpBuilder b(operand.getOwner());
      if (cast)
        b.setInsertionPoint(cast);
      else
        b.setInsertionPointAfterValue(unpadded);
      Operation *reason = cast ? cast : operand.getOwner();
      const Value source = cast ? cast.getX() : unpadded;
      auto layer = reason->getAttrOfType<StringAttr>("layer");
      auto padding = ZeroPadOp::create(
          b, reason->getLoc(),
          RankedTensorType::get(type.getShape(), elementTypeOf(source)), source,
          layer, noOffsets(type, b));
      Origin::of(reason).mark(padding);
      paddedValue = padding;
      if (cast) {
        paddedValue = CastOp::create(b, cast.getLoc(), type, padding, layer);
        Origin::of(cast).mark(paddedValue.getDefiningOp());
      }
    }
    operand.set(paddedValue);
  }

  void sliceGradient(ConvolutionBackwardWeightsOp op) {
    const RankedTensorType type = tensorTypeOf(op.getDw());
    op.getDw().setType(withChannels(type));
    OpBuilder b(op);
    b.setInsertionPointAfter(op);
    auto slice = SubviewOp::create(b, op.getLoc(), type, op.getDw(),
                                   op.getLayerAttr(), noOffsets(type, b));
    Origin::of(op).mark(slice);
    op.getDw().replaceAllUsesExcept(slice, slice);
  }

  ProgramOp program;
  ArrayRef<std::string> noLibrary;
  llvm::DenseSet<StringAttr> layersWithDataGradient;
  llvm::DenseMap<Value, Value> padded;
};

struct PadChannels : brew::passes::impl::PadChannelsBase<PadChannels> {
  using PadChannelsBase::PadChannelsBase;

  void runOnOperation() override {
    SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    ProgramOp program = getOperation();
    if (brew::dialects::target::isForGpu(program))
      ChannelPadder(program, disabled).run();
  }
};

} // namespace
