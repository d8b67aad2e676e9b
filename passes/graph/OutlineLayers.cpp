//===- OutlineLayers.cpp - A program for each layer -----------------------===//
#include "dialects/Brew/BrewDialect.h"
#include "formats/caffe.pb.h"
#include "passes/Passes.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/analysis/LayerPrograms.h"
#include "plan/Contract.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace brew::passes {
#define GEN_PASS_DEF_OUTLINELAYERS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Returns whether a value is a parameter or a view of one.
bool isParameterView(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa<ReinterpretOp>(op))
    return isParameterView(op->getOperand(0));
  return isa<ParamValueOp>(op);
}

/// Returns the name of a blob, or of a result that no layer names.
std::string blobName(Value value) {
  auto result = cast<OpResult>(value);
  auto tops = result.getOwner()->getAttrOfType<ArrayAttr>("tops");
  const unsigned number = result.getResultNumber();
  if (tops && number < tops.size())
    if (auto name = cast<StringAttr>(tops[number]); !name.empty())
      return name.str();
  return "value" + std::to_string(number);
}

/// Moves the layers of one program to programs of their own.
class Outliner {
public:
  explicit Outliner(ProgramOp program)
      : program(program), symbols(program->getParentOfType<ModuleOp>()) {}

  void run() {
    findLayers();
    findNeeded();
    for (auto &[layer, ops] : layers)
      outline(layer, ops);
  }

private:
  /// Groups the operations by their layer. A store or a check belongs to the
  /// layer that computes its operand; parameters belong to no layer.
  void findLayers() {
    for (Operation &op : program.getBody().front()) {
      if (auto layer = op.getAttrOfType<StringAttr>("layer"))
        layers[layer].push_back(&op);
      else if (isa<StoreParamOp>(op))
        layers[op.getOperand(0).getDefiningOp()->getAttrOfType<StringAttr>(
                   "layer")]
            .push_back(&op);
    }
  }

  /// Finds the values that need a gradient in Caffe: those that depend on a
  /// learnable parameter, or that a layer's propagate_down selects.
  void findNeeded() {
    for (Operation &op : program.getBody().front()) {
      if (auto read = dyn_cast<ParamValueOp>(op)) {
        if (!symbols.lookup<ParamOp>(read.getParam()).getLrMult().isZero() ||
            read->hasAttr(kGradientAttr))
          needed.insert(read);
        continue;
      }
      bool isNeeded = false;
      for (OpOperand &operand : op.getOpOperands())
        isNeeded |= propagates(operand) || needed.contains(operand.get());
      if (isNeeded)
        for (Value result : op.getResults())
          needed.insert(result);
    }
  }

  bool propagates(OpOperand &operand) const {
    auto down =
        operand.getOwner()->getAttrOfType<DenseBoolArrayAttr>("propagate_down");
    if (down && operand.getOperandNumber() < down.size())
      return down[operand.getOperandNumber()];
    return needed.contains(operand.get());
  }

  /// Creates the program of a layer, unless the layer only brings blobs in that
  /// the caller writes.
  void outline(StringAttr layer, ArrayRef<Operation *> ops) {
    if (llvm::all_of(ops, [](Operation *op) {
          auto input = dyn_cast<DataInputOp>(op);
          return input && input.getKind() == "Input";
        }))
      return;
    OpBuilder b(program);
    auto outlined =
        ProgramOp::create(b, ops.front()->getLoc(),
                          brew::plan::programs::layerName(layer.getValue()),
                          program.getNetPhase(), ProgramRole::Main, nullptr,
                          nullptr, nullptr, program.getDifferentiate());
    outlined->setAttr(brew::passes::kLayerProgramAttr, b.getUnitAttr());
    b.createBlock(&outlined.getBody());
    IRMapping map;
    for (Operation *op : ops)
      for (OpOperand &operand : op->getOpOperands()) {
        const Value value = operand.get();
        if (isParameterView(value))
          cloneParameter(b, value, map);
        else if (value.getDefiningOp()->getAttrOfType<StringAttr>("layer") !=
                 layer)
          addInput(b, operand, isTopOf(ops, blobName(value)), map);
      }
    for (Operation *op : ops) {
      Operation *clone = b.clone(*op, map);
      // The caller writes the gradients of all tops, and a loss is a top.
      clone->removeAttr("loss_weights");
    }
  }

  static void cloneParameter(OpBuilder &b, Value value, IRMapping &map) {
    if (map.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      cloneParameter(b, operand, map);
    b.clone(*op, map);
  }

  static bool isTopOf(ArrayRef<Operation *> ops, StringRef blob) {
    return llvm::any_of(ops, [&](Operation *op) {
      auto tops = op->getAttrOfType<ArrayAttr>("tops");
      return tops &&
             llvm::is_contained(tops.getAsValueRange<StringAttr>(), blob);
    });
  }

  /// Adds an Input layer for a bottom. The bottom of a layer that works in
  /// place gets a name of its own.
  void addInput(OpBuilder &b, OpOperand &operand, bool isInPlace,
                IRMapping &map) {
    const Value value = operand.get();
    if (!map.contains(value)) {
      brew::caffe::LayerParameter config;
      config.set_name(blobName(value) + (isInPlace ? ".bottom" : ""));
      config.set_type("Input");
      config.add_top(config.name());
      auto *shape = config.mutable_input_param()->add_shape();
      for (int64_t dim : shapeOf(value))
        shape->add_dim(dim);
      auto input = DataInputOp::create(
          b, value.getLoc(), value.getType(), config.name(),
          b.getStrArrayAttr({config.name()}), config.type(),
          brew::dialects::plan::DataInputConfigAttr::get(b.getContext(),
                                                         config),
          "", IntegerAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr());
      map.map(value, input.getValues()[0]);
    }
    if (propagates(operand))
      map.lookup(value).getDefiningOp()->setAttr(kGradientAttr,
                                                 b.getUnitAttr());
  }

  ProgramOp program;
  SymbolTable symbols;
  llvm::MapVector<StringAttr, SmallVector<Operation *>> layers;
  llvm::DenseSet<Value> needed;
};

struct OutlineLayers : brew::passes::impl::OutlineLayersBase<OutlineLayers> {
  /// Fails if a stored value belongs to no layer, as after
  /// brew-differentiate.
  LogicalResult requireLayers() {
    const WalkResult result = getOperation().walk([](StoreParamOp store) {
      if (store->getOperand(0).getDefiningOp()->hasAttr("layer"))
        return WalkResult::advance();
      store.emitError("this value belongs to no layer: brew-outline-layers "
                      "runs before brew-differentiate");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    if (failed(brew::passes::requireShapes(getOperation())) ||
        failed(requireLayers()))
      return signalPassFailure();
    for (auto program :
         llvm::make_early_inc_range(getOperation().getOps<ProgramOp>())) {
      if (brew::passes::isLayerProgram(program))
        continue;
      Outliner(program).run();
      program.erase();
    }
  }
};

} // namespace
