//===- DenseBlock.cpp - Dense blocks of forks for DenseNet ----------------===//

#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/elementwise/Neuron.h"
#include "dialects/Brew/layers/normalization/Normalization.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;
using llvm::APFloat;
using mlir::Value;

namespace brew::prototxt {

namespace {

/// Builds the operations of a dense block. The forks' convolutions reverse
/// their filters, unlike Caffe's. So the operations in between compute the
/// block of the reversed images.
class DenseBlockBuilder {
public:
  explicit DenseBlockBuilder(LayerBuilder &l)
      : l(l), settings(l.layer.denseblock_param()) {}

  void build();

private:
  /// Kinds of parameters, in the order of denseBlockParams(). The kinds of the
  /// bottleneck's 1 x 1 convolution follow in the same order.
  enum ParamKind { kFilter, kScale, kBias, kMean, kVariance, kKinds };

  int paramIndex(int kind) const {
    return kind * settings.numtransition() + transition;
  }
  Value param(int kind) const { return l.params[paramIndex(kind)]; }

  /// Creates an operation without a top.
  template <typename Op>
  Op addOp(mlir::ValueRange operands, mlir::TypeRange saved = {}) {
    llvm::SmallVector<mlir::Type> results = {l.blobType};
    llvm::append_range(results, saved);
    Op op = Op::create(l.b, l.loc, results, operands);
    l.setTops(op, 0, 0);
    return op;
  }
  Value addNormalization(Value x, int firstKind);
  Value addConvolution(Value x, Value weights, int outputs, int size);
  Value addActivated(Value x, int firstKind);
  Value addDropout(Value x);

  LayerBuilder &l;
  const caffe::DenseBlockParameter &settings;
  int transition = 0;
};

} // namespace

Value DenseBlockBuilder::addNormalization(Value x, int firstKind) {
  const APFloat eps(1e-5F); // cuDNN's minimum
  const int mean = firstKind + kMean, variance = firstKind + kVariance;
  if (l.phase != caffe::TRAIN) {
    auto op = addOp<BatchNormGlobalOp>({x, param(mean), param(variance)});
    op.setEps(eps);
    return op.getY();
  }
  auto op = addOp<BatchNormOp>({x, param(mean), param(variance)}, l.types(3));
  op.setEps(eps);
  op.setFraction(APFloat(1 - settings.moving_average_fraction()));
  op.setBlend(true);
  op.setUnbiased(true);
  l.storeParam(paramIndex(mean), op.getNext()[0]);
  l.storeParam(paramIndex(variance), op.getNext()[1]);
  return op.getY();
}

/// Builds normalization, scale, bias and ReLU.
Value DenseBlockBuilder::addActivated(Value x, int firstKind) {
  Value normalized = addNormalization(x, firstKind);
  auto setFileRank = [&](mlir::Operation *op) {
    op->setAttr(kFileRankAttr, l.b.getI64IntegerAttr(4));
  };
  setFileRank(normalized.getDefiningOp());
  auto scale = addOp<ScaleOp>(
      {normalized, param(firstKind + kScale), param(firstKind + kBias)});
  scale.setAxis(1);
  scale.setNumAxes(1);
  setFileRank(scale);
  auto relu = addOp<ReLUOp>({scale.getY()});
  relu.setNegativeSlope(APFloat(0.0F));
  return relu.getY();
}

Value DenseBlockBuilder::addConvolution(Value x, Value weights, int outputs,
                                        int size) {
  auto op = addOp<ConvolutionOp>({x, weights});
  op.setNumOutput(outputs);
  op.setGroup(1);
  op.setKernel({size});
  op.setStride({1});
  op.setPad({size / 2});
  op.setDilation({1});
  return op.getY();
}

Value DenseBlockBuilder::addDropout(Value x) {
  // Each transition has its own random numbers.
  auto op = addOp<DropoutOp>({x, l.randomKey(transition)});
  op.setRatio(APFloat(settings.dropout_amount()));
  return op.getY();
}

void DenseBlockBuilder::build() {
  const int count = settings.numtransition(), growth = settings.growthrate();
  // Nothing reads the last parameter; the operation has its shape.
  addOp<ParameterOp>({l.params.back()}).setDims({1});
  const int64_t imageAxes[] = {2, 3};
  auto reversed = l.firstOp<ReverseOp>(0, l.bottoms[0]);
  reversed.setAxes(imageAxes);
  Value x = reversed.getY();
  for (transition = 0; transition < count; ++transition) {
    Value y = addActivated(x, 0);
    if (settings.use_bc())
      y = addActivated(
          addConvolution(y, param(kKinds + kFilter), 4 * growth, 1), kKinds);
    y = addConvolution(y, param(kFilter), growth, 3);
    if (settings.use_dropout() && settings.dropout_amount() > 0 &&
        l.phase == caffe::TRAIN)
      y = addDropout(y);
    auto concat = addOp<ConcatOp>({x, y});
    concat.setAxis(1);
    x = concat.getY();
  }
  l.lastOp<ReverseOp>(0, x).setAxes(imageAxes);
}

static void buildDenseBlock(LayerBuilder &l) { DenseBlockBuilder(l).build(); }

BuildFunctions denseBlockFunctions() {
  return {{"DenseBlock", buildDenseBlock}};
}

} // namespace brew::prototxt
