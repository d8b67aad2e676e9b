//===- ChannelSums.cpp - Values of a nest as sums per channel -------------===//
#include "passes/fused/ChannelSums.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace brew::dialects;
using brew::passes::ChannelSums;
using brew::passes::Coefficients;

/// Maximal number of elements in one sum: each needs a coefficient.
static constexpr size_t kMaxTerms = 4;
/// A channel must have this many elements.
static constexpr int64_t kMinElements = 64;

static constexpr auto kContract = arith::FastMathFlags::contract;

bool ChannelSums::analyse() {
  eraseDeadOperations();
  if (!chooseChannels() || !readsNarrowElements() ||
      llvm::any_of(*nest.getBody(),
                   [](Operation &op) { return op.getNumRegions() > 0; }))
    return false;
  for (Operation &op : nest.getBody()->without_terminator())
    addOperation(op);
  for (Value result : nest.getBody()->getTerminator()->getOperands())
    need(result);
  return needed.size() < channelTensors.size();
}

bool ChannelSums::readsNarrowElements() {
  auto isNarrow = [](Value value) {
    return value.getType().isBF16() || value.getType().isF16();
  };
  return llvm::any_of(nest.getRegionInputArgs(), isNarrow) ||
         llvm::any_of(nest.getBody()->getOps<tensor::ExtractOp>(),
                      [&](tensor::ExtractOp extract) {
                        return isNarrow(extract.getResult());
                      });
}

llvm::MapVector<AffineMap, SmallVector<ChannelSums::Number>>
ChannelSums::numbers() {
  llvm::MapVector<AffineMap, SmallVector<Number>> result;
  for (OpOperand *input : nest.getDpsInputOperands())
    result[nest.getMatchingIndexingMap(input)].push_back(
        {nest.getMatchingBlockArgument(input), input->get()});
  for (auto extract : nest.getBody()->getOps<tensor::ExtractOp>())
    if (extract.getIndices().size() == 1)
      if (auto index = extract.getIndices()[0].getDefiningOp<linalg::IndexOp>())
        result[AffineMap::get(
                   nest.getNumLoops(), 0,
                   getAffineDimExpr(index.getDim(), nest.getContext()))]
            .push_back({extract.getResult(), extract.getTensor()});
  const int64_t iterations = countOf(nest.getStaticLoopRanges());
  for (auto &[map, found] : result)
    llvm::erase_if(found, [&, map = map](const Number &number) {
      auto type = dyn_cast<RankedTensorType>(number.tensor.getType());
      return !type || type.getRank() != 1 || !map.isProjectedPermutation() ||
             !(type.getElementType().isF32() ||
               type.getElementType().isF64()) ||
             type.getDimSize(0) * kMinElements > iterations;
    });
  return result;
}

bool ChannelSums::chooseChannels() {
  SmallVector<Number> chosen;
  for (const auto &[map, found] : numbers())
    if (found.size() > chosen.size()) {
      chosen = found;
      channelMap = map;
    }
  if (llvm::none_of(chosen, [](const Number &number) {
        return number.tensor.getDefiningOp<linalg::GenericOp>() != nullptr;
      }))
    return false;
  elementType = chosen.front().value.getType();
  for (const Number &number : chosen) {
    if (number.value.getType() != elementType)
      return false;
    channelValues.push_back(number.value);
    channelTensors.insert(number.tensor);
    sums[number.value].constant = coefficients.tensor(number.tensor);
  }
  return channelTensors.size() > 1;
}

void ChannelSums::eraseDeadOperations() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*nest.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

ChannelSums::Sum ChannelSums::sumOf(Value value) {
  if (auto found = sums.find(value); found != sums.end())
    return found->second;
  Sum result;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    result.constant = coefficients.constant(constant.getValue());
  else
    result.terms.emplace_back(value, Coefficients::kOne);
  return result;
}

std::optional<ChannelSums::Sum> ChannelSums::added(Sum a, const Sum &b) {
  // The mean of elements of full precision may be much larger than their
  // differences from it, which must be computed first.
  auto isExact = [](const auto &term) {
    return isa<BlockArgument>(term.first) ||
           term.first.template getDefiningOp<tensor::ExtractOp>();
  };
  if (llvm::any_of(a.terms, isExact) || llvm::any_of(b.terms, isExact))
    return std::nullopt;
  for (const auto &[element, coefficient] : b.terms) {
    auto *same = llvm::find_if(a.terms, [element = element](const auto &term) {
      return term.first == element;
    });
    if (same == a.terms.end())
      a.terms.emplace_back(element, coefficient);
    else
      same->second = coefficients.sum(same->second, coefficient);
  }
  a.constant = coefficients.sum(a.constant, b.constant);
  return a;
}

ChannelSums::Sum ChannelSums::scaled(Sum sum, Id factor) {
  for (auto &[element, coefficient] : sum.terms)
    coefficient = coefficients.product(coefficient, factor);
  sum.constant = coefficients.product(sum.constant, factor);
  return sum;
}

ChannelSums::Sum ChannelSums::negated(Sum sum) {
  for (auto &[element, coefficient] : sum.terms)
    coefficient = coefficients.negative(coefficient);
  sum.constant = coefficients.negative(sum.constant);
  return sum;
}

std::optional<ChannelSums::Sum> ChannelSums::sumOfResult(Operation &op) {
  auto arithmetic = dyn_cast<arith::ArithFastMathInterface>(op);
  auto flags = arithmetic ? arithmetic.getFastMathFlagsAttr() : nullptr;
  if (!flags || !arith::bitEnumContainsAll(flags.getValue(), kContract) ||
      op.getResult(0).getType() != elementType ||
      llvm::any_of(op.getOperands(), [&](Value operand) {
        return llvm::is_contained(nest.getRegionOutputArgs(), operand);
      }))
    return std::nullopt;
  if (isa<arith::NegFOp>(op))
    return negated(sumOf(op.getOperand(0)));
  if (isa<arith::AddFOp>(op))
    return added(sumOf(op.getOperand(0)), sumOf(op.getOperand(1)));
  if (isa<arith::SubFOp>(op))
    return added(sumOf(op.getOperand(0)), negated(sumOf(op.getOperand(1))));
  if (!isa<arith::MulFOp>(op))
    return std::nullopt;
  const Sum a = sumOf(op.getOperand(0)), b = sumOf(op.getOperand(1));
  if (!a.terms.empty() && !b.terms.empty())
    return std::nullopt;
  return a.terms.empty() ? scaled(b, a.constant) : scaled(a, b.constant);
}

void ChannelSums::addOperation(Operation &op) {
  if (op.hasTrait<OpTrait::ConstantLike>() ||
      llvm::any_of(op.getResults(),
                   [&](Value result) { return sums.count(result); }))
    return;
  if (std::optional<Sum> sum = sumOfResult(op);
      sum && sum->terms.size() <= kMaxTerms) {
    sums[op.getResult(0)] = *sum;
    return;
  }
  for (Value operand : op.getOperands())
    need(operand);
}

void ChannelSums::need(Value value) {
  auto found = sums.find(value);
  if (found == sums.end())
    return;
  for (const auto &[element, coefficient] : found->second.terms)
    needCoefficient(coefficient);
  needCoefficient(found->second.constant);
}

void ChannelSums::needCoefficient(Id id) {
  if (!coefficients.isConstant(id))
    needed.insert(coefficients.magnitude(id));
}

void ChannelSums::rebuild(RewriterBase &rewriter, ArrayRef<Value> tensors) {
  SmallVector<Value> inputs, arguments;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : nest.getDpsInputOperands()) {
    Value argument = nest.getMatchingBlockArgument(input);
    if (llvm::is_contained(channelValues, argument))
      continue;
    inputs.push_back(input->get());
    arguments.push_back(argument);
    maps.push_back(nest.getMatchingIndexingMap(input));
  }
  const size_t others = inputs.size();
  llvm::append_range(inputs, tensors);
  maps.append(tensors.size(), channelMap);
  for (OpOperand &init : nest.getDpsInitsMutable())
    maps.push_back(nest.getMatchingIndexingMap(&init));
  rewriter.setInsertionPoint(nest);
  auto rebuilt = linalg::GenericOp::create(
      rewriter, nest.getLoc(), nest->getResultTypes(), inputs,
      nest.getDpsInits(), maps, nest.getIteratorTypesArray(),
      [&](OpBuilder &b, Location, ValueRange values) {
        newValues.map(arguments, values.take_front(others));
        newValues.map(nest.getRegionOutputArgs(),
                      values.drop_front(inputs.size()));
        for (auto [id, value] : llvm::zip(needed, values.drop_front(others)))
          elements[id] = value;
        buildBody(b);
      });
  Origin::of(nest).mark(rebuilt);
  rewriter.replaceOp(nest, rebuilt->getResults());
}

void ChannelSums::buildBody(OpBuilder &b) {
  for (Operation &op : nest.getBody()->without_terminator()) {
    if (op.getNumResults() == 1 && sums.count(op.getResult(0)))
      continue;
    for (Value operand : op.getOperands())
      compute(b, op.getLoc(), operand);
    b.clone(op, newValues);
  }
  Operation *end = nest.getBody()->getTerminator();
  for (Value result : end->getOperands())
    compute(b, end->getLoc(), result);
  b.clone(*end, newValues);
}

void ChannelSums::compute(OpBuilder &b, Location loc, Value value) {
  auto found = sums.find(value);
  if (found == sums.end() || newValues.contains(value))
    return;
  // The sum so far, or its negative.
  Value total;
  bool isNegative = false;
  auto add = [&](Value element, Id coefficient) {
    const Id factor = coefficients.magnitude(coefficient);
    const bool isTermNegative = factor != coefficient;
    Value term = element;
    if (!element || factor != Coefficients::kOne)
      term = coefficientValue(b, loc, factor);
    if (element && term != element)
      term = arith::MulFOp::create(b, loc, element, term, kContract);
    if (!total) {
      total = term;
      isNegative = isTermNegative;
    } else if (isNegative == isTermNegative) {
      total = arith::AddFOp::create(b, loc, term, total, kContract);
    } else {
      total = arith::SubFOp::create(b, loc, isNegative ? term : total,
                                    isNegative ? total : term, kContract);
      isNegative = false;
    }
  };
  // The constant comes first, so that the sum consists of multiply-adds.
  const Sum &sum = found->second;
  if (sum.terms.empty() || sum.constant != Coefficients::kZero)
    add(Value(), sum.constant);
  for (const auto &[element, coefficient] : sum.terms)
    add(newValues.lookupOrDefault(element), coefficient);
  if (isNegative)
    total = arith::NegFOp::create(b, loc, total, kContract);
  newValues.map(value, total);
}

Value ChannelSums::coefficientValue(OpBuilder &b, Location loc, Id id) {
  if (auto found = elements.find(id); found != elements.end())
    return found->second;
  return coefficients.build(b, loc, elementType, id,
                            llvm::DenseMap<Value, Value>());
}
