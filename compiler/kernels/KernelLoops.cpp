//===- KernelLoops.cpp - Loops of a part and what they do to indices ------===//

#include "compiler/kernels/KernelLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;

namespace brew::compiler {
namespace {

void removeLoop(Nest &nest, unsigned loop) {
  nest.loops.erase(nest.loops.begin() + loop);
  nest.forEachLinear(
      [&](Linear &linear) { linear.coefs.erase(linear.coefs.begin() + loop); });
}

void dropUnitLoops(Part &part) {
  for (Nest &nest : part.nests)
    for (unsigned i = nest.loops.size(); i-- > part.grid;)
      if (nest.loops[i].extent == 1)
        removeLoop(nest, i);
  for (unsigned i = part.grid; i-- > 0;)
    if (part.nests[0].loops[i].extent == 1) {
      for (Nest &nest : part.nests)
        removeLoop(nest, i);
      --part.grid;
    }
}

/// How far apart the elements are that consecutive iterations of `loop` read.
int64_t readStride(const Nest &nest, unsigned loop) {
  int64_t stride = 0;
  for (const std::optional<Access> &input : nest.inputs)
    if (input)
      stride = std::max(stride, std::abs(input->address.coefs[loop]));
  for (const auto &entry : nest.extracts)
    stride = std::max(stride, std::abs(entry.second.address.coefs[loop]));
  return stride;
}

/// Grid loops go in the memory order of the last nest's result, others in that
/// of their own nest's.
void orderLoops(Part &part) {
  ArrayRef<int64_t> main = part.nests.back().outputs[0].address.coefs;
  SmallVector<unsigned> grid =
      llvm::to_vector(llvm::seq<unsigned>(0, part.grid));
  llvm::stable_sort(grid,
                    [&](unsigned a, unsigned b) { return main[a] > main[b]; });
  for (Nest &nest : part.nests) {
    SmallVector<unsigned> order =
        llvm::to_vector(llvm::seq<unsigned>(0, nest.loops.size()));
    llvm::copy(grid, order.begin());
    auto firstReduction = std::stable_partition(
        order.begin() + part.grid, order.end(),
        [&](unsigned i) { return !nest.loops[i].reduction; });
    std::stable_sort(order.begin() + part.grid, firstReduction,
                     [&](unsigned a, unsigned b) {
                       return nest.outputs[0].address.coefs[a] >
                              nest.outputs[0].address.coefs[b];
                     });
    if (nest.reorderable)
      std::stable_sort(firstReduction, order.end(),
                       [&](unsigned a, unsigned b) {
                         return readStride(nest, a) > readStride(nest, b);
                       });
    SmallVector<Loop> loops;
    for (unsigned i : order)
      loops.push_back(nest.loops[i]);
    nest.loops = loops;
    nest.forEachLinear([&](Linear &linear) {
      SmallVector<int64_t> coefs;
      for (unsigned i : order)
        coefs.push_back(linear.coefs[i]);
      linear.coefs = coefs;
    });
  }
}

/// Whether loops `i` and `i` + 1 address everything like one loop would.
bool canCollapse(Nest &nest, unsigned i) {
  bool can = nest.loops[i].reduction == nest.loops[i + 1].reduction;
  nest.forEachLinear([&](Linear &linear) {
    can &= linear.coefs[i] == linear.coefs[i + 1] * nest.loops[i + 1].extent;
  });
  return can;
}

void collapse(Nest &nest, unsigned i) {
  nest.loops[i + 1].extent *= nest.loops[i].extent;
  removeLoop(nest, i);
}

void collapseLoops(Part &part) {
  for (unsigned i = part.grid; i-- > 1;)
    if (llvm::all_of(part.nests,
                     [&](Nest &nest) { return canCollapse(nest, i - 1); })) {
      for (Nest &nest : part.nests)
        collapse(nest, i - 1);
      --part.grid;
    }
  for (Nest &nest : part.nests)
    for (unsigned i = nest.loops.size(); i-- > part.grid + 1;)
      if (canCollapse(nest, i - 1))
        collapse(nest, i - 1);
}

/// A temporary whose dropped loops leave holes is packed where every reader
/// uses the producer's own strides.
class Packing {
public:
  Packing(const Nest &producer, const Linear &address, unsigned outer) {
    for (unsigned i = outer; i < producer.loops.size(); ++i)
      if (address.coefs[i]) {
        extents[address.coefs[i]] = producer.loops[i].extent;
        span += address.coefs[i] * (producer.loops[i].extent - 1);
      }
    int64_t stride = 1;
    for (auto [coef, extent] : extents) {
      packed[coef] = stride;
      stride *= extent;
    }
    packed[0] = 0;
    packedSize = stride;
  }

  void require(ArrayRef<int64_t> coefs) {
    for (int64_t coef : coefs)
      possible &= packed.count(coef) != 0;
  }
  void require(const Linear &address) {
    require(address.coefs);
    possible &= address.constant == 0;
  }
  void rewrite(MutableArrayRef<int64_t> coefs) const {
    if (possible)
      for (int64_t &coef : coefs)
        coef = packed.at(coef);
  }
  int64_t size() const { return possible ? packedSize : span; }

private:
  std::map<int64_t, int64_t> extents, packed; // by stride
  int64_t span = 1, packedSize = 1;
  bool possible = true;
};

} // namespace

void normaliseLoops(Part &part) {
  dropUnitLoops(part);
  orderLoops(part);
  collapseLoops(part);
}

void splitGridLoop(Part &part, unsigned loop, int64_t inner) {
  for (Nest &nest : part.nests) {
    nest.loops[loop].extent /= inner;
    nest.loops.insert(nest.loops.begin() + loop + 1, Loop{inner, false});
    nest.forEachLinear([&](Linear &linear) {
      int64_t coef = linear.coefs[loop];
      linear.coefs[loop] = coef * inner;
      linear.coefs.insert(linear.coefs.begin() + loop + 1, coef);
    });
  }
  ++part.grid;
}

void moveGridLoop(Part &part, unsigned from, unsigned to) {
  auto rotate = [&](auto &values) {
    std::rotate(values.begin() + from, values.begin() + from + 1,
                values.begin() + to + 1);
  };
  for (Nest &nest : part.nests) {
    rotate(nest.loops);
    nest.forEachLinear([&](Linear &linear) { rotate(linear.coefs); });
  }
}

void placeTemporaries(Part &part, unsigned outer) {
  auto drop = [&](Linear &address) {
    std::fill_n(address.coefs.begin(), outer, 0);
  };
  for (auto [p, producer] : llvm::enumerate(part.nests))
    for (auto [r, output] : llvm::enumerate(producer.outputs)) {
      bool inside = output.arguments.empty() && output.readLater;
      if (!inside && !output.overwritesRead)
        continue;
      output.temporary = output.address;
      drop(output.temporary);
      Packing packing(producer, output.temporary, outer);
      auto forEachReader = [&, p = p, r = r](auto function) {
        auto matches = [&, p = p, r = r](const Source &source) {
          return source.kind == Source::Kind::Result && source.nest == p &&
                 source.result == r;
        };
        for (Nest &reader : part.nests) {
          MutableArrayRef<int64_t> none;
          for (std::optional<Access> &input : reader.inputs)
            if (input && matches(input->source))
              function(input->address, none);
          for (Output &result : reader.outputs)
            if (result.initial && matches(result.initial->source))
              function(result.initial->address, none);
          for (auto &entry : reader.extracts)
            if (matches(entry.second.source))
              function(entry.second.address,
                       MutableArrayRef<int64_t>(entry.second.strides));
        }
      };
      forEachReader([&](Linear &address, ArrayRef<int64_t> strides) {
        drop(address);
        packing.require(address);
        packing.require(strides);
      });
      forEachReader([&](Linear &address, MutableArrayRef<int64_t> strides) {
        packing.rewrite(address.coefs);
        packing.rewrite(strides);
      });
      packing.rewrite(output.temporary.coefs);
      output.temporarySize = packing.size();
    }
}

namespace {
/// indexStep of the values of one body, each looked at once: bodies that search
/// use a value so often that following every path would never end.
class IndexSteps {
public:
  IndexSteps(const Nest &nest, unsigned loop) : nest(nest), loop(loop) {}

  std::optional<int64_t> of(Value index) {
    auto found = known.find(index);
    if (found != known.end())
      return found->second;
    std::optional<int64_t> step = compute(index);
    known[index] = step;
    return step;
  }

private:
  std::optional<int64_t> compute(Value index);

  const Nest &nest;
  const unsigned loop;
  llvm::DenseMap<Value, std::optional<int64_t>> known;
};
} // namespace

std::optional<int64_t> IndexSteps::compute(Value index) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    // What a nest reads is only known not to change where it reads one place.
    if (argument.getArgNumber() < nest.inputs.size())
      if (const auto &input = nest.inputs[argument.getArgNumber()])
        if (input->address.coefs[loop] == 0)
          return 0;
    return std::nullopt;
  }
  Operation *op = index.getDefiningOp();
  if (auto position = dyn_cast<linalg::IndexOp>(op))
    return nest.indices[position.getDim()]->coefs[loop];
  if (isa<arith::ConstantOp>(op))
    return 0;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (nest.extracts.find(op)->second.address.coefs[loop] != 0)
      return std::nullopt;
    for (Value operand : extract.getIndices())
      if (!operand.getDefiningOp<linalg::IndexOp>() && of(operand) != 0)
        return std::nullopt;
    return 0;
  }
  SmallVector<std::optional<int64_t>> steps;
  bool still = true;
  for (Value operand : op->getOperands()) {
    steps.push_back(of(operand));
    still &= steps.back() == 0;
  }
  if (still)
    return 0;
  if (op->getNumOperands() != 2 || !steps[0] || !steps[1])
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *steps[0] + *steps[1];
  if (isa<arith::SubIOp>(op))
    return *steps[0] - *steps[1];
  std::optional<int64_t> constant = getConstantIntValue(op->getOperand(1));
  if (!constant)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return *steps[0] * *constant;
  if (isa<arith::MaxSIOp, arith::MinSIOp>(op))
    return steps[0];
  return std::nullopt;
}

std::optional<int64_t> indexStep(const Nest &nest, Value index, unsigned loop) {
  return IndexSteps(nest, loop).of(index);
}

std::optional<int64_t> extractStep(const Nest &nest, Operation *op,
                                   const Extract &access, unsigned loop) {
  int64_t step = access.address.coefs[loop];
  auto extract = cast<tensor::ExtractOp>(op);
  for (auto [stride, index] : llvm::zip(access.strides, extract.getIndices())) {
    if (stride == 0)
      continue;
    std::optional<int64_t> moved = indexStep(nest, index, loop);
    if (!moved)
      return std::nullopt;
    step += stride * *moved;
  }
  return step;
}

SmallVector<Operation *> edgeOperations(const Nest &nest, unsigned loop) {
  SmallVector<Operation *> edges;
  for (Operation &op : nest.body()->without_terminator()) {
    auto compare = dyn_cast<arith::CmpIOp>(op);
    bool ordered =
        compare && (compare.getPredicate() == arith::CmpIPredicate::slt ||
                    compare.getPredicate() == arith::CmpIPredicate::sge);
    if (!ordered && !isa<arith::MaxSIOp, arith::MinSIOp>(op))
      continue;
    if (!op.getOperand(0).getType().isIndex() ||
        !getConstantIntValue(op.getOperand(1)))
      continue;
    std::optional<int64_t> step = indexStep(nest, op.getOperand(0), loop);
    if (step && *step > 0)
      edges.push_back(&op);
  }
  return edges;
}

/// The comparisons that all must hold for `condition`.
static void addConjuncts(Value condition,
                         llvm::SetVector<Operation *> &conjuncts) {
  Operation *op = condition.getDefiningOp();
  if (!op)
    return;
  conjuncts.insert(op);
  if (isa<arith::AndIOp>(op))
    for (Value operand : op->getOperands())
      addConjuncts(operand, conjuncts);
}

/// The comparisons without which `value` is a zero.
static void addGuardsOfZero(Value value, llvm::SetVector<Operation *> &guards) {
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    if (matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
      addConjuncts(select.getCondition(), guards);
  } else if (isa_and_nonnull<arith::MulFOp>(op)) {
    for (Value operand : op->getOperands())
      addGuardsOfZero(operand, guards);
  }
}

SmallVector<Operation *> guardOperations(const Nest &nest, unsigned loop) {
  // Without reduction loops every iteration writes a result of its own, and
  // none may be left out.
  if (nest.reductions() == 0)
    return {};
  linalg::GenericOp op = nest.op;
  llvm::SetVector<Operation *> common;
  for (auto [i, accumulated] : llvm::enumerate(op.getRegionOutputArgs())) {
    Operation *yielded =
        nest.body()->getTerminator()->getOperand(i).getDefiningOp();
    llvm::SetVector<Operation *> guards;
    if (auto sum = dyn_cast_or_null<arith::AddFOp>(yielded)) {
      if (sum.getLhs() == accumulated)
        addGuardsOfZero(sum.getRhs(), guards);
    } else if (auto select = dyn_cast_or_null<arith::SelectOp>(yielded)) {
      if (select.getFalseValue() == accumulated)
        addConjuncts(select.getCondition(), guards);
    }
    if (i == 0)
      common = guards;
    else
      common.remove_if(
          [&](Operation *guard) { return !guards.contains(guard); });
  }

  SmallVector<Operation *> usable;
  for (Operation *guard : common) {
    auto compare = dyn_cast<arith::CmpIOp>(guard);
    if (!compare || !compare.getLhs().getType().isIndex() ||
        !getConstantIntValue(compare.getRhs()) ||
        (compare.getPredicate() != arith::CmpIPredicate::slt &&
         compare.getPredicate() != arith::CmpIPredicate::sge))
      continue;
    std::optional<int64_t> step = indexStep(nest, compare.getLhs(), loop);
    if (step && *step >= 0)
      usable.push_back(guard);
  }
  // Clamps to the range that a guard demands pass wherever it holds.
  auto follows = [&](Operation *edge) {
    if (llvm::is_contained(usable, edge))
      return true;
    bool below = isa<arith::MinSIOp>(edge);
    Value clamped = edge->getOperand(0);
    if (auto low = clamped.getDefiningOp<arith::MaxSIOp>(); below && low)
      clamped = low.getLhs();
    int64_t limit = *getConstantIntValue(edge->getOperand(1)) + below;
    return llvm::any_of(usable, [&](Operation *guard) {
      auto compare = cast<arith::CmpIOp>(guard);
      return !isa<arith::CmpIOp>(edge) && compare.getLhs() == clamped &&
             getConstantIntValue(compare.getRhs()) == limit &&
             (compare.getPredicate() == arith::CmpIPredicate::slt) == below;
    });
  };
  if (!llvm::all_of(edgeOperations(nest, loop), follows))
    return {};
  return usable;
}

} // namespace brew::compiler
