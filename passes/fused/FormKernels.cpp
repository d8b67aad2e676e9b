//===- FormKernels.cpp - Grouping of loop nests into kernels --------------===//
//
// Works in three steps: orders the loops of every nest in the memory order of
// its result; greedily groups nests, in program order, that can share a grid;
// outlines each group into a brew.kernel. Independent flat groups become
// sub-kernels of one kernel.
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

/// Groups that become the sub-kernels of one kernel.
class SubKernels {
public:
  explicit SubKernels(const NestGroup &first) { add(first); }

  ArrayRef<const NestGroup *> groups() const { return subKernels; }
  size_t size() const { return subKernels.size(); }
  /// Returns whether the kernel would become too large with `group`.
  bool isFull(const NestGroup &group) const {
    return members.size() + group.nests.size() > brew::passes::kMaxNests ||
           operations + group.operations > brew::passes::kMaxOperations;
  }
  /// Returns the operation after which the kernel is inserted.
  Operation *end() const { return endOf(*subKernels.back()); }

  void add(const NestGroup &group) {
    subKernels.push_back(&group);
    operations += group.operations;
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

  /// Returns whether `group` is independent of the sub-kernels: it does not
  /// read their results, and no user of them precedes its end.
  bool areIndependentOf(const NestGroup &group) const {
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

  SmallVector<const NestGroup *> subKernels;
  llvm::DenseSet<Operation *> members;
  size_t operations = 0;          ///< in the bodies of all nests
  Operation *firstUser = nullptr; ///< of any sub-kernel, outside of it
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
    const int64_t limit =
        shareUpdates && program.getRole() == ProgramRole::Update
            ? 1
            : maxSubKernels;
    // On a CPU a flat kernel without gathers is one vectorized loop; other
    // sub-kernels in the same function would prevent that.
    const bool allowGathers = brew::dialects::target::isForGpu(program);
    for (size_t i = 0; i < groups.size();) {
      SubKernels subKernels(groups[i]);
      size_t next = i + 1;
      // Add only adjacent groups: nothing between them can depend on the first.
      while (brew::passes::isFlat(groups[i], allowGathers) &&
             next < groups.size() &&
             static_cast<int64_t>(subKernels.size()) < limit &&
             !subKernels.isFull(groups[next]) &&
             brew::passes::isFlat(groups[next], allowGathers) &&
             subKernels.areIndependentOf(groups[next]))
        subKernels.add(groups[next++]);
      brew::passes::outlineKernel(subKernels.groups(), subKernels.end());
      i = next;
    }
  }

  void runOnOperation() override {
    ProgramOp program = getOperation();
    Block &block = program.getBody().front();
    brew::passes::moveSinksToEnd(block);
    formKernels(program);
    // Erase initial values without users.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isa<linalg::FillOp, tensor::EmptyOp, arith::ConstantOp, FillOp>(op) &&
          op.use_empty())
        op.erase();
  }
};

} // namespace
