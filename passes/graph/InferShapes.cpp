//===- InferShapes.cpp - Static shapes of blobs and parameters ------------===//
#include "dialects/Brew/BrewDialect.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

#include <climits>

namespace brew::passes {
#define GEN_PASS_DEF_INFERSHAPES
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + ")";
}

/// Returns the shape of a parameter in weight files. A layer with the attribute
/// kFileRankAttr pads it with ones: rank 4 turns (C) into (1, C, 1, 1).
SmallVector<int64_t> fileShape(Operation *layer, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dims(shape);
  if (auto rank = layer->getAttrOfType<IntegerAttr>(kFileRankAttr)) {
    dims.insert(dims.begin(), 1);
    dims.resize(rank.getInt(), 1);
  }
  return dims;
}

/// Sets the shape of the parameter that `read` reads, or checks it against the
/// shape that an earlier layer set.
LogicalResult setParamShape(Operation *layer, ParamValueOp read,
                            ArrayRef<int64_t> shape, SymbolTable &symbols) {
  auto param = symbols.lookup<ParamOp>(read.getParam());
  Type element = elementTypeOf(read.getResult());
  auto layerType = RankedTensorType::get(shape, element);
  auto paramType = dyn_cast<RankedTensorType>(param.getType());
  if (!paramType) {
    param.setType(layerType);
    param.setFileDims(fileShape(layer, shape));
    read.getResult().setType(layerType);
    return success();
  }
  read.getResult().setType(paramType);
  if (paramType == layerType)
    return success();
  if (countOf(paramType.getShape()) != countOf(shape) ||
      (param.getSharedName() && !param.getPermissive())) {
    auto diagnostic = layerError(layer)
                      << "shares parameter '"
                      << param.getSharedName().value_or(param.getSymName())
                      << "' but needs it as " << shapeText(shape) << ", not as "
                      << shapeText(paramType.getShape());
    diagnostic.attachNote(param.getLoc())
        << "layer '" << param.getLayer() << "' owns the parameter";
    return diagnostic;
  }
  // PERMISSIVE sharing: the same elements in this layer's shape.
  OpBuilder b(layer);
  auto view = ReinterpretOp::create(b, layer->getLoc(), layerType, read);
  layer->replaceUsesOfWith(read, view);
  return success();
}

/// Checks that the element count fits an int, as in Caffe. Accepts a parameter
/// without elements: it leads to a top without elements, which is reported.
LogicalResult checkCount(Operation *layer, const char *name,
                         ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim <= 0)
      return success();
    if (dim > INT_MAX / count)
      return layerError(layer) << name << " has shape " << shapeText(shape)
                               << ", of more than 2147483647 elements";
    count *= dim;
  }
  return success();
}

LogicalResult inferLayer(ShapeInterface layer, SymbolTable &symbols) {
  Operation *op = layer;
  Shapes tops, params;
  if (failed(layer.inferShapes(tops, params)))
    return failure();
  unsigned next = 0;
  for (Value operand : op->getOperands())
    if (auto read = operand.getDefiningOp<ParamValueOp>())
      if (next < params.size()) {
        if (failed(checkCount(op, "parameter", params[next])) ||
            failed(setParamShape(op, read, params[next], symbols)))
          return failure();
        ++next;
      }
  for (auto [result, shape] : llvm::zip(op->getResults(), tops)) {
    Type element = elementTypeOf(result);
    for (int64_t dim : shape)
      if (dim <= 0)
        return layerError(op)
               << "top has shape " << shapeText(shape) << ", without elements";
    if (failed(checkCount(op, "top", shape)))
      return failure();
    result.setType(RankedTensorType::get(shape, element));
  }
  return success();
}

struct InferShapes : brew::passes::impl::InferShapesBase<InferShapes> {
  /// Records the name and shape of each blob, and the bytes that Caffe
  /// allocates for blobs.
  void recordBlobs(ProgramOp program) {
    llvm::MapVector<StringRef, RankedTensorType> blobs;
    program.walk([&](Operation *op) {
      if (auto tops = op->getAttrOfType<ArrayAttr>("tops"))
        for (auto [name, result] :
             llvm::zip(tops.getAsRange<StringAttr>(), op->getResults()))
          if (auto type = dyn_cast<RankedTensorType>(result.getType());
              type && !name.getValue().empty()) // unnamed: internal to a layer
            blobs[name.getValue()] = type;
    });
    Builder b(&getContext());
    SmallVector<NamedAttribute> entries;
    int64_t bytes = 0;
    for (auto [name, type] : blobs) {
      entries.push_back(
          b.getNamedAttr(name, b.getDenseI64ArrayAttr(type.getShape())));
      // Data and gradient. An in-place top shares its bottom's blob.
      bytes +=
          2 * countOf(type.getShape()) * (type.getElementTypeBitWidth() / 8);
    }
    program.setBlobsAttr(b.getDictionaryAttr(entries));

    // Collect the parameters by the layer that uses them. A shared parameter
    // appears under every user. A layer may consist of several operations that
    // read the same parameters; the reads are in the order of the layer's
    // blobs.
    llvm::MapVector<StringAttr, llvm::MapVector<Operation *, Attribute>> params;
    program.walk([&](ShapeInterface layer) {
      auto name = layer->getAttrOfType<StringAttr>("layer");
      for (Value operand : layer->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (isa_and_nonnull<ReinterpretOp>(source))
          source = source->getOperand(0).getDefiningOp();
        if (isa_and_nonnull<ParamValueOp>(source))
          params[name].try_emplace(source, b.getDenseI64ArrayAttr(fileShape(
                                               layer, shapeOf(operand))));
      }
    });
    SmallVector<NamedAttribute> layers;
    for (auto &[layer, reads] : params) {
      auto ordered = llvm::to_vector(reads);
      llvm::sort(ordered, [](const auto &x, const auto &y) {
        return x.first->isBeforeInBlock(y.first);
      });
      layers.push_back(b.getNamedAttr(
          layer,
          b.getArrayAttr(llvm::to_vector(llvm::make_second_range(ordered)))));
    }
    program.setParamsAttr(b.getDictionaryAttr(layers));

    program.setCaffeBytes(bytes);
  }

  /// Sets the number of classes of label checks, which is known only now.
  static void setLabelLimits(ProgramOp program) {
    program.walk([](CheckLabelsOp check) {
      if (auto layer = check.getStatus().getDefiningOp<LabelInterface>())
        check.setLimit(layer.labelLimit());
    });
  }

  /// Continues after an error, so that one run reports all of them. Skips
  /// layers that depend on unknown shapes.
  LogicalResult inferProgram(ProgramOp program, SymbolTable &symbols) {
    LogicalResult status = success();
    auto isKnown = [](Value operand) {
      return operand.getDefiningOp<ParamValueOp>() ||
             !isa<UnrankedTensorType>(operand.getType());
    };
    for (Operation &op :
         llvm::make_early_inc_range(program.getBody().front())) {
      if (auto dataInput = dyn_cast<DataInputOp>(op)) {
        if (!llvm::all_of(dataInput.getValues(), isKnown)) {
          layerError(dataInput) << "the shape of its data is not known";
          status = failure();
        }
      } else if (auto layer = dyn_cast<ShapeInterface>(op)) {
        if (llvm::all_of(op.getOperands(), isKnown) &&
            failed(inferLayer(layer, symbols)))
          status = failure();
      }
    }
    return status;
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    bool hasFailed = false;
    for (auto program : getOperation().getOps<ProgramOp>())
      hasFailed |= failed(inferProgram(program, symbols));
    if (hasFailed)
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>()) {
      setLabelLimits(program);
      recordBlobs(program);
    }
  }
};

} // namespace
