//===- FormKernels.cpp - Groups loop nests into kernels -------------------===//
//
// Works in three steps: every nest's loops are put in the memory order of its
// result; nests are gathered greedily, in program order, into groups that can
// share a grid; each group is outlined into a brew.kernel. Flat groups that do
// not depend on each other then become parts of one kernel.
//
//===----------------------------------------------------------------------===//
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopOrder.h"
#include "passes/analysis/Sinks.h"
#include "passes/fused/OutlineKernel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace brew::passes {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

using brew::passes::NestGroup;

namespace {

/// Groups that become the parts of one kernel.
class Parts {
public:
  explicit Parts(const NestGroup &first) { add(first); }

  ArrayRef<const NestGroup *> groups() const { return parts; }
  size_t size() const { return parts.size(); }
  /// Position in the program after which the kernel stands.
  Operation *end() const { return endOf(*parts.back()); }

  void add(const NestGroup &group) {
    parts.push_back(&group);
    for (auto nest : group.nests)
      members.insert(nest);
    for (auto nest : group.nests)
      for (Operation *user : nest->getUsers()) {
        user = nest->getBlock()->findAncestorOpInBlock(*user);
        if (!group.contains(user) &&
            (!firstUser || user->isBeforeInBlock(firstUser)))
          firstUser = user;
      }
  }

  /// Whether `group` does not read the parts and no operation that does or
  /// that is no nest stands between.
  bool areFollowedIndependentlyBy(const NestGroup &group) const {
    for (auto nest : group.nests)
      for (Value tensor : brew::passes::tensorsReadBy(nest))
        if (members.contains(tensor.getDefiningOp()))
          return false;
    return !firstUser || !firstUser->isBeforeInBlock(endOf(group));
  }

private:
  static Operation *endOf(const NestGroup &group) {
    linalg::GenericOp last = group.nests.back();
    return last.getOperation();
  }

  SmallVector<const NestGroup *> parts;
  llvm::DenseSet<Operation *> members;
  Operation *firstUser = nullptr; ///< of a part, outside of it
};

struct FormKernels : brew::passes::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;

  void formKernels(ProgramOp program) {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> nests(
        program.getBody().front().getOps<linalg::GenericOp>());
    for (auto nest : nests)
      brew::passes::orderLoops(rewriter, nest);

    const std::vector<NestGroup> groups = brew::passes::groupNests(program);
    const int64_t most =
        shareUpdates && program.getRole() == ProgramRole::Update ? 1
                                                                 : maxSubKernels;
    // On a CPU what only reads neighbours in order is one vectorised loop,
    // which others in a function would get in the way of.
    const bool allowGathers = brew::dialects::target::isForGpu(program);
    for (size_t i = 0; i < groups.size();) {
      Parts parts(groups[i]);
      size_t next = i + 1;
      // Only kernels that follow each other directly: then nothing between
      // them can depend on the first.
      while (brew::passes::isFlat(groups[i], allowGathers) &&
             next < groups.size() &&
             static_cast<int64_t>(parts.size()) < most &&
             brew::passes::isFlat(groups[next], allowGathers) &&
             parts.areFollowedIndependentlyBy(groups[next]))
        parts.add(groups[next++]);
      brew::passes::outlineKernel(parts.groups(), parts.end());
      i = next;
    }
  }

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      brew::passes::moveSinksToEnd(block);
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
