//===- External.cpp - Layers and gradients from host code -----------------===//
#include "dialects/Brew/layers/external/External.h"

#include "dialects/Brew/DiagnosticMetadata.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Plan/PlanDialect.h"
#include "formats/Blob.h"

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::Direction;

#define GET_OP_CLASSES
#include "dialects/Brew/layers/external/External.cpp.inc"

void brew::dialects::registerExternalLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/external/External.cpp.inc"
      >();
}

const HostLayerType *BrewDialect::findHostLayer(StringRef name) const {
  if (hostLayers)
    for (const HostLayerType &type : *hostLayers)
      if (type.name == name)
        return &type;
  return findBuiltinHostLayer(name.str());
}

static const HostLayerType *typeOf(HostLayerOp op) {
  return op->getContext()->getLoadedDialect<BrewDialect>()->findHostLayer(
      op.getKind());
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Returns the dimensions of a top that the caller of the compiler provides, or
/// null.
static DenseI64ArrayAttr providedShape(HostLayerOp op, size_t top) {
  ArrayAttr shapes = op.getShapesAttr();
  return shapes && top < shapes.size()
             ? dyn_cast<DenseI64ArrayAttr>(shapes[top])
             : DenseI64ArrayAttr();
}

/// Infers the shapes of the tops by the function of the layer's type.
static LogicalResult
callShapeFunction(HostLayerOp op, const HostLayerType &type, Shapes &tops) {
  SmallVector<SmallVector<int64_t>> bottoms;
  for (Value x : op.getXs())
    bottoms.emplace_back(shapeOf(x));
  HostLayerSetup setup;
  setup.type = op.getKind().str();
  setup.layer = op.getLayer().str();
  setup.settings = op.getSettings().str();
  setup.paramStr = op.getParamStr().str();
  setup.testPhase = op.getTestPhase();
  setup.bottoms = bottoms;
  setup.tops = op.getYs().size();
  try {
    tops = type.shapes(setup);
  } catch (const brew::Error &error) {
    InFlightDiagnostic diagnostic = layerError(op);
    setExitStatus(diagnostic, error.status());
    return diagnostic << error.what();
  }
  return success();
}

LogicalResult HostLayerOp::inferShapes(Shapes &tops, Shapes &) {
  const size_t count = getYs().size();
  size_t firstUnknown = count;
  for (size_t i = count; i-- > 0;)
    if (!providedShape(*this, i))
      firstUnknown = i;
  auto blobName = [&](size_t top) {
    return cast<StringAttr>(getTops()[top]).getValue();
  };
  const HostLayerType *type = typeOf(*this);
  const bool hasShapeFunction = type && type->shapes;
  if (firstUnknown < count && !hasShapeFunction)
    return layerError(*this)
           << "its type '" << getKind()
           << "' is computed by the program that runs the plan, which does not "
              "provide the shape of '"
           << blobName(firstUnknown) << "'; pass --input-shape "
           << blobName(firstUnknown)
           << "=d,d,... (the command caffe and Python's package caffe run "
              "layers of type \"Python\" themselves)";
  if (hasShapeFunction && failed(callShapeFunction(*this, *type, tops)))
    return failure();
  tops.resize(count);
  for (size_t i = 0; i < count; ++i) {
    DenseI64ArrayAttr provided = providedShape(*this, i);
    if (!provided)
      continue;
    // A provided shape must equal the one that the function returns.
    if (hasShapeFunction &&
        ArrayRef<int64_t>(tops[i]) != provided.asArrayRef()) {
      InFlightDiagnostic diagnostic = layerError(*this);
      setExitStatus(diagnostic, ExitStatus::Usage);
      return diagnostic << "--input-shape gives '" << blobName(i) << "' as "
                        << brew::formats::dimsText(provided.asArrayRef().vec())
                        << ", but the layer makes it "
                        << brew::formats::dimsText(
                               {tops[i].begin(), tops[i].end()});
    }
    tops[i].assign(provided.asArrayRef().begin(), provided.asArrayRef().end());
  }
  return success();
}

LogicalResult HostLayerOp::propagateItemCounts(ItemCounts &counts) {
  const HostLayerType *type = typeOf(*this);
  for (OpOperand &bottom : getXsMutable()) {
    Value count = counts.of(bottom.get());
    if (count && type && type->paddingValue)
      counts.maskPadding(bottom, count, *type->paddingValue);
    else if (failed(counts.requireAllItems(*this, bottom.get())))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult HostLayerOp::buildGradients(OpBuilder &b, ArrayRef<Value> results,
                                          ArrayRef<bool> needed,
                                          MutableArrayRef<Value> operands) {
  if (const HostLayerType *type = typeOf(*this); type && !type->hasBackward)
    return layerError(*this)
           << "a gradient must pass it, and its type '" << getKind()
           << "' has no backward function; propagate_down: false keeps "
              "gradients from its bottoms";
  SmallVector<Value> gradients;
  for (auto [y, gradient] : llvm::zip_equal(getYs(), results))
    gradients.push_back(gradient ? gradient
                                 : FillOp::create(b, getLoc(), y.getType(),
                                                  b.getF64FloatAttr(0)));
  SmallVector<int64_t> bottoms;
  SmallVector<Type> types;
  for (auto [i, isNeeded] : llvm::enumerate(needed))
    if (isNeeded) {
      bottoms.push_back(static_cast<int64_t>(i));
      types.push_back(getXs()[i].getType());
    }
  auto backward = HostLayerBackwardOp::create(
      b, getLoc(), types, getXs(), getYs(), gradients, getLayerAttr(),
      b.getDenseI64ArrayAttr(bottoms), getKindAttr(), getSettingsAttr(),
      getParamStrAttr(), getTestPhaseAttr());
  for (auto [bottom, gradient] : llvm::zip_equal(bottoms, backward.getDxs()))
    operands[static_cast<size_t>(bottom)] = gradient;
  return success();
}

LogicalResult HostLayerBackwardOp::verify() {
  if (getDys().size() != getYs().size())
    return emitOpError("has gradients of ")
           << getDys().size() << " of " << getYs().size() << " tops";
  if (getBottoms().size() != getDxs().size())
    return emitOpError("numbers ") << getBottoms().size() << " bottoms for "
                                   << getDxs().size() << " results";
  int64_t last = -1;
  for (auto [bottom, gradient] : llvm::zip_equal(getBottoms(), getDxs())) {
    if (bottom <= last || bottom >= static_cast<int64_t>(getXs().size()))
      return emitOpError("must number existing bottoms in ascending order");
    last = bottom;
    if (failed(verifyCompatibleShape(getXs()[bottom].getType(),
                                     gradient.getType())))
      return emitOpError("has a gradient of another shape than bottom ")
             << bottom;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Precision and calls
//===----------------------------------------------------------------------===//

bool HostLayerOp::mustStayExact(unsigned) { return true; }
bool HostLayerOp::staysF32(unsigned) { return true; }
bool HostLayerBackwardOp::mustStayExact(unsigned) { return true; }
bool HostLayerBackwardOp::staysF32(unsigned) { return true; }

using BufferOf = llvm::function_ref<Value(Value)>;

static SmallVector<Value> buffersOf(ValueRange values, BufferOf buffer) {
  return llvm::map_to_vector(values, buffer);
}

Operation *HostLayerOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  SmallVector<Value> bottoms = buffersOf(getXs(), buffer),
                     tops = buffersOf(getYs(), buffer);
  return dialects::plan::HostCallOp::create(
      b, getLoc(),
      dialects::plan::DirectionAttr::get(getContext(), Direction::Forward),
      getKindAttr(), getLayerAttr(), getSettingsAttr(), getParamStrAttr(),
      bottoms, tops, ValueRange(), ValueRange(), b.getDenseI64ArrayAttr({}),
      nullptr, nullptr, nullptr);
}

Operation *HostLayerBackwardOp::buildPlanStep(OpBuilder &b, BufferOf buffer) {
  SmallVector<Value> bottoms = buffersOf(getXs(), buffer),
                     tops = buffersOf(getYs(), buffer),
                     topGradients = buffersOf(getDys(), buffer),
                     bottomGradients = buffersOf(getDxs(), buffer);
  return dialects::plan::HostCallOp::create(
      b, getLoc(),
      dialects::plan::DirectionAttr::get(getContext(), Direction::BackwardData),
      getKindAttr(), getLayerAttr(), getSettingsAttr(), getParamStrAttr(),
      bottoms, tops, topGradients, bottomGradients, getBottomsAttr(), nullptr,
      nullptr, nullptr);
}
