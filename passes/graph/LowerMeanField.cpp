//===- LowerMeanField.cpp - Lowering of mean-field inference --------------===//
//
// As in CRF-RNN, the iterations of the inference are the time steps of a
// recurrent net.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/recurrent/Recurrent.h"
#include "passes/graph/RecurrentLowering.h"

using namespace mlir;
using namespace brew::dialects;
using namespace brew::passes;

namespace {

/// Builds the operations of the iterations of one layer.
class MeanFieldSteps {
public:
  explicit MeanFieldSteps(MeanFieldOp op)
      : b(op), op(op), l(b, op), type(op.getY().getType()),
        spatialWeights(matrix(op.getSpatialWeights())),
        bilateralWeights(matrix(op.getBilateralWeights())),
        compatibility(matrix(op.getCompatibility())) {}

  void lower();

private:
  /// Returns a parameter [1, 1, C, C] as the weights of a convolution.
  Value matrix(Value weights) {
    const int64_t classes = shapeOf(weights)[3];
    return l.reshape(weights, {classes, classes, 1, 1});
  }
  /// Returns the product of the matrix and the channels of each pixel.
  Value multiply(Value weights, Value x);
  /// Returns the messages of the pixels' neighbours.
  Value pairwise(Value probabilities);
  /// Returns the prototxt's propagate_down of a bottom for operand 0 of an
  /// operation, or nothing if it has none.
  SmallVector<NamedAttribute> propagateDown(int64_t bottom) {
    if (!op.getPropagateDown())
      return {};
    return {l.propagateDownAttr(propagatesTo(op, bottom))};
  }

  OpBuilder b;
  MeanFieldOp op;
  LayerCreator l;
  Type type;
  Value spatialWeights, bilateralWeights, compatibility;
};

} // namespace

Value MeanFieldSteps::multiply(Value weights, Value x) {
  return l
      .create("convolution", {x, weights}, type,
              {l.integerAttr("num_output", shapeOf(weights)[0]),
               l.integerAttr("group", 1), l.integersAttr("kernel", {1, 1}),
               l.integersAttr("stride", {1, 1}), l.integersAttr("pad", {0, 0}),
               l.integersAttr("dilation", {1, 1})})
      ->getResult(0);
}

Value MeanFieldSteps::pairwise(Value probabilities) {
  // The image is operand 0, and has no gradient.
  SmallVector<NamedAttribute> attributes = {
      b.getNamedAttr("kind", b.getStringAttr("MultiStageMeanfield")),
      b.getNamedAttr("settings", op.getSettingsAttr()),
      b.getNamedAttr("param_str", b.getStringAttr("")),
      l.propagateDownAttr({false})};
  if (op.getTestPhase())
    attributes.push_back(b.getNamedAttr("test_phase", b.getUnitAttr()));
  Operation *filter = l.create("host_layer", {op.getImage(), probabilities},
                               {type, type}, attributes);
  return multiply(compatibility,
                  l.sum({multiply(spatialWeights, filter->getResult(0)),
                         multiply(bilateralWeights, filter->getResult(1))}));
}

void MeanFieldSteps::lower() {
  const int64_t iterations = op.getIterations();
  Value q = op.getStart();
  for (int64_t i = 0; i < iterations; ++i) {
    SmallVector<NamedAttribute> attributes;
    if (i == 0)
      attributes = propagateDown(1);
    attributes.push_back(l.integerAttr("axis", 1));
    Value messages =
        pairwise(l.create("softmax", q, type, attributes)->getResult(0));
    attributes = propagateDown(0);
    if (i + 1 == iterations)
      attributes.append(l.firstTop());
    q = l.sum({op.getUnary(), messages}, {1, -1}, attributes);
  }
  op.getY().replaceAllUsesWith(q);
  op.erase();
}

void brew::passes::lowerMeanField(MeanFieldOp op) {
  MeanFieldSteps(op).lower();
}
