//===- FusePoolingBackward.cpp - Pooling gradients in consumers -----------===//
//
// Each element of a pooling's bottom gradient is a sum over the windows that
// cover it. If the layer below is a normalization, the gradient is read twice:
// by the reductions and by the nest that uses their results. If few windows
// cover an element, both readers recompute it from the top's gradient and the
// positions of the maxima, which are smaller, so that it need not be stored.
// The pass runs only for GPUs, where the extra operations are free.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/fused/FuseProducer.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallBitVector.h"

namespace brew::passes {
#define GEN_PASS_DEF_FUSEPOOLINGBACKWARD
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Maximal number of windows that cover an element.
constexpr int64_t kMaxWindows = 4;

/// Returns the iterations of the reduction loops.
int64_t windowsOf(linalg::GenericOp nest) {
  int64_t count = 1;
  for (auto [extent, kind] : llvm::zip_equal(nest.getStaticLoopRanges(),
                                             nest.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      count *= extent;
  return count;
}

/// Returns the dimension that is innermost in memory.
int64_t innermostDim(RankedTensorType type) {
  const SmallVector<int64_t> order = memoryOrder(type);
  for (int64_t dim : llvm::reverse(order))
    if (type.getDimSize(dim) > 1)
      return dim;
  return order.back();
}

/// Returns whether adjacent elements of the result come from adjacent elements
/// of the extracted tensors (channels in channels-last layout). Then a thread
/// computes several elements for the index arithmetic of one.
bool extractsNeighbours(linalg::GenericOp nest) {
  bool hasExtract = false;
  const int64_t innermost = innermostDim(tensorTypeOf(nest->getResult(0)));
  for (auto extract : nest.getBody()->getOps<tensor::ExtractOp>()) {
    const int64_t dim = innermostDim(tensorTypeOf(extract.getTensor()));
    auto index = extract.getIndices()[static_cast<size_t>(dim)]
                     .getDefiningOp<linalg::IndexOp>();
    if (!index || static_cast<int64_t>(index.getDim()) != innermost)
      return false;
    hasExtract = true;
  }
  return hasExtract;
}

/// Returns whether `nest` computes a gradient whose elements are sums over a
/// few windows, reading nothing but what the body extracts.
bool gathersFromWindows(linalg::GenericOp nest) {
  if (!Origin::of(nest).isBackward || nest->getNumResults() != 1 ||
      nest.getNumReductionLoops() == 0 || windowsOf(nest) > kMaxWindows ||
      !nest.getDpsInits().front().getDefiningOp<linalg::FillOp>())
    return false;
  // The parallel loops come first, in the order of the result's dimensions.
  const unsigned parallel = nest.getNumParallelLoops();
  const SmallVector<utils::IteratorType> kinds = nest.getIteratorTypesArray();
  if (!llvm::all_of(ArrayRef(kinds).take_front(parallel),
                    [](utils::IteratorType kind) {
                      return kind == utils::IteratorType::parallel;
                    }) ||
      nest.getMatchingIndexingMap(nest.getDpsInitOperand(0)) !=
          AffineMap::getMultiDimIdentityMap(nest.getNumLoops(),
                                            nest.getContext())
              .getMajorSubMap(parallel))
    return false;
  return llvm::all_of(nest.getRegionInputArgs(),
                      [](BlockArgument value) { return value.use_empty(); }) &&
         extractsNeighbours(nest);
}

/// Returns the operations on extracted values per element of the result. Index
/// arithmetic does not count: a thread shares it between adjacent elements.
int64_t operationsPerElement(linalg::GenericOp nest) {
  // Cost of a division in operations.
  constexpr int64_t kDivisionCost = 8;
  llvm::DenseSet<Operation *> elementOps;
  int64_t count = 0;
  for (Operation &op : nest.getBody()->without_terminator())
    if (isa<tensor::ExtractOp>(op) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return elementOps.contains(operand.getDefiningOp());
        })) {
      elementOps.insert(&op);
      count += isa<arith::DivFOp>(op) ? kDivisionCost : 1;
    }
  return count * windowsOf(nest);
}

/// Unrolls the reduction loops of `nest` into its body, keeping the order of
/// the additions.
linalg::GenericOp unrollWindows(RewriterBase &rewriter,
                                linalg::GenericOp nest) {
  const unsigned parallel = nest.getNumParallelLoops();
  const SmallVector<int64_t> extents = nest.getStaticLoopRanges();
  auto fill = nest.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  rewriter.setInsertionPoint(nest);
  auto unrolled = linalg::GenericOp::create(
      rewriter, nest.getLoc(), nest->getResultTypes(), ValueRange(),
      ValueRange(fill.getOutputs().front()),
      rewriter.getMultiDimIdentityMap(parallel),
      SmallVector<utils::IteratorType>(parallel, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        Value sum = fill.getInputs().front();
        const int64_t windows = windowsOf(nest);
        for (int64_t window = 0; window < windows; ++window) {
          // Iterate over the windows in loop order, the last loop innermost.
          SmallVector<int64_t> indices(extents.size());
          int64_t remaining = window;
          for (size_t loop = extents.size(); loop-- > parallel;) {
            indices[loop] = remaining % extents[loop];
            remaining /= extents[loop];
          }
          IRMapping map;
          map.map(nest.getRegionOutputArgs().front(), sum);
          for (Operation &op : nest.getBody()->without_terminator()) {
            auto index = dyn_cast<linalg::IndexOp>(op);
            if (index && index.getDim() >= parallel)
              map.map(index.getResult(), arith::ConstantIndexOp::create(
                                             b, loc, indices[index.getDim()])
                                             .getResult());
            else
              b.clone(op, map);
          }
          sum = map.lookup(nest.getBody()->getTerminator()->getOperand(0));
        }
        linalg::YieldOp::create(b, loc, sum);
      });
  unrolled->setDiscardableAttrs(nest->getDiscardableAttrDictionary());
  rewriter.replaceOp(nest, unrolled);
  return unrolled;
}

int64_t sizeOf(Value value) {
  return brew::passes::bytesOf(tensorTypeOf(value));
}

/// Returns the bytes of all tensors that a nest reads and writes.
int64_t bytesMoved(linalg::GenericOp nest) {
  SetVector<Value> tensors;
  for (OpOperand *input : nest.getDpsInputOperands())
    if (nest.payloadUsesValueFromOperand(input))
      tensors.insert(input->get());
  tensors.insert_range(nest->getResults());
  int64_t bytes = 0;
  for (Value tensor : tensors)
    if (isa<RankedTensorType>(tensor.getType()))
      bytes += sizeOf(tensor);
  return bytes;
}

/// Returns whether the other operands of a nest determine the extents of all
/// its loops.
bool canDropOperand(linalg::GenericOp nest, Value value) {
  llvm::SmallBitVector determined(nest.getNumLoops());
  for (OpOperand &operand : nest->getOpOperands())
    if (operand.get() != value)
      for (AffineExpr result :
           nest.getMatchingIndexingMap(&operand).getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(result))
          determined.set(dim.getPosition());
  return determined.all();
}

/// Returns whether a nest reduces over the outermost dimension in memory of
/// `use`, which it reads through a permutation. Then the producer of the value
/// cannot share its loops.
bool reducesOutermost(linalg::GenericOp nest, OpOperand &use) {
  auto type = tensorTypeOf(use.get());
  for (int64_t dim : memoryOrder(type))
    if (type.getDimSize(dim) > 1)
      return nest.getIteratorTypesArray()
                 [nest.getMatchingIndexingMap(&use).getDimPosition(
                     static_cast<unsigned>(dim))] ==
             utils::IteratorType::reduction;
  return false;
}

/// Returns the nest of `use` if it reads each element once, one per iteration;
/// otherwise null.
linalg::GenericOp elementReader(OpOperand &use) {
  auto nest = dyn_cast<linalg::GenericOp>(use.getOwner());
  return nest && nest.isDpsInput(&use) &&
                 nest.getMatchingIndexingMap(&use).isPermutation()
             ? nest
             : linalg::GenericOp();
}

/// A pooling gradient with the nests that round it and the nests that read the
/// result.
class PoolingBackward {
public:
  PoolingBackward(linalg::GenericOp nest, double bytesPerOperation)
      : nest(nest), bytesPerOperation(bytesPerOperation) {
    operations = operationsPerElement(nest);
    value = nest->getResult(0);
    while (value.hasOneUse()) {
      auto reader = elementReader(*value.use_begin());
      if (!reader || reader.getNumReductionLoops() > 0 ||
          reader.getNumDpsInputs() != 1 || reader->getNumResults() != 1)
        break;
      value = reader->getResult(0);
      operations += static_cast<int64_t>(
          llvm::range_size(reader.getBody()->without_terminator()));
      ++roundings;
    }
  }

  /// Returns whether fusion is possible and profitable: only nests read the
  /// gradient, at least one reduces over all of it, and recomputing it takes
  /// less time. Without a reduction, the readers share a kernel with the
  /// producer anyway.
  bool isProfitable() {
    SetVector<Value> gathered;
    nest.getBody()->walk([&](tensor::ExtractOp extract) {
      gathered.insert(extract.getTensor());
    });
    int64_t savedBytes = sizeOf(value);
    for (Value tensor : gathered)
      savedBytes -= sizeOf(tensor);
    bool isSummed = false;
    double difference = -static_cast<double>(sizeOf(value));
    for (OpOperand &use : value.getUses()) {
      auto reader = elementReader(use);
      if (!reader || !canDropOperand(reader, value))
        return false;
      isSummed |= reducesOutermost(reader, use);
      if (!readers.insert(reader))
        continue;
      const int64_t bytes = bytesMoved(reader);
      const auto ownOperations = static_cast<int64_t>(
          llvm::range_size(reader.getBody()->without_terminator()));
      difference +=
          timeOf(reader, bytes - savedBytes, ownOperations + operations) -
          timeOf(reader, bytes, ownOperations);
    }
    return isSummed && difference < 0;
  }

  void run(RewriterBase &rewriter) {
    value = brew::passes::mergeDuplicateInputs(rewriter,
                                               unrollWindows(rewriter, nest))
                ->getResult(0);
    for (size_t i = 0; i < roundings; ++i)
      value = brew::passes::fuseProducer(
                  rewriter, cast<linalg::GenericOp>(*value.user_begin()), value,
                  /*isFullyFused=*/true)
                  ->getResult(0);
    for (Operation *reader : readers)
      brew::passes::fuseProducer(rewriter, cast<linalg::GenericOp>(reader),
                                 value,
                                 /*isFullyFused=*/true);
  }

private:
  /// Returns the time of a nest, in bytes of memory traffic.
  double timeOf(linalg::GenericOp reader, int64_t bytes,
                int64_t elementOperations) const {
    return std::max(
        static_cast<double>(bytes),
        static_cast<double>(elementOperations) * bytesPerOperation *
            static_cast<double>(countOf(reader.getStaticLoopRanges())));
  }

  linalg::GenericOp nest;
  const double bytesPerOperation;
  Value value;
  size_t roundings = 0;
  int64_t operations = 0; ///< per element
  SetVector<Operation *> readers;
};

struct FusePoolingBackward
    : brew::passes::impl::FusePoolingBackwardBase<FusePoolingBackward> {
  void runOnOperation() override {
    ProgramOp program = getOperation();
    if (brew::dialects::target::isForGpu(program) && !program.getBody().empty())
      fuse(program.getBody().front(),
           brew::dialects::target::gpuOf(program).bytesPerOperation());
  }

private:
  static void fuse(Block &block, double bytesPerOperation) {
    SmallVector<linalg::GenericOp> nests;
    for (auto nest : block.getOps<linalg::GenericOp>())
      if (gathersFromWindows(nest))
        nests.push_back(nest);
    IRRewriter rewriter(block.getParentOp()->getContext());
    for (linalg::GenericOp nest : nests)
      if (PoolingBackward pooling(nest, bytesPerOperation);
          pooling.isProfitable())
        pooling.run(rewriter);
    if (!nests.empty())
      brew::passes::eraseDeadNests(rewriter, block);
  }
};

} // namespace
