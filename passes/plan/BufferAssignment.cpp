//===- BufferAssignment.cpp - Memory of a program's values ----------------===//
#include "passes/plan/BufferAssignment.h"

#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/layers/communication/Communication.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/analysis/LayerPrograms.h"
#include "passes/analysis/RepeatableBackward.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/plan/PassBoundary.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

unsigned BufferAssignment::allocationOf(Value value) const {
  return allocationIndex.lookup(storageOf(value).base);
}

unsigned BufferAssignment::newAllocation(Value value, int64_t step) {
  Allocation allocation;
  value = storageOf(value).base;
  allocation.live.size = bytesOf(tensorTypeOf(value));
  allocation.live.first = allocation.live.last = step;
  allocations.push_back(allocation);
  allocationIndex[value] = allocations.size() - 1;
  return allocations.size() - 1;
}

void BufferAssignment::extendLifetime(Value value, int64_t step) {
  Allocation &allocation = allocations[allocationOf(value)];
  allocation.live.first = std::min(allocation.live.first, step);
  allocation.live.last = std::max(allocation.live.last, step);
}

/// Returns whether the operands of `op` are read after the run.
static bool isReadAtEnd(Operation *op) {
  return op->hasTrait<IsSink>() && !op->hasTrait<IsStore>();
}

/// Returns whether a step after `step` reads the fixed buffer.
bool BufferAssignment::isReadAfter(const FixedBuffer &buffer,
                                   int64_t step) const {
  auto found = valuesAt.find(keyOf(buffer));
  return found != valuesAt.end() &&
         llvm::any_of(found->second, [&](Value value) {
           return lastUse.lookup(value) > step;
         });
}

/// Returns the buffers that a value is stored to.
SmallVector<FixedBuffer> BufferAssignment::storesOf(Value value) const {
  SmallVector<FixedBuffer> stores;
  for (Operation *user : value.getUsers())
    if (auto buffer = fixedBuffers.storedBy(user))
      stores.push_back(*buffer);
  return stores;
}

/// Lets results of a kernel reuse the memory of inputs that it reads last.
void BufferAssignment::reuseInputs(KernelOp kernel, int64_t step) {
  SmallVector<int64_t> &shared = inPlace[kernel];
  shared.assign(kernel.getNumResults(), -1);
  llvm::SmallDenseSet<unsigned> takenAllocations;
  // Look up the allocations once: a kernel of many sub-kernels has thousands of
  // inputs and results.
  SmallVector<unsigned> inputAllocations;
  llvm::SmallDenseMap<unsigned, unsigned> inputCount;
  for (Value input : kernel.getInputs())
    ++inputCount[inputAllocations.emplace_back(allocationOf(input))];
  for (auto [number, result] : llvm::enumerate(kernel.getOutputs())) {
    // A subview is allocated with the full tensor.
    if (isSubview(tensorTypeOf(result)))
      continue;
    const SmallVector<FixedBuffer> stores = storesOf(result);
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      if (isSubview(tensorTypeOf(input)))
        continue;
      unsigned allocation = inputAllocations[i];
      // A fixed buffer is updated in place only if the result is stored to it.
      // Data-layer tops are not overwritten, because the next run may use them
      // without refilling them.
      if (const std::optional<FixedBuffer> &fixed =
              allocations[allocation].fixed) {
        bool updates = llvm::any_of(stores, [&](const FixedBuffer &buffer) {
          return buffer.isAt(*fixed);
        });
        if (!updates || isReadAfter(*fixed, step))
          continue;
      } else if (allocations[allocation].pinned ||
                 lastUse.lookup(input) > step ||
                 allocations[allocation].live.last > step ||
                 input.getDefiningOp()->hasTrait<IsInput>()) {
        continue;
      }
      // If another input is a view of the same bytes, it may still be read, so
      // the bytes must not be overwritten.
      if (takenAllocations.contains(allocation) ||
          inputCount[allocation] != 1 || !mayShareBuffer(kernel, i, number))
        continue;
      shared[number] = i;
      takenAllocations.insert(allocation);
      allocationIndex[result] = allocation;
      if (allocations[allocation].fixed)
        valuesAt[keyOf(*allocations[allocation].fixed)].push_back(result);
      break;
    }
  }
}

/// Lets a call accumulate into its operand `sum` in place, if it is the last
/// reader.
void BufferAssignment::accumulateInPlace(Operation *call, Value sum,
                                         int64_t step) {
  const Value result = call->getResult(0);
  const unsigned allocation = allocationOf(sum);
  if (sum.getType() != result.getType() || isSubview(tensorTypeOf(sum)) ||
      isSubview(tensorTypeOf(result)) || allocations[allocation].fixed ||
      allocations[allocation].pinned || lastUse.lookup(sum) > step ||
      allocations[allocation].live.last > step ||
      sum.getDefiningOp()->hasTrait<IsInput>() ||
      llvm::count_if(call->getOperands(), [&](Value operand) {
        return allocationOf(operand) == allocation;
      }) != 1)
    return;
  allocationIndex[result] = allocation;
}

/// Lets an all-reduce start work in place on operands that it reads last. The
/// results of a wait always share memory with its operands.
void BufferAssignment::reduceInPlace(Operation *reduce, int64_t step) {
  for (auto [operand, result] :
       llvm::zip_equal(reduce->getOperands(), reduce->getResults())) {
    const unsigned allocation = allocationOf(operand);
    if (isa<AllReduceWaitOp>(reduce)) {
      allocationIndex[result] = allocation;
      continue;
    }
    if (const std::optional<FixedBuffer> &fixed =
            allocations[allocation].fixed) {
      // The sums of a bucket are stored after its wait.
      const Value sum = result.use_begin()->getOwner()->getResult(
          result.use_begin()->getOperandNumber());
      if (llvm::none_of(
              storesOf(sum),
              [&](const FixedBuffer &buffer) { return buffer.isAt(*fixed); }) ||
          isReadAfter(*fixed, step))
        continue;
    } else if (allocations[allocation].pinned ||
               lastUse.lookup(operand) > step ||
               allocations[allocation].live.last > step ||
               isSubview(tensorTypeOf(operand)) ||
               storageOf(operand).base.getDefiningOp()->hasTrait<IsInput>()) {
      continue;
    }
    // Do not overwrite an operand that shares its allocation with another
    // operand of the bucket, or that is only a slice of it.
    if (bytesOf(tensorTypeOf(storageOf(operand).base)) !=
            bytesOf(tensorTypeOf(operand)) ||
        llvm::count_if(reduce->getOperands(), [&](Value other) {
          return allocationOf(other) == allocation;
        }) != 1)
      continue;
    allocationIndex[result] = allocation;
  }
}

/// Returns whether `store` changes a parameter in the forward pass of a program
/// with a backward pass. Callers may run the forward pass alone, any number of
/// times.
bool BufferAssignment::isStoredByForwardPass(Operation *store) const {
  if (!hasBackwardPass || !isa<StoreParamOp>(store))
    return false;
  Operation *source = storageOf(store->getOperand(0)).base.getDefiningOp();
  auto step = stepNumber.find(source);
  return step == stepNumber.end() || step->second < forwardSteps;
}

/// Returns whether the forward pass overwrites a parameter that the backward
/// pass reads.
bool BufferAssignment::isOverwrittenBeforeLastUse(
    Operation *read, const FixedBuffer &buffer) const {
  return storedByForwardPass.count(keyOf(buffer)) &&
         lastUse.lookup(read->getResult(0)) >= forwardSteps;
}

/// Returns the first step that reads a value or a view of it; the number of
/// steps if there is none.
int64_t BufferAssignment::firstUseOf(Value value) {
  for (Operation &op : program.getBody().front())
    if (auto step = stepNumber.find(&op); step != stepNumber.end())
      for (Value operand : op.getOperands())
        if (storageOf(operand).base == value)
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
  std::set<FixedKey> readBuffers;
  for (Operation &op : block) {
    if (auto buffer = fixedBuffers.readBy(&op))
      readBuffers.insert(keyOf(*buffer));
    if (auto buffer = fixedBuffers.storedBy(&op);
        buffer && isStoredByForwardPass(&op))
      storedByForwardPass.insert(keyOf(*buffer));
  }
  // A parameter that the program also reads is stored by a copy at the end of
  // the pass that computes it, unless it is computed in place (assignStores).
  auto isCopied = [&](Operation &op) {
    auto buffer = fixedBuffers.storedBy(&op);
    return buffer && buffer->arena != dialects::plan::ArenaKind::Gradients &&
           readBuffers.count(keyOf(*buffer));
  };
  const bool isRepeatable = isa_and_nonnull<OutputGradientOp>(backward) &&
                            program->hasAttr(kRepeatableBackwardAttr);
  auto isForwardValue = [&](Value value) {
    Operation *source = storageOf(value).base.getDefiningOp();
    auto step = stepNumber.find(source);
    return step == stepNumber.end() ? !isa<OutputGradientOp>(source)
                                    : step->second < forwardSteps;
  };
  // Find the last step that reads each value or a view of it.
  for (Operation &op : llvm::reverse(block)) {
    int64_t lastStep = -1;
    if (isStep(&op))
      lastStep = stepNumber[&op];
    else if (op.hasTrait<IsStore>() && isCopied(op) &&
             isStoredByForwardPass(&op))
      lastStep = forwardSteps;
    else if (op.hasTrait<IsSink>()) // stored values are read after the run
      lastStep = stepCount;
    if (op.hasTrait<IsView>())
      lastStep = lastUse.count(op.getResult(0)) ? lastUse[op.getResult(0)]
                                                : int64_t(-1);
    for (Value operand : op.getOperands()) {
      const bool isPinnedForRepeat =
          isRepeatable && lastStep >= forwardSteps && isForwardValue(operand);
      lastUse[operand] =
          std::max(lastUse.count(operand) ? lastUse[operand] : int64_t(-1),
                   isPinnedForRepeat ? stepCount : lastStep);
    }
  }
}

void BufferAssignment::findAllocations() {
  Block &block = program.getBody().front();
  for (Operation &op : block) {
    if (auto fixed = fixedBuffers.readBy(&op)) {
      if (isOverwrittenBeforeLastUse(&op, *fixed)) {
        const Value value = storageOf(op.getResult(0)).base;
        const int64_t first = std::min(firstUseOf(value), forwardSteps);
        newAllocation(value, first);
        extendLifetime(value, lastUse.lookup(value));
        loadCopies.push_back({value, *fixed, first});
        continue;
      }
      unsigned allocation = newAllocation(op.getResult(0), 0);
      allocations[allocation].fixed = fixed;
      valuesAt[keyOf(*fixed)].push_back(storageOf(op.getResult(0)).base);
      continue;
    }
    if (isa<ReinterpretOp, SubviewOp>(op))
      continue; // shares the allocation of its source
    if (auto dataInput = dyn_cast<DataInputOp>(op)) {
      // The bytes of a blob that is refilled for every run can be reused after
      // its last read; a blob that is set once keeps them.
      for (Value value : dataInput.getValues()) {
        unsigned allocation = newAllocation(value, 0);
        allocations[allocation].live.last = isSetOnce(value) ? stepCount : 0;
        allocations[allocation].isWrittenExternally = true;
      }
    } else if (auto key = dyn_cast<RandomKeyOp>(op)) {
      allocations[newAllocation(key.getKey(), 0)].isWrittenExternally = true;
    } else if (auto outputGradient = dyn_cast<OutputGradientOp>(op)) {
      // The caller may write the gradient before the forward pass.
      allocations[newAllocation(outputGradient.getGradient(), 0)]
          .isWrittenExternally = true;
    } else if (isStep(&op)) {
      int64_t step = stepNumber[&op];
      // Extend the operands first: in-place decisions depend on their last use.
      for (Value operand : op.getOperands())
        extendLifetime(operand, step);
      if (auto kernel = dyn_cast<KernelOp>(op))
        reuseInputs(kernel, step);
      else if (auto conv = dyn_cast<ConvolutionSumOp>(op))
        accumulateInPlace(conv, conv.getSum(), step);
      else if (auto data = dyn_cast<ConvolutionBackwardDataOp>(op);
               data && data.getSum())
        accumulateInPlace(data, data.getSum(), step);
      else if (isa<AllReduceStartOp, AllReduceWaitOp>(op))
        reduceInPlace(&op, step);
      else if (auto loop = dyn_cast<LoopOp>(op))
        for (auto [initial, carried] :
             llvm::zip_equal(loop.getInitial(), loop.getCarried()))
          allocationIndex[carried] = allocationOf(initial);
      for (Value result : op.getResults())
        if (!allocationIndex.count(storageOf(result).base))
          newAllocation(result, step);
    }
    if (isa<ConcatViewOp>(op)) { // its operands have created the allocation
      if (lastUse.count(op.getResult(0)) && lastUse[op.getResult(0)] >= 0)
        extendLifetime(op.getResult(0), lastUse[op.getResult(0)]);
      continue;
    }
    for (Value result : op.getResults())
      if (allocationIndex.count(storageOf(result).base))
        extendLifetime(
            result,
            std::max<int64_t>(lastUse.count(result) ? lastUse[result] : -1,
                              stepNumber.count(&op) ? stepNumber[&op] : 0));
  }
  // Values read after the run stay live to the end.
  for (Operation &op : block)
    if (isReadAtEnd(&op))
      for (Value operand : op.getOperands()) {
        extendLifetime(operand, stepCount);
        allocations[allocationOf(operand)].pinned = true;
        pinnedValues.insert(stripReshapes(operand));
      }
}

/// Returns whether the old value of a buffer is loaded only after step
/// `writeStep`.
bool BufferAssignment::isComputedBeforeLoad(const FixedBuffer &buffer,
                                            int64_t writeStep) const {
  return llvm::any_of(loadCopies, [&](const PlannedCopy &load) {
    return load.buffer.isAt(buffer) && writeStep < load.step;
  });
}

/// Assigns stored values to the buffers they are stored to, where possible;
/// otherwise plans a copy.
void BufferAssignment::assignStores() {
  std::set<FixedKey> taken;
  for (const Allocation &allocation : allocations)
    if (allocation.fixed)
      taken.insert(keyOf(*allocation.fixed));
  for (Operation &op : program.getBody().front()) {
    auto buffer = fixedBuffers.storedBy(&op);
    if (!buffer)
      continue;
    Value value = op.getOperand(0);
    Allocation &allocation = allocations[allocationOf(value)];
    if (allocation.fixed && allocation.fixed->isAt(*buffer))
      continue; // written in place
    // If the buffer is also read, it must keep its value until the last read.
    bool isAlsoRead = buffer->arena != dialects::plan::ArenaKind::Gradients &&
                      taken.count(keyOf(*buffer));
    // A subview is allocated with the full tensor, and an output gradient must
    // not overwrite results of an earlier run.
    Value owner = stripReshapes(value);
    if (allocation.fixed || isAlsoRead || isSubview(tensorTypeOf(owner)) ||
        owner.getDefiningOp<OutputGradientOp>() ||
        isComputedBeforeLoad(*buffer, allocation.live.first)) {
      const bool isForward = isStoredByForwardPass(&op);
      storeCopies.push_back({value, *buffer,
                             isForward ? forwardSteps : stepCount,
                             hasBackwardPass && !isForward});
    } else {
      allocation.fixed = buffer;
      taken.insert(keyOf(*buffer));
    }
  }
  for (const PlannedCopy &copy : storeCopies)
    extendLifetime(copy.value, copy.step);
}

/// Returns the memory of gradients, which other values can use until the
/// gradients are written. Gaps between gradients stay untouched, because some
/// programs read the full arena. Returns nothing if the caller writes output
/// gradients: it may read the gradients of the last run after the next forward
/// pass.
std::vector<ReusableRange> BufferAssignment::findReusableRanges() {
  Block &block = program.getBody().front();
  // Callers who pin all blobs may also bind the gradients to their own memory.
  if (program->hasAttr(kRepeatableBackwardAttr) ||
      !block.getOps<OutputGradientOp>().empty() ||
      llvm::any_of(block, [&](Operation &op) {
        auto buffer = fixedBuffers.readBy(&op);
        return buffer && buffer->arena == dialects::plan::ArenaKind::Gradients;
      }))
    return {};
  std::vector<ReusableRange> ranges;
  for (const Allocation &allocation : allocations)
    if (allocation.fixed &&
        allocation.fixed->arena == dialects::plan::ArenaKind::Gradients)
      ranges.push_back({allocation.fixed->offset, allocation.live.size,
                        allocation.live.first});
  return ranges;
}

void BufferAssignment::moveInArena(int64_t bytes) {
  for (Allocation &allocation : allocations)
    if (!allocation.fixed &&
        allocation.arena == dialects::plan::ArenaKind::Transient)
      allocation.live.offset += bytes;
}

void BufferAssignment::assignOffsets() {
  // Callers may bind the blobs of a program of one layer to their own memory,
  // so these share no bytes with other values.
  if (isLayerProgram(program))
    for (Allocation &allocation : allocations)
      if (allocation.pinned || allocation.isWrittenExternally) {
        allocation.live.first = 0;
        allocation.live.last = stepCount;
      }
  const std::vector<ReusableRange> reusable = findReusableRanges();
  std::vector<LiveValue> values, others;
  std::vector<unsigned> allocationIndices;
  for (auto [index, allocation] : llvm::enumerate(allocations)) {
    if (allocation.fixed)
      continue;
    if (allocation.pinned || allocation.isWrittenExternally) {
      others.push_back(allocation.live);
      continue;
    }
    values.push_back(allocation.live);
    allocationIndices.push_back(index);
  }
  for (auto [offset, index] : llvm::zip(
           assignReusedOffsets(values, others, reusable), allocationIndices))
    if (offset >= 0) {
      allocations[index].arena = dialects::plan::ArenaKind::Gradients;
      allocations[index].live.offset = offset;
    }
  values.clear();
  allocationIndices.clear();
  for (auto [index, allocation] : llvm::enumerate(allocations))
    if (!allocation.fixed &&
        allocation.arena == dialects::plan::ArenaKind::Transient) {
      values.push_back(allocation.live);
      allocationIndices.push_back(index);
    }
  arenaBytes = allocateArena(values);
  lowerBoundBytes = arenaLowerBound(values);
  for (auto [value, index] : llvm::zip(values, allocationIndices))
    allocations[index].live.offset = value.offset;
}

BufferAssignment::BufferAssignment(ProgramOp program,
                                   const FixedBuffers &fixedBuffers)
    : program(program), fixedBuffers(fixedBuffers) {
  findLastUses();
  findAllocations();
  assignStores();
  assignOffsets();
}

ArrayRef<int64_t> BufferAssignment::inPlaceOf(KernelOp kernel) const {
  auto found = inPlace.find(kernel);
  return found == inPlace.end() ? ArrayRef<int64_t>() : found->second;
}
