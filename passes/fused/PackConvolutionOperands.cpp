//===- PackConvolutionOperands.cpp - Operands of generated convolutions ---===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/convolution/ConvolutionShapes.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/analysis/LibraryCalls.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_PACKCONVOLUTIONOPERANDS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Memory orders of weights [outputs, channels, rows, columns], and of weights
/// with blocks of outputs or channels.
constexpr int64_t kOutputsInnermost[] = {2, 3, 1, 0},
                  kChannelsInnermost[] = {2, 3, 0, 1},
                  kOutputBlocks[] = {0, 3, 4, 2, 1},
                  kChannelBlocks[] = {1, 3, 4, 0, 2};
/// Maximum number of outputs or channels in a block: as many as generated code
/// accumulates at once.
constexpr int64_t kMaxBlock = 64;
/// Blocks have a multiple of the elements of the widest vector.
constexpr int64_t kBlockStep = 16;

/// Packs the operands of one operation.
class OperandPacker {
public:
  explicit OperandPacker(Operation *op)
      : op(op), b(op), layer(op->getAttrOfType<StringAttr>("layer")) {}

  /// Packs a convolution from x to y, or its gradient with respect to the
  /// weights: the bottom is padded.
  template <typename Op> void packForward(Op convolution, Value y) {
    ConvolutionShapes shapes(convolution, shapeOf(convolution.getX()),
                             shapeOf(y), convolution.getGroup());
    if (hasSmallGroups(shapes))
      return;
    SmallVector<int64_t> before, extents;
    for (const WindowAxis &axis : shapes.axes) {
      before.push_back(axis.pad);
      extents.push_back(
          std::max((axis.out - 1) * axis.stride + axis.dilatedKernel(),
                   axis.pad + axis.in));
    }
    if (pad(before, extents))
      convolution.setPad(SmallVector<int64_t>(before.size(), 0));
    if (!isa<ConvolutionBackwardWeightsOp>(op))
      packWeights(shapes.k / shapes.group, 0, kOutputsInnermost, kOutputBlocks);
  }

  /// Packs the gradient `dx` of a convolution from its gradient `dy`, which is
  /// padded such that every tap of the kernel has an element of it.
  template <typename Op> void packBackward(Op gradient, Value dx, Value dy) {
    ConvolutionShapes shapes(gradient, shapeOf(dx), shapeOf(dy),
                             gradient.getGroup());
    if (hasSmallGroups(shapes))
      return;
    packWeights(shapes.c / shapes.group, 1, kChannelsInnermost, kChannelBlocks);
    SmallVector<int64_t> before, extents, pads;
    for (const WindowAxis &axis : shapes.axes) {
      // With a stride, not every tap has an element of the gradient.
      const int64_t reach = axis.dilatedKernel() - 1;
      if (axis.stride != 1 || axis.pad > reach)
        return;
      before.push_back(reach - axis.pad);
      extents.push_back(std::max(axis.in + reach, before.back() + axis.out));
      pads.push_back(reach);
    }
    if (pad(before, extents))
      gradient.setPad(pads);
  }

private:
  /// With so few channels in a group, vectors span groups, and blocks of one
  /// group's channels do not help.
  static bool hasSmallGroups(const ConvolutionShapes &shapes) {
    return shapes.group > 1 &&
           shapes.c / shapes.group <= brew::passes::kFewChannels;
  }

  /// Replaces the blob, [N, C, H, W], by one with the spatial extents `extents`
  /// that has `before` zeros before the elements. Returns false if it has these
  /// extents already.
  bool pad(ArrayRef<int64_t> before, ArrayRef<int64_t> extents) {
    const RankedTensorType type = tensorTypeOf(op->getOperand(0));
    if (type.getShape().drop_front(2) == extents)
      return false;
    SmallVector<int64_t> shape(type.getShape()), offsets(2, 0);
    llvm::copy(extents, shape.begin() + 2);
    offsets.append(before.begin(), before.end());
    auto padding = ZeroPadOp::create(
        b, op->getLoc(),
        RankedTensorType::get(shape, type.getElementType(), type.getEncoding()),
        op->getOperand(0), layer, b.getDenseI64ArrayAttr(offsets));
    Origin::of(op).mark(padding);
    op->setOperand(0, padding);
    return true;
  }

  /// Returns the size of blocks of `count` outputs or channels of a group; 1
  /// if a single block is as good.
  static int64_t blockOf(int64_t count) {
    for (int64_t block = kMaxBlock; block > 0 && count > kMaxBlock;
         block -= kBlockStep)
      if (count % block == 0)
        return block;
    return 1;
  }

  /// Replaces the weights by a copy that divides dimension `dim`, the `count`
  /// outputs or channels of a group, into blocks, and has the memory order
  /// `blocks`; or by a copy with the order `plain`, if there are no blocks.
  void packWeights(int64_t count, int64_t dim, ArrayRef<int64_t> plain,
                   ArrayRef<int64_t> blocks) {
    const Value weights = op->getOperand(1);
    const RankedTensorType type = tensorTypeOf(weights);
    const int64_t block = blockOf(count);
    if (block == 1 && memoryOrder(type).back() == dim)
      return;
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<AffineExpr> position;
    for (int64_t i = 0; i < type.getRank(); ++i)
      position.push_back(b.getAffineDimExpr(i + (block > 1 && i > dim)));
    if (block > 1) {
      position[dim] =
          b.getAffineDimExpr(dim) * block + b.getAffineDimExpr(dim + 1);
      shape[dim] /= block;
      shape.insert(shape.begin() + dim + 1, block);
    }
    const RankedTensorType packed =
        withMemoryOrder(RankedTensorType::get(shape, type.getElementType()),
                        block > 1 ? blocks : plain);
    NestBuilder nest(b, op->getLoc(), shape);
    nest.input(weights,
               AffineMap::get(shape.size(), 0, position, b.getContext()));
    nest.output(packed, iota(shape.size()));
    const Value copy =
        nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.in[0]};
        })[0];
    Origin::of(op).mark(copy.getDefiningOp());
    op->setOperand(1, copy);
  }

  Operation *op;
  OpBuilder b;
  StringAttr layer;
};

struct PackConvolutionOperands
    : brew::passes::impl::PackConvolutionOperandsBase<PackConvolutionOperands> {
  using PackConvolutionOperandsBase::PackConvolutionOperandsBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (failed(brew::passes::requireShapes(program)))
      return signalPassFailure();
    if (brew::dialects::target::isForGpu(program))
      return;
    SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    program.walk([&](Operation *op) {
      if (!isa<ConvolutionOp, ConvolutionSumOp, ConvolutionBackwardWeightsOp,
               ConvolutionBackwardDataOp, DeconvolutionOp>(op) ||
          brew::passes::usesLibrary(op, disabled) ||
          shapeOf(op->getOperand(0)).size() != 4 ||
          op->getAttrOfType<DenseI64ArrayAttr>("kernel").size() != 2)
        return;
      OperandPacker packer(op);
      llvm::TypeSwitch<Operation *>(op)
          .Case<ConvolutionOp, ConvolutionSumOp>(
              [&](auto op) { packer.packForward(op, op.getY()); })
          .Case([&](ConvolutionBackwardWeightsOp op) {
            packer.packForward(op, op.getDy());
          })
          .Case([&](ConvolutionBackwardDataOp op) {
            packer.packBackward(op, op.getDx(), op.getDy());
          })
          .Case([&](DeconvolutionOp op) {
            packer.packBackward(op, op.getY(), op.getX());
          });
    });
  }
};

} // namespace
