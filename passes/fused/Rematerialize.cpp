//===- Rematerialize.cpp - Rematerialization in the backward pass ---------===//
//
// Lets the backward pass recompute values that the forward pass would have to
// save, as far as memory is short (see RematerializationChoice.h). Each unit is
// cloned once, right before the first operation of the backward pass that reads
// it or a value recomputed from it. If that operation can be deferred until
// after the last reader of the unit's input, the pass defers it: one kernel
// then does both, and the unit reuses the memory of its input. The pass runs
// after CSE, which would undo it. Recomputed values equal the saved ones:
// random masks exactly, since they have the same key; sums and products up to
// the way in which a kernel contracts them.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/Passes.h"
#include "passes/fused/SavedValues.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace brew::passes {
#define GEN_PASS_DEF_REMATERIALIZE
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Share of a program's time that counts as free: it is below the accuracy of
/// the roofline model.
constexpr double kNegligibleShare = 0.015;

/// Clones the chosen units of one program.
class Rematerializer {
public:
  Rematerializer(const brew::passes::SavedValues &saved,
                 const std::vector<bool> &rematerialized)
      : saved(saved), rematerialized(rematerialized), b(saved.backwardBegin) {}

  void run() {
    deferUsers();
    // Clones are inserted before their reader, so the loop does not visit them.
    for (Operation *op = saved.backwardBegin; op; op = op->getNextNode()) {
      if (op->hasTrait<IsSink>())
        continue;
      b.setInsertionPoint(op);
      for (Value value : brew::passes::valuesReadBy(op)) {
        Value replacement = rematerializedForm(value);
        if (replacement != value)
          value.replaceUsesWithIf(replacement, [&](OpOperand &use) {
            return op->isAncestor(use.getOwner());
          });
      }
    }
    eraseUnused();
  }

private:
  /// Defers the readers of units that are recomputed next to another step; the
  /// clone then comes right after that step.
  void deferUsers() {
    for (unsigned unit = 0; unit < rematerialized.size(); ++unit) {
      if (!rematerialized[unit] || saved.problem.units[unit].fusionStep < 0)
        continue;
      Operation *last = lastFusible(saved.fusionStepOf(unit),
                                    saved.deferredOperationsOf(unit));
      for (Operation *op : saved.deferredOperationsOf(unit)) {
        op->moveAfter(last);
        last = op;
      }
      // The clone must come before the deferred operations. A unit connected to
      // other recomputed units is cloned at its first reader instead.
      if (isIndependent(unit)) {
        b.setInsertionPointAfter(saved.fusionStepOf(unit));
        rematerializedForm(saved.operationsOf(unit).front()->getResult(0));
      }
    }
  }

  /// Returns whether `unit` reads no other recomputed unit and no other one
  /// reads it.
  bool isIndependent(unsigned unit) const {
    auto reads = [&](unsigned reader, unsigned input) {
      return rematerialized[reader] &&
             llvm::is_contained(saved.problem.units[reader].inputs, input);
    };
    for (unsigned other = 0; other < rematerialized.size(); ++other)
      if (rematerialized[other] && (reads(unit, other) || reads(other, unit)))
        return false;
    return true;
  }

  /// Returns the last of the operations that follow `step` before the next call
  /// without depending on deferred operations. Nests among them may be fused
  /// into the kernel of `step`, which deferred operations in between would
  /// prevent.
  static Operation *lastFusible(Operation *step,
                                ArrayRef<Operation *> deferred) {
    Operation *last = step;
    for (Operation *op = step->getNextNode();
         op && !isa<PlanStepInterface, LoopInterface>(op) &&
         !op->hasTrait<OpTrait::IsTerminator>();
         op = op->getNextNode()) {
      if (llvm::any_of(brew::passes::valuesReadBy(op), [&](Value value) {
            return llvm::is_contained(deferred, value.getDefiningOp());
          }))
        break;
      last = op;
    }
    return last;
  }

  /// Returns `value` as the backward pass reads it, recomputed if chosen.
  Value rematerializedForm(Value value) {
    if (Value existing = clones.lookupOrNull(value))
      return existing;
    Operation *source = value.getDefiningOp();
    if (!source)
      return value;
    if (source->hasTrait<IsView>() && !isa<ConcatViewOp>(source)) {
      Value x = rematerializedForm(source->getOperand(0));
      if (x == source->getOperand(0))
        return value;
      mark(b.clone(*source, clones), source);
      return clones.lookup(value);
    }
    auto unit = saved.unitOf(source);
    if (!unit || !rematerialized[*unit])
      return value;
    for (Operation *op : saved.operationsOf(*unit)) {
      for (Value read : brew::passes::valuesReadBy(op))
        rematerializedForm(read);
      mark(b.clone(*op, clones), op);
    }
    return clones.lookup(value);
  }

  static void mark(Operation *clone, Operation *original) {
    Origin origin = Origin::of(original);
    origin.isBackward = origin.isRematerialized = true;
    origin.mark(clone);
  }

  /// Erases dead clones: not all slices of a recomputed concatenation need be
  /// read.
  void eraseUnused() {
    Block &block = *saved.backwardBegin->getBlock();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (Origin::of(&op).isRematerialized && isOpTriviallyDead(&op))
        op.erase();
  }

  const brew::passes::SavedValues &saved;
  const std::vector<bool> &rematerialized;
  OpBuilder b;
  IRMapping clones;
};

struct Rematerialize : brew::passes::impl::RematerializeBase<Rematerialize> {
  using RematerializeBase::RematerializeBase;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (program.getBody().empty())
      return;
    const auto roofline =
        brew::dialects::target::Roofline::of(program, precision, /*f64=*/false);
    brew::passes::SavedValues saved(program, roofline);
    if (!saved.backwardBegin)
      return;
    const std::vector<bool> rematerialized =
        bytes < 0 ? brew::passes::chooseFused(saved.problem,
                                              kNegligibleShare * saved.seconds)
                  : brew::passes::chooseRematerialized(saved.problem, bytes);
    Rematerializer(saved, rematerialized).run();
  }
};

} // namespace
