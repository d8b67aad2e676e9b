//===- PrepareWeights.cpp - One-time conversion of weights ----------------===//
//
// Inference may read weights in another type or order than they were trained
// in. The conversion is the same in every run, so its nests move to the program
// `prepare`. Most of them round weights for 16-bit products; AlexNet at batch 1
// would spend half of its time on them.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Origin.h"
#include "passes/Passes.h"
#include "passes/analysis/PrepareProgram.h"
#include "passes/analysis/ValueStorage.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace brew::passes {
#define GEN_PASS_DEF_PREPAREWEIGHTS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Moves computations that depend on parameters only.
class WeightHoister {
public:
  WeightHoister(ModuleOp module, ProgramOp program)
      : module(module), program(program), prepare(module, program) {
    module.walk([&](StoreParamOp store) {
      if (store->getParentOfType<ProgramOp>().getRole() != ProgramRole::Prepare)
        storedParams.insert(store.getParam());
    });
  }

  void run() {
    findInvariantValues();
    SmallVector<Value> hoisted;
    for (auto nest : program.getBody().front().getOps<linalg::GenericOp>())
      for (Value result : nest->getResults())
        if (isWorthStoring(result))
          hoisted.push_back(result);
    for (Value value : hoisted)
      hoist(value);
    if (hoisted.empty())
      return;
    Block &block = program.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    prepare.eraseUnused();
  }

private:
  /// Returns whether a parameter is constant between runs of the program.
  bool isConstantParam(ParamValueOp value) const {
    return !storedParams.contains(value.getParam());
  }

  /// Finds the values that depend on constant parameters only, with these
  /// parameters.
  void findInvariantValues() {
    for (Operation &op : program.getBody().front()) {
      if (auto value = dyn_cast<ParamValueOp>(op)) {
        if (isConstantParam(value))
          paramsOf[value.getResult()].insert(value);
        continue;
      }
      const bool isConstant = op.hasTrait<OpTrait::ConstantLike>();
      if (!isConstant &&
          !isa<linalg::GenericOp, linalg::FillOp, tensor::EmptyOp>(op))
        continue;
      llvm::SetVector<Value> read(op.operand_begin(), op.operand_end());
      getUsedValuesDefinedAbove(op.getRegions(), read);
      if (!isMemoryEffectFree(&op) || !llvm::all_of(read, [&](Value value) {
            return paramsOf.contains(value);
          }))
        continue;
      Params params;
      for (Value value : read)
        params.insert_range(paramsOf[value]);
      for (Value result : op.getResults())
        paramsOf[result] = params;
    }
  }

  /// Returns whether storing `value` as a derived parameter pays off: a
  /// computation of the run reads it, and it is no larger than its source
  /// parameters in their widest form.
  bool isWorthStoring(Value value) {
    auto entry = paramsOf.find(value);
    if (entry == paramsOf.end() || entry->second.empty())
      return false;
    int64_t bytes = 0;
    for (ParamValueOp param : entry->second)
      bytes += std::max(brew::passes::bytesOf(tensorTypeOf(param.getResult())),
                        tensorTypeOf(param.getResult()).getNumElements() *
                            int64_t(sizeof(float)));
    return brew::passes::bytesOf(tensorTypeOf(value)) <= bytes &&
           llvm::any_of(value.getUsers(), [&](Operation *user) {
             Operation *step =
                 program.getBody().front().findAncestorOpInBlock(*user);
             return step->getNumResults() == 0 ||
                    !paramsOf.contains(step->getResult(0));
           });
  }

  /// Clones the computation of `value` into `prepare`.
  Value cloneIntoPrepare(Value value) {
    if (Value existing = copies.lookupOrNull(value))
      return existing;
    Operation *op = value.getDefiningOp();
    if (auto param = dyn_cast<ParamValueOp>(op)) {
      copies.map(value, prepare.readParam(param));
      return copies.lookup(value);
    }
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value input : read)
      cloneIntoPrepare(input);
    prepare.body().clone(*op, copies);
    return copies.lookup(value);
  }

  void hoist(Value value) {
    prepare.create();
    ParamValueOp param = paramsOf[value].front();
    auto source =
        cast<ParamOp>(SymbolTable::lookupSymbolIn(module, param.getParam()));
    OpBuilder insertionPoint(value.getDefiningOp());
    Value read = prepare.createDerivedParam(
        cloneIntoPrepare(value), source.getLayer(), source.getIndex(),
        "prepared", insertionPoint);
    value.replaceAllUsesWith(read);
  }

  using Params = llvm::SmallSetVector<ParamValueOp, 2>;
  ModuleOp module;
  ProgramOp program;
  brew::passes::PrepareProgram prepare;
  llvm::StringSet<> storedParams; ///< parameters that programs store to
  llvm::DenseMap<Value, Params> paramsOf;
  IRMapping copies; ///< from `program` to `prepare`
};

struct PrepareWeights : brew::passes::impl::PrepareWeightsBase<PrepareWeights> {
  void runOnOperation() override {
    // Transform only `deploy`: other programs share parameters with a program
    // that changes them.
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (program.getRole() == ProgramRole::Deploy)
        WeightHoister(getOperation(), program).run();
  }
};

} // namespace
