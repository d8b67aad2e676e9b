//===- AssignLayout.cpp - Memory layout of activations and weights --------===//
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/precision/Precision.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/fused/NestTypes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace brew::passes {
#define GEN_PASS_DEF_ASSIGNLAYOUT
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::target::BlobLayout;

namespace {

constexpr int64_t kChannelsLast[] = {0, 2, 3, 1};
/// Memory order of weights [outputs, channels, ...] with the outputs innermost.
constexpr int64_t kOutputsLast[] = {1, 2, 3, 0};

struct AssignLayout : brew::passes::impl::AssignLayoutBase<AssignLayout> {
  using AssignLayoutBase::AssignLayoutBase;

  bool wantsChannelsLast() {
    if (layout != BlobLayout::Auto)
      return layout == BlobLayout::NHWC;
    auto library = brew::dialects::target::libraryOf(getOperation());
    if (!library.getChannelsLast() && !library.isFasterIn(precision))
      return false;
    SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    // Generated convolutions on a CPU read vectors of channels, too.
    const bool isForGpu = brew::dialects::target::isForGpu(getOperation());
    bool hasConvolution = false;
    getOperation().walk([&](Operation *op) {
      // Only tensors of rank 4 have a choice of layouts.
      hasConvolution |= isa<ConvolutionOp, ConvolutionSumOp>(op) &&
                        shapeOf(op->getOperand(0)).size() == 4 &&
                        (!isForGpu || brew::passes::usesLibrary(op, disabled));
    });
    return hasConvolution;
  }

  /// Makes activations and their gradients channels-last. Views stay row-major,
  /// as their semantics require; so do the bottoms of inner products and their
  /// gradients without `order-weights`.
  void layOutBlobs(ProgramOp program) {
    program.walk([this](Operation *op) {
      if (isa<ReinterpretOp, tensor::EmptyOp, linalg::FillOp>(op) ||
          (!orderWeights && isa<InnerProductBackwardDataOp>(op)) ||
          op->hasTrait<IsPersistentRead>())
        return;
      for (Value result : op->getResults()) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        if (!type || type.getRank() != 4)
          continue;
        bool hasViews = isViewed(result);
        // A weight gradient has the layout of its parameter.
        bool isWeight = isa<SolverUpdateInterface>(op) ||
                        isWeightGradient(op) ||
                        llvm::any_of(result.getUsers(), [](Operation *user) {
                          return user->hasTrait<IsStore>();
                        });
        if (!hasViews && !isWeight)
          result.setType(withMemoryOrder(type, kChannelsLast));
      }
    });
    program.walk([](linalg::GenericOp nest) {
      for (OpResult result : nest->getResults())
        brew::passes::setResultType(result, result.getType());
    });
  }

  /// Returns whether a view, directly or through a cast, or an inner product
  /// with weights in Caffe's order reads the value.
  bool isViewed(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<ReinterpretOp>(user) ||
             (!orderWeights &&
              isa<InnerProductOp, InnerProductBackwardWeightsOp>(user)) ||
             (isa<CastOp>(user) && isViewed(user->getResult(0)));
    });
  }

  /// Returns whether `op` computes an f32 weight gradient, or a sum of them.
  /// Narrow gradients are excluded: like narrow copies of weights they are
  /// operands of calls, which require the same layout for all operands, and a
  /// cast costs the same between any two layouts.
  static bool isWeightGradient(Operation *op) {
    if (isa_and_nonnull<CastOp, UnscaleOp>(op))
      return elementTypeOf(op->getResult(0)).isF32() &&
             isProductByWeights(castSource(op->getOperand(0)).getDefiningOp());
    if (auto nest = dyn_cast_or_null<linalg::GenericOp>(op))
      return !nest.getInputs().empty() &&
             llvm::all_of(nest.getInputs(), [](Value input) {
               return isWeightGradient(input.getDefiningOp());
             });
    return isProductByWeights(op) &&
           !isNarrowFloat(elementTypeOf(op->getResult(0)));
  }
  static bool isProductByWeights(Operation *op) {
    return isa_and_nonnull<ConvolutionBackwardWeightsOp,
                           InnerProductBackwardWeightsOp>(op);
  }

  /// Returns the operation that reads the parameter `w`, through casts, or null
  /// if `w` is not a parameter.
  static ParamValueOp parameterReadOf(Value w) {
    return castSource(w).getDefiningOp<ParamValueOp>();
  }

  /// Splits the flattened dimension of inner-product weights into the
  /// dimensions of the bottom, in the bottom's memory order. Vendor calls
  /// require it, and a channels-last bottom then needs no transpose.
  void splitWeights() {
    SymbolTable symbols(getOperation());
    llvm::DenseMap<StringAttr, RankedTensorType> splitTypes;
    getOperation().walk([&](InnerProductOp op) {
      auto x = tensorTypeOf(op.getX());
      ParamValueOp read = parameterReadOf(op.getW());
      int64_t axis = op.getAxis(), outputs = op.getNumOutput();
      int64_t foldedDims = x.getRank() - axis;
      if (foldedDims == 1 || !read)
        return;
      // Dimension `dim` of x becomes dim - axis, after the outputs unless
      // transposed.
      int64_t first = op.getTranspose() ? 0 : 1;
      SmallVector<int64_t> shape(x.getShape().drop_front(axis)), order;
      for (int64_t dim : memoryOrder(x))
        if (dim >= axis)
          order.push_back(dim - axis + first);
      shape.insert(first ? shape.begin() : shape.end(), outputs);
      order.insert(first ? order.begin() : order.end(), first ? 0 : foldedDims);
      splitTypes[read.getParamAttr().getAttr()] = withMemoryOrder(
          RankedTensorType::get(shape, elementTypeOf(read)), order);
    });
    // A parameter has one type for all layers that read it; if they need
    // different types, it keeps Caffe's.
    getOperation().walk([&](InnerProductOp op) {
      ParamValueOp read = parameterReadOf(op.getW());
      if (!read)
        return;
      auto it = splitTypes.find(read.getParamAttr().getAttr());
      if (it == splitTypes.end())
        return;
      ArrayRef<int64_t> x = shapeOf(op.getX());
      ArrayRef<int64_t> k = it->second.getShape();
      k = op.getTranspose() ? k.drop_back() : k.drop_front();
      if (x.drop_front(op.getAxis()) != k)
        splitTypes.erase(it);
    });
    for (auto [name, type] : splitTypes)
      setParamType(symbols.lookup<ParamOp>(name), type);
  }

  /// Returns whether `use` is the weight operand of a vendor convolution.
  bool isWeightsOfCall(OpOperand &use) {
    SmallVector<std::string> disabled(noLibrary.begin(), noLibrary.end());
    Operation *op = use.getOwner();
    return isa<ConvolutionOp, ConvolutionSumOp, ConvolutionBackwardDataOp,
               DeconvolutionOp>(op) &&
           use.getOperandNumber() == 1 && shapeOf(use.get()).size() == 4 &&
           brew::passes::usesLibrary(cast<LibraryInterface>(op), disabled);
  }

  /// Makes weights of channels-last convolutions channels-last too, as tensor
  /// cores require. Narrow copies get this layout like blobs; if calls read the
  /// parameters directly (tf32), the parameters get it, unless something else
  /// reads them.
  void layOutWeights() {
    llvm::MapVector<StringAttr, bool> canChange;
    getOperation().walk([&](Operation *op) {
      auto symbol = op->getAttrOfType<FlatSymbolRefAttr>("param");
      if (!symbol)
        return;
      auto &allowed =
          canChange.try_emplace(symbol.getAttr(), true).first->second;
      if (auto read = dyn_cast<ParamValueOp>(op))
        for (OpOperand &use : read->getUses())
          allowed &= isWeightsOfCall(use) ||
                     isa<SolverUpdateInterface>(use.getOwner());
      // Parameters that `prepare` computes have the layout of their source.
      if (auto store = dyn_cast<StoreParamOp>(op))
        allowed &= isa_and_nonnull<SolverUpdateInterface>(
            store.getValue().getDefiningOp());
    });
    SymbolTable symbols(getOperation());
    for (auto [name, allowed] : canChange) {
      auto param = symbols.lookup<ParamOp>(name);
      auto type = cast<RankedTensorType>(param.getType());
      if (allowed && type.getRank() == 4)
        setParamType(param, withMemoryOrder(type, kChannelsLast));
    }
  }

  /// On a CPU, lays out weights of few channels with the outputs innermost, so
  /// that generated code can load vectors of them. The library reorders all
  /// weights internally, and these are small. The choice does not depend on
  /// blob shapes, because plans with different shapes share parameters.
  void layOutThinWeights() {
    auto isThin = [](OpOperand &use) {
      Operation *op = use.getOwner();
      return isa<ConvolutionOp, ConvolutionSumOp, ConvolutionBackwardDataOp>(
                 op) &&
             use.getOperandNumber() == 1 && shapeOf(use.get()).size() == 4 &&
             shapeOf(use.get())[1] <= brew::passes::kFewChannels;
    };
    // Nests read and write weights in any order.
    std::function<bool(Value)> areThin = [&](Value weights) {
      return !weights.use_empty() &&
             llvm::all_of(weights.getUses(), [&](OpOperand &use) {
               Operation *user = use.getOwner();
               return isThin(use) ||
                      isa<SolverUpdateInterface, linalg::GenericOp>(user) ||
                      (isa<CastOp>(user) && areThin(user->getResult(0)));
             });
    };
    std::function<bool(Value)> hasCalls = [&](Value weights) {
      return llvm::any_of(weights.getUsers(), [&](Operation *user) {
        return isa<ConvolutionOp, ConvolutionSumOp>(user) ||
               (isa<CastOp>(user) && hasCalls(user->getResult(0)));
      });
    };
    llvm::MapVector<StringAttr, bool> canChange;
    llvm::DenseSet<StringAttr> readByCalls;
    getOperation().walk([&](Operation *op) {
      auto symbol = op->getAttrOfType<FlatSymbolRefAttr>("param");
      if (!symbol)
        return;
      bool &allowed =
          canChange.try_emplace(symbol.getAttr(), true).first->second;
      if (auto read = dyn_cast<ParamValueOp>(op)) {
        allowed &= areThin(read);
        if (hasCalls(read))
          readByCalls.insert(symbol.getAttr());
      } else if (auto store = dyn_cast<StoreParamOp>(op)) {
        allowed &= isa_and_nonnull<SolverUpdateInterface, linalg::GenericOp>(
            store.getValue().getDefiningOp());
      }
    });
    SymbolTable symbols(getOperation());
    for (auto [name, allowed] : canChange) {
      auto param = symbols.lookup<ParamOp>(name);
      auto type = cast<RankedTensorType>(param.getType());
      if (allowed && readByCalls.contains(name) && type.getRank() == 4)
        setParamType(param, withMemoryOrder(type, kOutputsLast));
    }
  }

  /// Changes the type of a parameter, its gradient and its solver state
  /// everywhere.
  void setParamType(ParamOp param, RankedTensorType type) {
    param.setType(type);
    StringAttr name = param.getSymNameAttr();
    getOperation().walk([&](Operation *op) {
      auto symbol = op->getAttrOfType<FlatSymbolRefAttr>("param");
      if (!symbol || symbol.getAttr() != name)
        return;
      if (op->getNumResults()) {
        op->getResult(0).setType(type);
        retypeCopies(op->getResult(0));
      } else if (isa<StoreParamOp>(op) &&
                 isa<linalg::GenericOp>(op->getOperand(0).getDefiningOp())) {
        // The value is a result of `prepare`.
        brew::passes::setResultType(cast<OpResult>(op->getOperand(0)), type);
      } else {
        retype(op->getOperand(0), type);
      }
    });
  }

  static RankedTensorType withElementOf(RankedTensorType type, Value value) {
    return RankedTensorType::get(type.getShape(), elementTypeOf(value),
                                 type.getEncoding());
  }

  /// Propagates the type of a parameter's value to its casts.
  static void retypeCopies(Value value) {
    for (Operation *user : value.getUsers())
      if (auto cast = dyn_cast<CastOp>(user)) {
        cast.getY().setType(withElementOf(tensorTypeOf(value), cast.getY()));
        retypeCopies(cast.getY());
      }
  }

  /// Propagates the type of a stored value to its producers.
  static void retype(Value value, RankedTensorType type) {
    if (value.getType() == type)
      return;
    value.setType(type);
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<CastOp, UnscaleOp, SelectIfZeroOp>(op)) {
      // Scalar operands have no layout.
      for (Value operand : op->getOperands())
        if (tensorTypeOf(operand).getRank())
          retype(operand, withElementOf(type, operand));
      return;
    }
    if (isa_and_nonnull<SolverUpdateInterface>(op)) {
      for (Value result : op->getResults())
        result.setType(type);
    } else if (auto nest = dyn_cast_or_null<linalg::GenericOp>(op)) {
      // The nest is a sum of gradients of one parameter.
      for (Value input : nest.getInputs())
        retype(input, type);
      brew::passes::setResultType(cast<OpResult>(value), type);
      // Create one loop per dimension, since the rank may have grown.
      OpBuilder b(nest);
      nest.setIndexingMapsAttr(b.getAffineMapArrayAttr(SmallVector<AffineMap>(
          nest->getNumOperands(), b.getMultiDimIdentityMap(type.getRank()))));
      nest.setIteratorTypesAttr(b.getArrayAttr(SmallVector<Attribute>(
          type.getRank(), linalg::IteratorTypeAttr::get(
                              b.getContext(), utils::IteratorType::parallel))));
    }
  }

  void runOnOperation() override {
    if (wantsChannelsLast()) {
      for (auto program : getOperation().getOps<ProgramOp>())
        layOutBlobs(program);
      if (precision == brew::dialects::target::Precision::TF32)
        layOutWeights();
      else if (orderWeights &&
               !brew::dialects::target::isForGpu(getOperation()))
        layOutThinWeights();
    }
    splitWeights();
  }
};

} // namespace
