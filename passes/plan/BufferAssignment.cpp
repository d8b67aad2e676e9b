//===- BufferAssignment.cpp - Which values of a program share bytes --------------===//
#include "passes/plan/BufferAssignment.h"

#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/layers/communication/Communication.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/analysis/RepeatableBackward.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/plan/PassBoundary.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

unsigned BufferAssignment::allocationOf(Value value) const {
  return allocationIndex.lookup(storageOf(value).owner);
}

unsigned BufferAssignment::newAllocation(Value value, int64_t step) {
  Allocation root;
  value = storageOf(value).owner;
  root.live.size = bytesOf(tensorTypeOf(value));
  root.live.first = root.live.last = step;
  roots.push_back(root);
  allocationIndex[value] = roots.size() - 1;
  return roots.size() - 1;
}

void BufferAssignment::extendLifetime(Value value, int64_t step) {
  Allocation &root = roots[allocationOf(value)];
  root.live.first = std::min(root.live.first, step);
  root.live.last = std::max(root.live.last, step);
}

/// Whether what `op` names must still be there after the run.
static bool isReadAtEnd(Operation *op) {
  return op->hasTrait<IsSink>() && !op->hasTrait<IsStore>();
}

/// Whether a later step than `step` reads what lies at a fixed place.
bool BufferAssignment::isReadAfter(const FixedBuffer &place, int64_t step) const {
  auto found = valuesAt.find(keyOf(place));
  return found != valuesAt.end() &&
         llvm::any_of(found->second, [&](Value value) {
           return lastUse.lookup(value) > step;
         });
}

/// The places that a value is stored to.
SmallVector<FixedBuffer> BufferAssignment::storesOf(Value value) const {
  SmallVector<FixedBuffer> stores;
  for (Operation *user : value.getUsers())
    if (auto place = places.stored(user))
      stores.push_back(*place);
  return stores;
}

/// Lets results of a kernel take over buffers of inputs that end here.
void BufferAssignment::reuseInputs(KernelOp kernel, int64_t step) {
  SmallVector<int64_t> &shared = inPlace[kernel];
  shared.assign(kernel.getNumResults(), -1);
  llvm::SmallDenseSet<unsigned> takenRoots;
  // A kernel of many parts has thousands of inputs and of results.
  SmallVector<unsigned> inputRoots;
  llvm::SmallDenseMap<unsigned, unsigned> inputsOf;
  for (Value input : kernel.getInputs())
    ++inputsOf[inputRoots.emplace_back(allocationOf(input))];
  for (auto [number, result] : llvm::enumerate(kernel.getOutputs())) {
    // A subview lies where the whole does.
    if (isSubview(tensorTypeOf(result)))
      continue;
    const SmallVector<FixedBuffer> stores = storesOf(result);
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      if (isSubview(tensorTypeOf(input)))
        continue;
      unsigned root = inputRoots[i];
      // Parameters and state are updated in place; other fixed places, and
      // what a feed wrote and may not write again, are not.
      if (const std::optional<FixedBuffer> &fixed = roots[root].fixed) {
        bool updates = llvm::any_of(
            stores, [&](const FixedBuffer &place) { return place.isAt(*fixed); });
        if (!updates || isReadAfter(*fixed, step))
          continue;
      } else if (roots[root].pinned || lastUse.lookup(input) > step ||
                 roots[root].live.last > step ||
                 isa<DataInputOp>(input.getDefiningOp())) {
        continue;
      }
      // Another view of the same bytes among the inputs rules it out.
      if (takenRoots.contains(root) || inputsOf[root] != 1 ||
          !mayShareBuffer(kernel, i, number))
        continue;
      shared[number] = i;
      takenRoots.insert(root);
      allocationIndex[result] = root;
      if (roots[root].fixed)
        valuesAt[keyOf(*roots[root].fixed)].push_back(result);
      break;
    }
  }
}

/// Lets a call add to the value that it reads where that lies, if it ends here.
void BufferAssignment::accumulateInPlace(Operation *call, Value sum, int64_t step) {
  const Value result = call->getResult(0);
  const unsigned root = allocationOf(sum);
  if (sum.getType() != result.getType() || isSubview(tensorTypeOf(sum)) ||
      isSubview(tensorTypeOf(result)) || roots[root].fixed || roots[root].pinned ||
      lastUse.lookup(sum) > step || roots[root].live.last > step ||
      isa<DataInputOp>(sum.getDefiningOp()) ||
      llvm::count_if(call->getOperands(), [&](Value operand) {
        return allocationOf(operand) == root;
      }) != 1)
    return;
  allocationIndex[result] = root;
}

/// Lets sums over all ranks come into the place of what is added, where that
/// ends here; a wait's always do.
void BufferAssignment::reduceInPlace(Operation *reduce, int64_t step) {
  for (auto [operand, result] :
       llvm::zip_equal(reduce->getOperands(), reduce->getResults())) {
    const unsigned root = allocationOf(operand);
    if (isa<AllReduceWaitOp>(reduce)) {
      allocationIndex[result] = root;
      continue;
    }
    if (const std::optional<FixedBuffer> &fixed = roots[root].fixed) {
      // The sums of a bucket are stored behind its wait.
      const Value sum = result.use_begin()->getOwner()->getResult(
          result.use_begin()->getOperandNumber());
      if (llvm::none_of(
              storesOf(sum),
              [&](const FixedBuffer &place) { return place.isAt(*fixed); }) ||
          isReadAfter(*fixed, step))
        continue;
    } else if (roots[root].pinned || lastUse.lookup(operand) > step ||
               roots[root].live.last > step || isSubview(tensorTypeOf(operand)) ||
               storageOf(operand).owner.getDefiningOp<DataInputOp>() ||
               storageOf(operand).owner.getDefiningOp<OutputGradientOp>()) {
      continue;
    }
    // Not where another value of the bucket lies in the same bytes, nor where
    // the value is but a part of them.
    if (bytesOf(tensorTypeOf(storageOf(operand).owner)) !=
            bytesOf(tensorTypeOf(operand)) ||
        llvm::count_if(reduce->getOperands(),
                       [&](Value other) { return allocationOf(other) == root; }) != 1)
      continue;
    allocationIndex[result] = root;
  }
}

/// Whether `store` changes a parameter in the forward pass of a program with a
/// backward pass. Callers may run that pass alone, any number of times.
bool BufferAssignment::isStoredByForwardPass(Operation *store) const {
  if (!hasBackwardPass || !isa<StoreParamOp>(store))
    return false;
  Operation *source = storageOf(store->getOperand(0)).owner.getDefiningOp();
  auto step = stepNumber.find(source);
  return step == stepNumber.end() || step->second < forwardSteps;
}

/// Whether the forward pass stores to the place of a parameter that the
/// backward pass reads.
bool BufferAssignment::isOverwrittenBeforeLastUse(Operation *read,
                                           const FixedBuffer &place) const {
  return storedByForwardPass.count(keyOf(place)) &&
         lastUse.lookup(read->getResult(0)) >= forwardSteps;
}

/// The first step that reads a value, through all its views.
int64_t BufferAssignment::firstUseOf(Value value) {
  for (Operation &op : program.getBody().front())
    if (auto step = stepNumber.find(&op); step != stepNumber.end())
      for (Value operand : op.getOperands())
        if (storageOf(operand).owner == value)
          return step->second;
  return stepCount;
}

void BufferAssignment::findLastUses() {
  Block &block = program.getBody().front();
  Operation *backward = findBackwardPass(block);
  int64_t step = 0;
  for (Operation &op : block) {
    if (&op == backward)
      forwardSteps = step;
    if (isStep(&op))
      stepNumber[&op] = step++;
  }
  stepCount = step;
  hasBackwardPass = backward;
  if (!backward)
    forwardSteps = stepCount;
  std::set<FixedKey> readPlaces;
  for (Operation &op : block) {
    if (auto place = places.read(&op))
      readPlaces.insert(keyOf(*place));
    if (auto place = places.stored(&op); place && isStoredByForwardPass(&op))
      storedByForwardPass.insert(keyOf(*place));
  }
  // A parameter that the program also reads is stored by a copy at the end of
  // the pass that computes it, unless it is computed in place (assignStores).
  auto isCopied = [&](Operation &op) {
    auto place = places.stored(&op);
    return place && place->arena != dialects::plan::ArenaKind::Gradients &&
           readPlaces.count(keyOf(*place));
  };
  const bool isRepeatable = isa_and_nonnull<OutputGradientOp>(backward) &&
                            program->hasAttr(kRepeatableBackwardAttr);
  auto isOfForwardPass = [&](Value value) {
    Operation *source = storageOf(value).owner.getDefiningOp();
    auto step = stepNumber.find(source);
    return step == stepNumber.end() ? !isa<OutputGradientOp>(source)
                                    : step->second < forwardSteps;
  };
  // Last step at which each value, through all its views, is read.
  for (Operation &op : llvm::reverse(block)) {
    int64_t when = -1;
    if (isStep(&op))
      when = stepNumber[&op];
    else if (op.hasTrait<IsStore>() && isCopied(op) &&
             isStoredByForwardPass(&op))
      when = forwardSteps;
    else if (op.hasTrait<IsSink>()) // what is stored is read after the run
      when = stepCount;
    if (op.hasTrait<IsView>())
      when = lastUse.count(op.getResult(0)) ? lastUse[op.getResult(0)]
                                            : int64_t(-1);
    for (Value operand : op.getOperands()) {
      const bool isKept =
          isRepeatable && when >= forwardSteps && isOfForwardPass(operand);
      lastUse[operand] =
          std::max(lastUse.count(operand) ? lastUse[operand] : int64_t(-1),
                   isKept ? stepCount : when);
    }
  }
}

void BufferAssignment::findAllocations() {
  Block &block = program.getBody().front();
  for (Operation &op : block) {
    if (auto fixed = places.read(&op)) {
      if (isOverwrittenBeforeLastUse(&op, *fixed)) {
        const Value value = storageOf(op.getResult(0)).owner;
        const int64_t first = std::min(firstUseOf(value), forwardSteps);
        newAllocation(value, first);
        extendLifetime(value, lastUse.lookup(value));
        loadCopies.push_back({value, *fixed, first});
        continue;
      }
      unsigned root = newAllocation(op.getResult(0), 0);
      roots[root].fixed = fixed;
      valuesAt[keyOf(*fixed)].push_back(storageOf(op.getResult(0)).owner);
      continue;
    }
    if (isa<ReinterpretOp, SubviewOp>(op))
      continue; // lives as long as what it views
    if (auto feed = dyn_cast<DataInputOp>(op)) {
      // Readers that fill a blob for every run may share its bytes later on;
      // blobs that are set once must keep them.
      for (Value value : feed.getValues()) {
        unsigned root = newAllocation(value, 0);
        roots[root].live.last = isSetOnce(value) ? stepCount : 0;
        roots[root].isWrittenByCaller = true;
      }
    } else if (auto seed = dyn_cast<OutputGradientOp>(op)) {
      // The caller may write it before forward begins.
      roots[newAllocation(seed.getGradient(), 0)].isWrittenByCaller = true;
    } else if (isStep(&op)) {
      int64_t now = stepNumber[&op];
      // First the reads: sharing needs to know that they end here.
      for (Value operand : op.getOperands())
        extendLifetime(operand, now);
      if (auto kernel = dyn_cast<KernelOp>(op))
        reuseInputs(kernel, now);
      else if (auto conv = dyn_cast<ConvolutionSumOp>(op))
        accumulateInPlace(conv, conv.getSum(), now);
      else if (auto data = dyn_cast<ConvolutionBackwardDataOp>(op);
               data && data.getSum())
        accumulateInPlace(data, data.getSum(), now);
      else if (isa<AllReduceStartOp, AllReduceWaitOp>(op))
        reduceInPlace(&op, now);
      for (Value result : op.getResults())
        if (!allocationIndex.count(storageOf(result).owner))
          newAllocation(result, now);
    }
    if (isa<ConcatViewOp>(op)) { // its subviews have made it
      if (lastUse.count(op.getResult(0)) && lastUse[op.getResult(0)] >= 0)
        extendLifetime(op.getResult(0), lastUse[op.getResult(0)]);
      continue;
    }
    for (Value result : op.getResults())
      if (allocationIndex.count(storageOf(result).owner))
        extendLifetime(result,
              std::max<int64_t>(lastUse.count(result) ? lastUse[result] : -1,
                                stepNumber.count(&op) ? stepNumber[&op] : 0));
  }
  // What is read after the run keeps its bytes to the end.
  for (Operation &op : block)
    if (isReadAtEnd(&op))
      for (Value operand : op.getOperands()) {
        extendLifetime(operand, stepCount);
        roots[allocationOf(operand)].pinned = true;
        pinnedValues.insert(stripReshapes(operand));
      }
}

/// Whether what a place held is copied from it only after the step `made`.
bool BufferAssignment::isMadeBeforeLoad(const FixedBuffer &place, int64_t made) const {
  return llvm::any_of(loadCopies, [&](const PlannedCopy &load) {
    return load.place.isAt(place) && made < load.step;
  });
}

/// Values that are stored are produced in the place they are stored to.
void BufferAssignment::assignStores() {
  std::set<FixedKey> taken;
  for (const Allocation &root : roots)
    if (root.fixed)
      taken.insert(keyOf(*root.fixed));
  for (Operation &op : program.getBody().front()) {
    auto place = places.stored(&op);
    if (!place)
      continue;
    Value value = op.getOperand(0);
    Allocation &root = roots[allocationOf(value)];
    if (root.fixed && root.fixed->isAt(*place))
      continue; // written in place
    // What is read as well must keep its value until the last read.
    bool readToo = place->arena != dialects::plan::ArenaKind::Gradients &&
                   taken.count(keyOf(*place));
    // A subview lies where the whole does, and what the caller writes where no
    // earlier run has left anything of use.
    Value owner = stripReshapes(value);
    if (root.fixed || readToo || isSubview(tensorTypeOf(owner)) ||
        owner.getDefiningOp<OutputGradientOp>() ||
        isMadeBeforeLoad(*place, root.live.first)) {
      const bool isForward = isStoredByForwardPass(&op);
      storeCopies.push_back({value, *place,
                             isForward ? forwardSteps : stepCount,
                             hasBackwardPass && !isForward});
    } else {
      root.fixed = place;
      taken.insert(keyOf(*place));
    }
  }
  for (const PlannedCopy &copy : storeCopies)
    extendLifetime(copy.value, copy.step);
}

/// The places of gradients, until they are written. What lies between them,
/// where some programs read all of the arena, stays as it is. Callers that
/// bring in gradients may look at those of the last run after the next forward
/// pass.
std::vector<ReusableRange> BufferAssignment::findReusableRanges() {
  Block &block = program.getBody().front();
  if (!block.getOps<OutputGradientOp>().empty() ||
      llvm::any_of(block, [&](Operation &op) {
        auto place = places.read(&op);
        return place && place->arena == dialects::plan::ArenaKind::Gradients;
      }))
    return {};
  std::vector<ReusableRange> ranges;
  for (const Allocation &root : roots)
    if (root.fixed && root.fixed->arena == dialects::plan::ArenaKind::Gradients)
      ranges.push_back({root.fixed->offset, root.live.size, root.live.first});
  return ranges;
}

void BufferAssignment::assignOffsets() {
  const std::vector<ReusableRange> spare = findReusableRanges();
  std::vector<LiveValue> values, others;
  std::vector<unsigned> owners;
  for (auto [index, root] : llvm::enumerate(roots)) {
    if (root.fixed)
      continue;
    if (root.pinned || root.isWrittenByCaller) {
      others.push_back(root.live);
      continue;
    }
    values.push_back(root.live);
    owners.push_back(index);
  }
  for (auto [offset, owner] :
       llvm::zip(assignReusedOffsets(values, others, spare), owners))
    if (offset >= 0) {
      roots[owner].arena = dialects::plan::ArenaKind::Gradients;
      roots[owner].live.offset = offset;
    }
  values.clear();
  owners.clear();
  for (auto [index, root] : llvm::enumerate(roots))
    if (!root.fixed && root.arena == dialects::plan::ArenaKind::Transient) {
      values.push_back(root.live);
      owners.push_back(index);
    }
  arenaBytes = allocateArena(values);
  lowerBoundBytes = arenaLowerBound(values);
  for (auto [value, owner] : llvm::zip(values, owners))
    roots[owner].live.offset = value.offset;
}

BufferAssignment::BufferAssignment(ProgramOp program, const FixedBuffers &places)
    : program(program), places(places) {
  findLastUses();
  findAllocations();
  assignStores();
  assignOffsets();
}

ArrayRef<int64_t> BufferAssignment::inPlaceOf(KernelOp kernel) const {
  auto found = inPlace.find(kernel);
  return found == inPlace.end() ? ArrayRef<int64_t>() : found->second;
}
