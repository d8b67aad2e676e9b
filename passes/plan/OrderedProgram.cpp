//===- OrderedProgram.cpp - Ordering problem of a program -----------------===//
#include "passes/plan/OrderedProgram.h"

#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "passes/analysis/ValueStorage.h"
#include "passes/plan/PassBoundary.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace brew::dialects;

namespace brew::passes {

OrderedProgram::OrderedProgram(ProgramOp program)
    : block(program.getBody().front()) {
  for (Operation &op : block)
    if (op.hasTrait<IsSink>())
      addSink(&op);
  Operation *backward = findBackwardPass(block);
  std::optional<unsigned> backwardBegin;
  for (Operation &op : block) {
    if (&op == backward)
      backwardBegin = steps.size();
    if (isStep(&op))
      addStep(&op);
  }
  problem.forwardSteps = backwardBegin.value_or(steps.size());
}

std::vector<unsigned> OrderedProgram::forwardFirstOrder() const {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (auto [number, step] : llvm::enumerate(steps))
    numbers[step] = number;
  std::vector<unsigned> order;
  llvm::SmallPtrSet<Operation *, 32> visited;
  // Visit the producers of a step and the steps that it must follow first.
  std::function<void(Operation *)> visit = [&](Operation *op) {
    if (!visited.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      visit(operand.getDefiningOp());
    auto number = numbers.find(op);
    if (number == numbers.end())
      return;
    for (unsigned earlier : problem.steps[number->second].after)
      visit(steps[earlier]);
    order.push_back(number->second);
  };
  for (Operation *step : steps)
    if (!isBackwardStep(step))
      visit(step);
  for (Operation *step : steps)
    visit(step);
  return order;
}

void OrderedProgram::applyOrder(ArrayRef<unsigned> order) {
  SmallVector<Operation *> all;
  for (Operation &op : block)
    all.push_back(&op);
  for (unsigned step : order)
    appendWithProducers(steps[step]);
  for (Operation *op : all)
    appendWithProducers(op);
}

void OrderedProgram::excludeValues(
    llvm::function_ref<bool(Value)> isOutsideArena) {
  for (const auto &[owner, number] : values)
    if (isOutsideArena(owner))
      problem.values[number].bytes = 0;
}

void OrderedProgram::appendWithProducers(Operation *op) {
  if (!appended.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    appendWithProducers(operand.getDefiningOp());
  op->moveBefore(&block, block.end());
}

unsigned OrderedProgram::valueNumberOf(Value value) {
  Value owner = storageOf(value).base;
  auto [entry, isNew] = values.try_emplace(owner, problem.values.size());
  if (!isNew)
    return entry->second;
  Operation *source = owner.getDefiningOp();
  OrderedValue &newValue = problem.values.emplace_back();
  // Values in other arenas need no transient memory.
  newValue.bytes =
      source->hasTrait<IsPersistentRead>() ? 0 : bytesOf(tensorTypeOf(owner));
  newValue.liveAtStart = !isStep(source) && !isa<ConcatViewOp>(source);
  return entry->second;
}

void OrderedProgram::addStep(Operation *op) {
  const unsigned number = steps.size();
  steps.push_back(op);
  OrderedStep step;
  auto addUnique = [&](Value value, std::vector<unsigned> &to) {
    unsigned valueNumber = valueNumberOf(value);
    if (!llvm::is_contained(to, valueNumber))
      to.push_back(valueNumber);
  };
  for (Value operand : op->getOperands())
    addUnique(operand, step.reads);
  for (Value result : op->getResults())
    addUnique(result, step.writes);
  addInPlacePairs(op, step);
  // Steps with side effects keep their order.
  if (!isMemoryEffectFree(op)) {
    if (lastStepWithEffects)
      step.after.push_back(*lastStepWithEffects);
    lastStepWithEffects = number;
  }
  problem.steps.push_back(std::move(step));
}

/// Predicts which results BufferAssignment will compute in place.
void OrderedProgram::addInPlacePairs(Operation *op, OrderedStep &step) {
  auto canReuse = [&](Value result, Value operand) {
    const unsigned read = valueNumberOf(operand);
    return problem.values[read].bytes > 0 &&
           !problem.values[read].liveAtStart &&
           result.getType() == operand.getType() &&
           !isSubview(tensorTypeOf(operand)) &&
           llvm::none_of(step.inPlacePairs,
                         [&](const OrderedStep::InPlacePair &other) {
                           return other.read == read;
                         });
  };
  auto addPair = [&](Value result, Value operand) {
    step.inPlacePairs.push_back(
        {valueNumberOf(result), valueNumberOf(operand)});
  };
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    for (auto [number, result] : llvm::enumerate(kernel.getOutputs()))
      for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
        if (canReuse(result, input) && mayShareBuffer(kernel, i, number)) {
          addPair(result, input);
          break;
        }
  } else if (auto loop = dyn_cast<LoopOp>(op)) {
    for (auto [carried, initial] :
         llvm::zip_equal(loop.getCarried(), loop.getInitial()))
      addPair(carried, initial);
  } else if (auto conv = dyn_cast<ConvolutionSumOp>(op)) {
    if (canReuse(conv->getResult(0), conv.getSum()))
      addPair(conv->getResult(0), conv.getSum());
  } else if (auto data = dyn_cast<ConvolutionBackwardDataOp>(op);
             data && data.getSum() &&
             canReuse(data->getResult(0), data.getSum())) {
    addPair(data->getResult(0), data.getSum());
  }
}

void OrderedProgram::addSink(Operation *op) {
  for (Value operand : op->getOperands()) {
    OrderedValue &value = problem.values[valueNumberOf(operand)];
    value.liveAtEnd = true;
    if (op->hasTrait<IsStore>())
      value.bytes = 0; // computed in the buffer that it is stored to
  }
}

} // namespace brew::passes
