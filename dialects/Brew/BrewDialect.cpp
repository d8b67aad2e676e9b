//===- BrewDialect.cpp - Registration, layouts, structural operations -----===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/DiagnosticMetadata.h"
#include "dialects/Brew/LayerDiagnostics.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/LayerGroup.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/SubviewType.h"
#include "plan/Contract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::parseDataInputDict;
using brew::dialects::plan::printDataInputDict;

#include "dialects/Brew/BrewDialect.cpp.inc"
#include "dialects/Brew/BrewEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Brew/BrewAttributes.cpp.inc"
#include "dialects/Brew/BrewInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Brew/BrewOps.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Brew/BrewCore.cpp.inc"

void BrewDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Brew/BrewAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Brew/BrewOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Brew/BrewCore.cpp.inc"
      >();
#define GROUP(name) register##name##Layers(*this);
#include "dialects/Brew/layers/Groups.inc"
#undef GROUP
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> order) {
  llvm::SmallVector<bool> seen(order.size(), false);
  for (int64_t dim : order) {
    if (dim < 0 || dim >= static_cast<int64_t>(order.size()) || seen[dim])
      return emitError() << "layout must name each dimension once";
    seen[dim] = true;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

SmallVector<int64_t> brew::dialects::memoryOrder(RankedTensorType type) {
  if (auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding()))
    return SmallVector<int64_t>(layout.getOrder());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (DenseI64ArrayAttr strides = subviewStrides(type))
    llvm::stable_sort(
        order, [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  return order;
}

SmallVector<int64_t> brew::dialects::memoryStrides(RankedTensorType type) {
  if (DenseI64ArrayAttr strides = subviewStrides(type))
    return SmallVector<int64_t>(strides.asArrayRef());
  SmallVector<int64_t> strides(type.getRank(), 1);
  int64_t stride = 1;
  const SmallVector<int64_t> order = memoryOrder(type);
  for (int64_t dim : llvm::reverse(order)) {
    strides[dim] = stride;
    stride *= type.getDimSize(dim);
  }
  return strides;
}

RankedTensorType brew::dialects::withMemoryOrder(RankedTensorType type,
                                                 ArrayRef<int64_t> order) {
  // Dimensions of size 1 do not affect the memory order; without them an order
  // may be row-major.
  int64_t last = -1;
  bool isRowMajor = true;
  for (int64_t dim : order) {
    if (type.getDimSize(dim) == 1)
      continue;
    isRowMajor &= dim > last;
    last = dim;
  }
  Attribute encoding;
  if (!isRowMajor)
    encoding = LayoutAttr::get(type.getContext(), order);
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               encoding);
}

MemRefType brew::dialects::memrefTypeOf(RankedTensorType type) {
  // Bits are stored in memory order in complete words: a thread that writes one
  // bit writes its word.
  if (type.getElementType().isInteger(1))
    return MemRefType::get({(type.getNumElements() + 31) / 32 * 4},
                           IntegerType::get(type.getContext(), 8));
  if (!type.getEncoding())
    return MemRefType::get(type.getShape(), type.getElementType());
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, memoryStrides(type)));
}

int64_t brew::dialects::countOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

FileLineColLoc brew::dialects::prototxtLocation(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location nested) {
    found = dyn_cast<FileLineColLoc>(nested);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

std::string brew::dialects::layerPrefix(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("layer");
  std::string type;
  op->getLoc()->walk([&](Location nested) {
    auto named = dyn_cast<NameLoc>(nested);
    if (!named)
      return WalkResult::advance();
    type = " (" + named.getName().str() + ")";
    return WalkResult::interrupt();
  });
  return "layer '" + (name ? name.str() : "") + "'" + type + ": ";
}

static InFlightDiagnostic withLayerPrefix(Operation *op,
                                          InFlightDiagnostic diagnostic) {
  diagnostic << layerPrefix(op);
  if (auto name = op->getAttrOfType<StringAttr>("layer"))
    setLayer(diagnostic, name);
  return diagnostic;
}

InFlightDiagnostic brew::dialects::layerError(Operation *op) {
  return withLayerPrefix(op, op->emitError());
}

InFlightDiagnostic brew::dialects::layerWarning(Operation *op) {
  return withLayerPrefix(op, op->emitWarning());
}

//===----------------------------------------------------------------------===//
// Structural operations
//===----------------------------------------------------------------------===//

std::string brew::dialects::programName(ProgramRole role, int test) {
  namespace programs = brew::plan::programs;
  switch (role) {
  case ProgramRole::Main:
    return programs::kMain;
  case ProgramRole::ForwardBackward:
    return programs::kForwardBackward;
  case ProgramRole::Test:
    return programs::testName(test);
  case ProgramRole::Deploy:
    return programs::kDeploy;
  case ProgramRole::Prepare:
    return programs::kPrepare;
  case ProgramRole::Update:
    return programs::kUpdate;
  case ProgramRole::Accumulate:
    return programs::kAccumulate;
  case ProgramRole::Collect:
    return programs::kCollect;
  case ProgramRole::Clip:
    return programs::kClip;
  case ProgramRole::Reduce:
    return programs::kReduce;
  }
  llvm_unreachable("a program without a role");
}

LogicalResult ProgramOp::verify() {
  const ProgramRole role = getRole();
  if (role == ProgramRole::Main)
    return success();
  const int test = brew::plan::programs::testIndex(getSymName());
  if (role == ProgramRole::Test ? test < 0 : getSymName() != programName(role))
    return emitOpError("of role '")
           << stringifyProgramRole(role) << "' has another name";
  return success();
}

LogicalResult ReinterpretOp::verify() {
  auto from = dyn_cast<RankedTensorType>(getX().getType());
  auto to = dyn_cast<RankedTensorType>(getY().getType());
  if (!from || !to)
    return success(); // import phase
  if (from.getElementType() != to.getElementType() ||
      countOf(from.getShape()) != countOf(to.getShape()))
    return emitOpError("must keep element type and count");
  return success();
}

OpFoldResult ReinterpretOp::fold(FoldAdaptor) {
  if (getX().getType() == getY().getType())
    return getX();
  return {};
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size())
    return emitOpError("needs one block argument per input");
  for (auto [argument, input] : llvm::zip(body.getArguments(), getInputs()))
    if (argument.getType() != input.getType())
      return emitOpError("block argument type differs from its input's");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().getTypes() != getOutputs().getTypes())
    return emitOpError("must yield its results' types");

  // Nests of a sub-kernel have one grid, and their grid loops are parallel.
  int64_t subKernel = -1, stage = 0;
  bool inLastBlock = false;
  SmallVector<int64_t> grid;
  for (auto nest : body.getOps<linalg::GenericOp>()) {
    std::optional<NestGrid> gridInfo = NestGrid::of(nest);
    if (!gridInfo)
      return nest.emitOpError(
          "in a kernel needs brew.sub_kernel and brew.grid_loops");
    SmallVector<int64_t> loops = nest.getStaticLoopRanges();
    int64_t gridLoops = gridInfo->gridLoops;
    if (gridLoops < 0 || gridLoops > static_cast<int64_t>(loops.size()))
      return nest.emitOpError("grid is deeper than the nest");
    for (int64_t i = 0; i < gridLoops; ++i)
      if (nest.getIteratorTypesArray()[i] != utils::IteratorType::parallel)
        return nest.emitOpError("a grid loop must be parallel");
    ArrayRef<int64_t> nestGrid = ArrayRef(loops).take_front(gridLoops);
    if (gridInfo->subKernel == subKernel) {
      if (nestGrid != ArrayRef(grid))
        return nest.emitOpError("grid extents differ within the sub-kernel");
      if (gridInfo->inLastBlock != inLastBlock)
        return nest.emitOpError(
            "all nests of a sub-kernel must run in the last block, or none");
      if (gridInfo->stage != stage)
        return nest.emitOpError("a sub-kernel must belong to one stage");
    } else if (gridInfo->subKernel == subKernel + 1) {
      const bool isFirst = subKernel < 0 || gridInfo->stage != stage;
      if (gridInfo->stage != stage &&
          (subKernel < 0 || gridInfo->stage != stage + 1))
        return nest.emitOpError("stages must be consecutive, from 0 on");
      if (isFirst ? gridInfo->inLastBlock : inLastBlock)
        return nest.emitOpError(
            "a stage can have one sub-kernel of the last block, after others");
      ++subKernel;
      stage = gridInfo->stage;
      inLastBlock = gridInfo->inLastBlock;
      grid.assign(nestGrid.begin(), nestGrid.end());
    } else {
      return nest.emitOpError("sub-kernels must be consecutive");
    }
  }
  return success();
}
