//===- FormKernels.cpp - Groups loop nests into kernels -------------------===//
//
// Works in three steps: every nest's loops are put in the memory order of its
// result; nests are gathered greedily, in program order, into groups that can
// share a grid; each group is outlined into a brew.kernel. Flat groups that do
// not depend on each other then become parts of one kernel.
//
//===----------------------------------------------------------------------===//
#include "dialects/Target/TargetDialect.h"
#include "passes/LoopOrder.h"
#include "passes/OutlineKernel.h"
#include "passes/Passes.h"
#include "passes/Sinks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace brew {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

using brew::Group;

namespace {

struct FormKernels : brew::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;

  /// Position in the program after which a group's kernel stands.
  static Operation *endOf(const Group &group) {
    linalg::GenericOp last = group.nests.back();
    return last.getOperation();
  }

  void formKernels(ProgramOp program) {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> nests(
        program.getBody().front().getOps<linalg::GenericOp>());
    for (auto nest : nests)
      brew::orderLoops(rewriter, nest);

    const std::vector<Group> groups = brew::groupNests(program);
    for (size_t i = 0; i < groups.size();) {
      SmallVector<const Group *> parts = {&groups[i]};
      size_t next = i + 1;
      // Only kernels that follow each other directly: then nothing between
      // them can depend on the first.
      while (brew::isFlat(groups[i]) && next < groups.size() &&
             static_cast<int64_t>(parts.size()) < mostParts &&
             brew::isFlat(groups[next]) &&
             followsIndependently(parts, groups[next]))
        parts.push_back(&groups[next++]);
      brew::outlineKernel(parts, endOf(*parts.back()));
      i = next;
    }
  }

  /// Whether `group` does not read the parts and no operation that does or
  /// that is no nest stands between.
  static bool followsIndependently(ArrayRef<const Group *> parts,
                                   const Group &group) {
    for (const Group *part : parts)
      for (auto nest : group.nests)
        if (brew::dependsOn(nest, *part))
          return false;
    for (const Group *part : parts)
      for (auto nest : part->nests)
        for (Operation *user : nest->getUsers()) {
          while (!isa<ProgramOp>(user->getParentOp()))
            user = user->getParentOp();
          if (!part->contains(user) && user->isBeforeInBlock(endOf(group)))
            return false;
        }
    return true;
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      brew::moveSinksToEnd(block);
      formKernels(program);
      // Initial values left without nests.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<linalg::FillOp, tensor::EmptyOp, arith::ConstantOp, FillOp>(
                op) &&
            op.use_empty())
          op.erase();
    }
  }
};

} // namespace
