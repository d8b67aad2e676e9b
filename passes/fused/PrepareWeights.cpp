//===- PrepareWeights.cpp - Weights as calls want them, made once ---------===//
//
// Weights that inference reads in another type or order than they were trained
// in are the same in every run: the nests that make them go to the program
// `prepare`. The roundings of a net with 16-bit products are most of them;
// AlexNet at batch 1 spends half of its time there.
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

/// Moves what a program computes of parameters alone.
class Mover {
public:
  Mover(ModuleOp module, ProgramOp program)
      : module(module), program(program), prepare(module, program) {
    module.walk([&](StoreParamOp store) {
      if (store->getParentOfType<ProgramOp>().getRole() != ProgramRole::Prepare)
        changing.insert(store.getParam());
    });
  }

  void run() {
    findFixed();
    SmallVector<Value> moved;
    for (auto nest : program.getBody().front().getOps<linalg::GenericOp>())
      for (Value result : nest->getResults())
        if (isWorthAPlace(result))
          moved.push_back(result);
    for (Value value : moved)
      move(value);
    if (moved.empty())
      return;
    Block &block = program.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    prepare.eraseUnused();
  }

private:
  /// Parameters that keep their values while the program runs again and again.
  bool isFixedParam(ParamValueOp value) const {
    return !changing.contains(value.getParam());
  }

  /// What reads nothing but parameters: results and the parameters read.
  void findFixed() {
    for (Operation &op : program.getBody().front()) {
      if (auto value = dyn_cast<ParamValueOp>(op)) {
        if (isFixedParam(value))
          paramsOf[value.getResult()].insert(value);
        continue;
      }
      const bool constant = op.hasTrait<OpTrait::ConstantLike>();
      if (!constant &&
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

  /// Whether a parameter's place is better spent on `value` than time in every
  /// run: what a run computes anew must read it, and it must be no larger than
  /// the widest form of what it is made of.
  bool isWorthAPlace(Value value) {
    auto found = paramsOf.find(value);
    if (found == paramsOf.end() || found->second.empty())
      return false;
    int64_t bytes = 0;
    for (ParamValueOp param : found->second)
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

  /// `value` as `prepare` computes it.
  Value copied(Value value) {
    if (Value known = copies.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (auto param = dyn_cast<ParamValueOp>(op)) {
      copies.map(value, prepare.read(param));
      return copies.lookup(value);
    }
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    for (Value each : read)
      copied(each);
    prepare.body().clone(*op, copies);
    return copies.lookup(value);
  }

  void move(Value value) {
    prepare.start();
    ParamValueOp param = paramsOf[value].front();
    auto source =
        cast<ParamOp>(SymbolTable::lookupSymbolIn(module, param.getParam()));
    OpBuilder at(value.getDefiningOp());
    Value read = prepare.derive(copied(value), source.getLayer(),
                                source.getIndex(), "prepared", at);
    value.replaceAllUsesWith(read);
  }

  using Params = llvm::SmallSetVector<ParamValueOp, 2>;
  ModuleOp module;
  ProgramOp program;
  brew::passes::PrepareProgram prepare;
  llvm::StringSet<> changing; ///< parameters that runs store
  llvm::DenseMap<Value, Params> paramsOf;
  IRMapping copies; ///< from `program` to `prepare`
};

struct PrepareWeights : brew::passes::impl::PrepareWeightsBase<PrepareWeights> {
  void runOnOperation() override {
    // Other programs share their parameters with one that changes them.
    SmallVector<ProgramOp> programs(getOperation().getOps<ProgramOp>());
    for (ProgramOp program : programs)
      if (program.getRole() == ProgramRole::Deploy)
        Mover(getOperation(), program).run();
  }
};

} // namespace
