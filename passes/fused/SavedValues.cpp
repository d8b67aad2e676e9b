//===- SavedValues.cpp - Values saved for the backward pass ---------------===//
#include "passes/fused/SavedValues.h"

#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/analysis/ValueStorage.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace brew;
using namespace brew::passes;
using namespace brew::dialects;

/// Returns whether the results of `op` need memory.
static bool needsMemory(Operation *op) {
  return op->getNumResults() > 0 && !op->hasTrait<IsPersistentRead>() &&
         !op->hasTrait<OpTrait::ConstantLike>() &&
         !isa<tensor::EmptyOp, linalg::FillOp, FillOp>(op) &&
         (!op->hasTrait<IsView>() || isa<ConcatViewOp>(op));
}

SmallVector<Value> brew::passes::valuesReadBy(Operation *op) {
  llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), read);
  return read.takeVector();
}

SavedValues::SavedValues(ProgramOp program,
                         const dialects::target::Roofline &roofline)
    : block(program.getBody().front()), roofline(roofline) {
  for (auto [i, op] : llvm::enumerate(block))
    position[&op] = static_cast<int64_t>(i);
  problem.otherBytes.assign(position.size() + 1, 0);
  findBackward();
  if (!backwardBegin)
    return;
  formUnits();
  findUses();
  deferred.resize(operations.size());
  fusionSteps.resize(operations.size());
  for (unsigned unit = 0; unit < operations.size(); ++unit)
    findFusionStep(unit);
  for (Operation &op : block)
    if (isa<linalg::GenericOp, PlanStepInterface, LoopInterface>(op))
      seconds += roofline.seconds(workOf(&op));
}

std::optional<unsigned> SavedValues::unitOf(Operation *op) const {
  auto found = units.find(op);
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

void SavedValues::findBackward() {
  for (Operation &op : block)
    if (Origin::of(&op).isBackward || isa<OutputGradientOp>(op)) {
      backwardBegin = &op;
      backwardPosition = positionOf(&op);
      return;
    }
}

int64_t SavedValues::bytesOf(Value owner) const {
  auto type = dyn_cast<RankedTensorType>(owner.getType());
  return type ? brew::passes::bytesOf(type) : 0;
}

dialects::target::Work SavedValues::workOf(Operation *op) const {
  dialects::target::Work work;
  if (isa<ConcatViewOp>(op))
    return work;
  for (Value value : valuesReadBy(op))
    if (Operation *source = value.getDefiningOp();
        source && !isa<tensor::EmptyOp, linalg::FillOp>(source))
      work.bytes += static_cast<double>(bytesOf(value));
  for (Value result : op->getResults())
    work.bytes += static_cast<double>(bytesOf(result));
  if (auto nest = dyn_cast<linalg::GenericOp>(op)) {
    work.flops = static_cast<double>(dialects::countScalarOperations(nest));
  } else if (auto call = dyn_cast<PlanStepInterface>(op)) {
    work.flops = static_cast<double>(call.countFlops());
    work.isProduct = true;
  } else if (auto loop = dyn_cast<LoopInterface>(op)) {
    work.flops = static_cast<double>(loop.countFlops());
    work.isProduct = true;
  }
  return work;
}

void SavedValues::formUnits() {
  // The slices of a concatenated tensor belong to its unit.
  llvm::EquivalenceClasses<Operation *> sharedStorage;
  for (Operation &op : block)
    if (isForward(&op) && needsMemory(&op)) {
      sharedStorage.insert(&op);
      for (Value result : op.getResults())
        if (Operation *base = storageOf(result).base.getDefiningOp();
            base && isForward(base) && needsMemory(base))
          sharedStorage.unionSets(&op, base);
    }
  // Units are ordered by their last operation.
  llvm::DenseMap<Operation *, unsigned>
      unitOfLeader; // by leader of an equivalence class
  for (Operation &op : llvm::reverse(block)) {
    if (!isForward(&op) || !needsMemory(&op))
      continue;
    auto [entry, isNew] = unitOfLeader.try_emplace(
        sharedStorage.getLeaderValue(&op), operations.size());
    if (isNew)
      operations.emplace_back();
    operations[entry->second].push_back(&op);
  }
  std::reverse(operations.begin(), operations.end());
  problem.units.resize(operations.size());
  for (auto [unitIndex, ops] : llvm::enumerate(operations)) {
    std::reverse(ops.begin(), ops.end());
    for (Operation *op : ops)
      units[op] = unitIndex;
  }
  for (RematerializationUnit &unit : problem.units)
    unit.canRematerialize = true; // until proved otherwise
  for (unsigned unit = 0; unit < operations.size(); ++unit)
    describeUnit(unit);
}

void SavedValues::describeUnit(unsigned unitIndex) {
  RematerializationUnit &unit = problem.units[unitIndex];
  unit.definedAt = unit.lastForwardUse =
      positionOf(operations[unitIndex].front());
  llvm::DenseSet<Value> owners;
  llvm::SetVector<unsigned> inputs;
  for (Operation *op : operations[unitIndex]) {
    unit.canRematerialize &=
        isMemoryEffectFree(op) &&
        isa<linalg::GenericOp, PlanStepInterface, ConcatViewOp>(op);
    for (Value result : op->getResults())
      if (Value owner = storageOf(result).base; owners.insert(owner).second)
        unit.bytes += bytesOf(owner);
    const dialects::target::Work work = workOf(op);
    if (work.bytes > 0)
      unit.seconds += roofline.seconds(work);
    for (Value value : valuesReadBy(op))
      if (Operation *source = storageOf(value).base.getDefiningOp())
        if (auto input = unitOf(source); input && *input != unitIndex)
          inputs.insert(*input);
  }
  for (unsigned input : inputs)
    if (input < unitIndex)
      unit.inputs.push_back(input);
    else
      // A slice computed from another slice of the same tensor: neither can be
      // recomputed alone.
      problem.units[input].canRematerialize = false;
}

void SavedValues::findUses() {
  std::vector<int64_t> changes(problem.otherBytes.size() + 1);
  llvm::DenseMap<Value, std::pair<int64_t, int64_t>>
      otherLifetimes; // lifetimes of other values
  const int64_t end = static_cast<int64_t>(position.size());
  llvm::DenseSet<Value> stored;
  for (Operation &op : block) {
    const int64_t opPosition = positionOf(&op);
    if (!isForward(&op) && needsMemory(&op))
      for (Value result : op.getResults())
        otherLifetimes.try_emplace(storageOf(result).base, opPosition,
                                   opPosition);
    if (op.hasTrait<IsView>())
      continue; // views read nothing themselves
    for (Value value : valuesReadBy(&op)) {
      Value owner = storageOf(value).base;
      Operation *source = owner.getDefiningOp();
      auto unitIndex = source ? unitOf(source) : std::nullopt;
      if (op.hasTrait<IsStore>()) {
        stored.insert(owner); // is allocated where it is stored
        if (unitIndex)
          problem.units[*unitIndex].canRematerialize = false;
        continue;
      }
      const int64_t usePosition = op.hasTrait<IsSink>() ? end : opPosition;
      if (auto entry = otherLifetimes.find(owner);
          entry != otherLifetimes.end())
        entry->second.second = std::max(entry->second.second, usePosition);
      if (!unitIndex)
        continue;
      RematerializationUnit &unit = problem.units[*unitIndex];
      if (op.hasTrait<IsSink>())
        unit.canRematerialize = false;
      if (usePosition < backwardPosition) {
        unit.lastForwardUse = std::max(unit.lastForwardUse, usePosition);
      } else {
        unit.firstBackwardUse =
            unit.lastBackwardUse < 0
                ? usePosition
                : std::min(unit.firstBackwardUse, usePosition);
        unit.lastBackwardUse = std::max(unit.lastBackwardUse, usePosition);
      }
    }
  }
  for (auto [owner, life] : otherLifetimes)
    if (!stored.contains(owner)) {
      changes[life.first] += bytesOf(owner);
      changes[life.second + 1] -= bytesOf(owner);
    }
  int64_t bytes = 0;
  for (size_t step = 0; step < problem.otherBytes.size(); ++step)
    problem.otherBytes[step] = bytes += changes[step];
}

/// Returns the last reader of `x`, if it is a nest of the backward pass that
/// reads `x` element by element in the same order as `producer`; otherwise
/// null.
Operation *SavedValues::lastReader(Value x, linalg::GenericOp producer) const {
  Operation *last = nullptr;
  for (Operation *user : x.getUsers()) {
    user = block.findAncestorOpInBlock(*user);
    if (user->hasTrait<IsView>() || user->hasTrait<IsSink>())
      return nullptr;
    if (!last || last->isBeforeInBlock(user))
      last = user;
  }
  auto nest = dyn_cast_or_null<linalg::GenericOp>(last);
  if (!nest || isForward(nest) || nest.getNumReductionLoops() > 0 ||
      llvm::count(nest.getDpsInputs(), x) != 1 ||
      llvm::none_of(nest->getResultTypes(),
                    [&](Type type) { return type == x.getType(); }))
    return nullptr;
  auto identity = [&](linalg::GenericOp reader) {
    for (OpOperand *input : reader.getDpsInputOperands())
      if (input->get() == x)
        return reader.getMatchingIndexingMap(input).isIdentity();
    return false;
  };
  return identity(nest) && identity(producer) ? nest : nullptr;
}

/// Returns the transitive users of `y` before `until`, in order, if all of them
/// can be deferred until after it; otherwise nullopt.
std::optional<SmallVector<Operation *>>
SavedValues::deferrableUsersOf(Value y, Operation *until) const {
  llvm::SmallPtrSet<Operation *, 8> found;
  SmallVector<Value> values = {y};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      user = block.findAncestorOpInBlock(*user);
      if (user == until)
        return std::nullopt;
      if (isForward(user) || until->isBeforeInBlock(user) ||
          !found.insert(user).second)
        continue;
      // Nests are not deferred: next to other gradients they read `y` cheaply.
      if ((!isMemoryEffectFree(user) && !user->hasTrait<IsSink>()) ||
          (llvm::is_contained(user->getOperands(), y) &&
           !isa<PlanStepInterface>(user)))
        return std::nullopt;
      llvm::append_range(values, user->getResults());
    }
  SmallVector<Operation *> ordered(found.begin(), found.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// Finds the step next to which a unit can be recomputed. Example: a normalized
/// blob that only a weight gradient reads. The nest that computes the gradient
/// of the normalization is the last reader of its bottom, and could recompute
/// the blob, if the weight gradient came later.
void SavedValues::findFusionStep(unsigned unitIndex) {
  RematerializationUnit &unit = problem.units[unitIndex];
  auto producer =
      operations[unitIndex].size() == 1
          ? dyn_cast<linalg::GenericOp>(operations[unitIndex].front())
          : linalg::GenericOp();
  if (!unit.canRematerialize || unit.lastBackwardUse < 0 || !producer ||
      producer->getNumResults() != 1 || producer.getNumReductionLoops() > 0 ||
      !producer.getMatchingIndexingMap(producer.getDpsInitOperand(0))
           .isIdentity())
    return;
  const Value y = producer->getResult(0);
  for (Operation *user : y.getUsers())
    if (user->hasTrait<IsView>())
      return;
  for (Value x : producer.getDpsInputs()) {
    Operation *source = storageOf(x).base.getDefiningOp();
    if (x.getType() != y.getType() || !source || !unitOf(source))
      continue;
    Operation *reader = lastReader(x, producer);
    if (!reader)
      continue;
    auto users = deferrableUsersOf(y, reader);
    if (!users || users->empty())
      continue;
    // A kernel that contains both nests reads x once.
    dialects::target::Work combined = workOf(reader);
    const double readerSeconds = roofline.seconds(combined);
    const dialects::target::Work producerWork = workOf(producer);
    combined.bytes += producerWork.bytes - static_cast<double>(bytesOf(x));
    combined.flops += producerWork.flops;
    unit.seconds = roofline.seconds(combined) - readerSeconds;
    unit.fusionStep = positionOf(reader);
    // A slice of a concatenated tensor has no memory of its own to reuse.
    unit.reusesInputMemory = storageOf(x).base == x;
    fusionSteps[unitIndex] = reader;
    deferred[unitIndex] = std::move(*users);
    return;
  }
}
