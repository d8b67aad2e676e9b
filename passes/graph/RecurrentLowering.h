//===- RecurrentLowering.h - Helpers of brew-lower-recurrent ----*- C++ -*-===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/Builders.h"

namespace brew::dialects {
class ConvLSTMOp;
class MeanFieldOp;
} // namespace brew::dialects

namespace brew::passes {

/// Creates layer operations by name, with the common attributes.
class LayerCreator {
public:
  LayerCreator(mlir::OpBuilder &b, mlir::Operation *layer)
      : b(b), layer(layer) {}

  mlir::Operation *create(mlir::StringRef name, mlir::ValueRange operands,
                          mlir::TypeRange types,
                          mlir::ArrayRef<mlir::NamedAttribute> attributes);
  mlir::NamedAttribute integerAttr(mlir::StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute integersAttr(mlir::StringRef name,
                                    mlir::ArrayRef<int64_t> values) {
    return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values));
  }
  mlir::NamedAttribute propagateDownAttr(mlir::ArrayRef<bool> flags) {
    return b.getNamedAttr("propagate_down", b.getDenseBoolArrayAttr(flags));
  }

  /// Returns x . w^T (+ bias), contracting the dimensions from `axis` on.
  mlir::Value product(mlir::Value x, mlir::ValueRange weights, int64_t axis,
                      bool propagates);
  /// Adds `row`, which is the same for all time steps: x [T, N, ...], row
  /// [N, ...].
  mlir::Value addToEachStep(mlir::Value x, mlir::Value row);
  /// Returns the sum of blobs of one shape, with these weights (default: 1).
  /// `attributes` replace the attributes that an operation without a top has.
  mlir::Value sum(mlir::ValueRange xs, mlir::ArrayRef<float> weights = {},
                  mlir::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// Returns the elements of x under another shape.
  mlir::Value reshape(mlir::Value x, mlir::ArrayRef<int64_t> shape);

  /// Returns the tops and the loss weights that belong to the first top of the
  /// layer.
  mlir::SmallVector<mlir::NamedAttribute> firstTop();

  mlir::OpBuilder &b;
  mlir::Operation *layer;
};

/// Returns whether the layer may propagate a gradient to a bottom.
bool propagatesTo(mlir::Operation *layer, int64_t bottom);

/// Returns persistent state, initially zero. Weight files and solvers do not
/// see it as a parameter.
mlir::Value persistentState(mlir::Operation *op, mlir::OpBuilder &b,
                            int64_t number, mlir::Type type);

/// Creates a split of a state that is exposed as a bottom or top of the layer;
/// `blob` names the bottom or top. No gradient passes it unless
/// `exactGradients`.
mlir::Operation *splitExposed(LayerCreator &l, mlir::Value state,
                              const mlir::Twine &blob, bool exactGradients);

/// Replaces a recurrent layer by its first top, `y`, and by the states after
/// the last step. `before` are those before the first step.
template <typename Op>
void replaceRecurrent(Op op, LayerCreator &l,
                      mlir::ArrayRef<mlir::Value> before, mlir::Value y,
                      mlir::ArrayRef<mlir::Value> states, bool exactGradients) {
  op.getOutputs()[0].replaceAllUsesWith(y);
  if (op.getExposeHidden()) {
    for (auto [i, state] : llvm::enumerate(states)) {
      // Create a separate top, which has its own name and loss weight.
      auto name = mlir::cast<mlir::StringAttr>(op.getTops()[i + 1]).getValue();
      mlir::Operation *top =
          splitExposed(l, state, "top '" + name + "'", exactGradients);
      top->setAttr("tops", l.b.getStrArrayAttr(name));
      if (auto weights = op.getLossWeights())
        top->setAttr("loss_weights",
                     l.b.getDenseF32ArrayAttr((*weights)[i + 1]));
      op.getOutputs()[i + 1].replaceAllUsesWith(top->getResult(0));
    }
  } else {
    for (auto [old, state] : llvm::zip(before, states))
      dialects::StoreParamOp::create(
          l.b, op.getLoc(), state,
          mlir::Value(old)
              .template getDefiningOp<dialects::ParamValueOp>()
              .getParamAttr());
  }
  op.erase();
}

void lowerConvLstm(dialects::ConvLSTMOp op);
void lowerMeanField(dialects::MeanFieldOp op);

} // namespace brew::passes
