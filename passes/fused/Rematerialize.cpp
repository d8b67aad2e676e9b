//===- Rematerialize.cpp - Forward values made anew for the backward pass -----===//
//
// Lets the backward pass compute again what the forward pass would have to save
// for it, as far as memory is short (see RematerializationChoice.h). Each unit is
// cloned once, right before the first operation of the backward pass that reads
// it or what is made of it; where that can wait for the last operation that
// reads what the unit is made of, it does, and one kernel will do both, the
// unit in the place of what it is made of. Stands behind CSE, which would undo
// it; nests and calls compute the same again: masks of random numbers, which
// have the same key, to the bit, sums and products but for how a kernel
// contracts them.
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

/// The share of a step's time that counts as none: the roofline is not as exact
/// as that.
constexpr double kFree = 0.015;

/// Clones what was chosen in one program.
class Cloning {
public:
  Cloning(const brew::passes::SavedValues &saved,
          const std::vector<bool> &again)
      : saved(saved), again(again), b(saved.backward) {}

  void run() {
    wait();
    // Clones stand before the operation that reads them: they are not met.
    for (Operation *op = saved.backward; op; op = op->getNextNode()) {
      if (op->hasTrait<IsSink>())
        continue;
      b.setInsertionPoint(op);
      for (Value value : brew::passes::valuesReadBy(op)) {
        Value now = recomputed(value);
        if (now != value)
          value.replaceUsesWithIf(now, [&](OpOperand &use) {
            return op->isAncestor(use.getOwner());
          });
      }
    }
    eraseUnused();
  }

private:
  /// Lets what can wait for the step beside which a unit is made again do so:
  /// the clone then stands right behind that step.
  void wait() {
    for (unsigned unit = 0; unit < again.size(); ++unit) {
      if (!again[unit] || saved.problem.units[unit].beside < 0)
        continue;
      Operation *last =
          lastBeside(saved.fusionStepOf(unit), saved.deferredFor(unit));
      for (Operation *op : saved.deferredFor(unit)) {
        op->moveAfter(last);
        last = op;
      }
      // Nor must the clone come behind those. One that reads others, or is read
      // by others, goes where these are first read.
      if (isAlone(unit)) {
        b.setInsertionPointAfter(saved.fusionStepOf(unit));
        recomputed(saved.operationsOf(unit).front()->getResult(0));
      }
    }
  }

  /// Whether `unit` is made again of what is saved, and nothing else of it.
  bool isAlone(unsigned unit) const {
    auto reads = [&](unsigned reader, unsigned input) {
      return again[reader] &&
             llvm::is_contained(saved.problem.units[reader].inputs, input);
    };
    for (unsigned other = 0; other < again.size(); ++other)
      if (again[other] && (reads(unit, other) || reads(other, unit)))
        return false;
    return true;
  }

  /// The last of the nests that follow `step` before a call and need nothing of
  /// what waits: they may join its kernel, which what waits would stand in the
  /// way of.
  static Operation *lastBeside(Operation *step, ArrayRef<Operation *> waiting) {
    Operation *last = step;
    for (Operation *op = step->getNextNode();
         op && !isa<PlanStepInterface>(op) &&
         !op->hasTrait<OpTrait::IsTerminator>();
         op = op->getNextNode()) {
      if (llvm::any_of(brew::passes::valuesReadBy(op), [&](Value value) {
            return llvm::is_contained(waiting, value.getDefiningOp());
          }))
        break;
      last = op;
    }
    return last;
  }

  /// `value` as the backward pass reads it.
  Value recomputed(Value value) {
    if (Value known = made.lookupOrNull(value))
      return known;
    Operation *source = value.getDefiningOp();
    if (!source)
      return value;
    if (source->hasTrait<IsView>() && !isa<ConcatViewOp>(source)) {
      Value x = recomputed(source->getOperand(0));
      if (x == source->getOperand(0))
        return value;
      mark(b.clone(*source, made), source);
      return made.lookup(value);
    }
    auto unit = saved.unitOf(source);
    if (!unit || !again[*unit])
      return value;
    for (Operation *op : saved.operationsOf(*unit)) {
      for (Value read : brew::passes::valuesReadBy(op))
        recomputed(read);
      mark(b.clone(*op, made), op);
    }
    return made.lookup(value);
  }

  static void mark(Operation *clone, Operation *original) {
    Origin origin = Origin::of(original);
    origin.isBackward = origin.isRematerialized = true;
    origin.mark(clone);
  }

  /// Not all parts of a joined tensor that was made again need be read.
  void eraseUnused() {
    Block &block = *saved.backward->getBlock();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (Origin::of(&op).isRematerialized && isOpTriviallyDead(&op))
        op.erase();
  }

  const brew::passes::SavedValues &saved;
  const std::vector<bool> &again;
  OpBuilder b;
  IRMapping made;
};

struct Rematerialize : brew::passes::impl::RematerializeBase<Rematerialize> {
  using RematerializeBase::RematerializeBase;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      if (program.getBody().empty())
        continue;
      const auto roofline = brew::dialects::target::Roofline::of(
          program, precision, /*f64=*/false);
      brew::passes::SavedValues saved(program, roofline);
      if (!saved.backward)
        continue;
      const std::vector<bool> again =
          bytes < 0
              ? brew::passes::chooseFused(saved.problem, kFree * saved.seconds)
              : brew::passes::chooseRematerialized(saved.problem, bytes);
      Cloning(saved, again).run();
    }
  }
};

} // namespace
