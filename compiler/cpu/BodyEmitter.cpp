//===- BodyEmitter.cpp - Emission of nest bodies --------------------------===//

#include "compiler/cpu/BodyEmitter.h"

#include "compiler/cpu/LowerToLLVM.h"
#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace brew::compiler::cpu {

/// Maximum size of a buffer on a thread's stack, in bytes.
static constexpr int64_t kMaxStackBytes = 16384;

Value ScratchBuffers::allocate(Location loc, Type element, int64_t size) {
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  auto type = MemRefType::get({size}, element);
  IntegerAttr alignment = b.getI64IntegerAttr(bufferAlignment);
  if (size * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) <=
      kMaxStackBytes)
    return memref::AllocaOp::create(b, loc, type, alignment);
  heap.push_back(memref::AllocOp::create(b, loc, type, alignment));
  return heap.back();
}

void ScratchBuffers::release(OpBuilder &b, Location loc) {
  for (Value buffer : heap)
    memref::DeallocOp::create(b, loc, buffer);
}

/// Addresses stay inside buffers, so their arithmetic cannot wrap.
static constexpr auto kNoWrap = arith::IntegerOverflowFlags::nsw;

Value BodyEmitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(b, loc, value);
}

Value BodyEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

/// Returns the loop annotation that keeps LLVM from unrolling a short loop
/// before it vectorises it (the straight-line code would vectorise badly). LLVM
/// may still unroll the vector loop, which keeps accumulators in registers.
static Attribute vectoriseFirstAnnotation(MLIRContext *context) {
  auto yes = BoolAttr::get(context, true), no = BoolAttr::get(context, false);
  auto none = LLVM::LoopAnnotationAttr::get(context, no, {}, {}, {}, {}, {}, {},
                                            {}, {}, {}, {}, {}, {}, {}, {});
  auto vectorise =
      LLVM::LoopVectorizeAttr::get(context, {}, {}, {}, {}, none, none, {});
  auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, vectorise, {}, unroll, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

void BodyEmitter::loop(Value begin, Value end, int64_t step,
                       llvm::function_ref<void(Value)> emitInside,
                       bool innermost) {
  auto op = scf::ForOp::create(b, loc, begin, end, index(step));
  if (innermost) // the LLVM dialect's attribute name
    op->setAttr("loop_annotation", vectoriseFirstAnnotation(b.getContext()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  emitInside(op.getInductionVar());
}

void BodyEmitter::loops(const Nest &nest, ArrayRef<unsigned> loopNumbers,
                        SmallVectorImpl<Value> &indices,
                        llvm::function_ref<void()> emitInside) {
  if (loopNumbers.empty())
    return emitInside();
  loop(index(0), index(nest.loops[loopNumbers.front()].extent), 1,
       [&](Value i) {
         indices[loopNumbers.front()] = i;
         loops(nest, loopNumbers.drop_front(), indices, emitInside);
       });
}

void BodyEmitter::unroll(ArrayRef<unsigned> loopNumbers, const Nest &nest,
                         SmallVectorImpl<Value> &indices,
                         llvm::function_ref<void()> emitInside) {
  if (loopNumbers.empty())
    return emitInside();
  for (int64_t i = 0; i < nest.loops[loopNumbers.front()].extent; ++i) {
    indices[loopNumbers.front()] = index(i);
    unroll(loopNumbers.drop_front(), nest, indices, emitInside);
  }
}

Value BodyEmitter::address(const LinearExpr &linear, ValueRange loops) {
  Value sum;
  int64_t constantPart = linear.constant;
  for (auto [coef, loop] : llvm::zip(linear.coefs, loops)) {
    if (coef == 0)
      continue;
    if (std::optional<int64_t> constantIndex = getConstantIntValue(loop)) {
      constantPart += coef * *constantIndex;
      continue;
    }
    Value term = loop;
    if (coef != 1)
      term = arith::MulIOp::create(b, loc, loop, index(coef), kNoWrap);
    sum = sum ? arith::AddIOp::create(b, loc, sum, term, kNoWrap).getResult()
              : term;
  }
  if (!sum)
    return index(constantPart);
  if (constantPart)
    sum = arith::AddIOp::create(b, loc, sum, index(constantPart), kNoWrap);
  return sum;
}

Value BodyEmitter::load(const Source &source, Value address) {
  if (source.kind == Source::Kind::Constant)
    return constant(source.constant);
  if (source.kind == Source::Kind::Argument)
    return memref::LoadOp::create(b, loc, storage.arguments[source.argument],
                                  address);
  if (Value scalar = storage.scalars[source.nest][source.result])
    return scalar;
  Value buffer = storage.temporaries[source.nest][source.result];
  if (!buffer)
    buffer =
        storage.arguments
            [subKernel.nests[source.nest].outputs[source.result].arguments[0]];
  return memref::LoadOp::create(b, loc, buffer, address);
}

Value BodyEmitter::initial(const Output &output, ValueRange loops) {
  return load(output.initial->source, address(output.initial->address, loops));
}

SmallVector<Value> BodyEmitter::initials(const Nest &nest, ValueRange loops) {
  SmallVector<Value> values;
  for (const Output &output : nest.outputs)
    values.push_back(output.initial ? initial(output, loops) : Value());
  return values;
}

void BodyEmitter::emitOperation(Operation &op, Nest &nest, ValueRange loops,
                                IRMapping &map) {
  for (Value operand : op.getOperands())
    if (!map.contains(operand) && operand.getParentBlock() != op.getBlock() &&
        !isa<TensorType>(operand.getType())) {
      auto constantOp = operand.getDefiningOp<arith::ConstantOp>();
      if (!constantOp)
        throwCannotEmit(subKernel.kernel, "a body uses a value from outside");
      map.map(operand, constant(constantOp.getValue()));
    }
  if (elidedBoundaries.contains(&op)) {
    map.map(op.getResult(0), isa<arith::CmpIOp>(op)
                                 ? constant(b.getBoolAttr(true))
                                 : map.lookup(op.getOperand(0)));
    return;
  }
  if (auto indexOp = dyn_cast<linalg::IndexOp>(op)) {
    // The index is absent if only addresses use it, which include it.
    if (const auto &linear = nest.indices[indexOp.getDim()])
      map.map(indexOp.getResult(), address(*linear, loops));
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    const Extract &access = nest.extracts[&op];
    Value position = address(access.address, loops);
    for (auto [stride, indexOperand] :
         llvm::zip(access.strides, extract.getIndices())) {
      if (stride == 0)
        continue;
      Value term = map.lookup(indexOperand);
      if (stride != 1)
        term = arith::MulIOp::create(b, loc, term, index(stride), kNoWrap);
      position = arith::AddIOp::create(b, loc, position, term, kNoWrap);
    }
    map.map(extract.getResult(), load(access.source, position));
    return;
  }
  if (piece && divisorOf(nest, &op, piece->loop)) {
    map.map(op.getResult(0),
            isa<arith::DivUIOp>(op) ? piece->quotient : piece->remainder);
    return;
  }
  if (isa<arith::DivUIOp, arith::RemUIOp>(op))
    if (std::optional<LinearExpr> linear = linearIndex(nest, op.getResult(0))) {
      map.map(op.getResult(0), address(*linear, loops));
      return;
    }
  // Folding makes window positions of unrolled loops constants.
  SmallVector<Value> folded;
  Operation *clone = b.clone(op, map);
  if (succeeded(b.tryFold(clone, folded)) && !folded.empty()) {
    map.map(op.getResults(), folded);
    clone->erase();
  }
}

SmallVector<Value> BodyEmitter::iterate(Nest &nest, ValueRange loops,
                                        ValueRange accumulated,
                                        bool vectorMaximum) {
  IRMapping map;
  Block *body = nest.body();
  for (auto [input, argument] :
       llvm::zip(nest.inputs, nest.op.getRegionInputArgs()))
    if (input)
      map.map(argument, load(input->source, address(input->address, loops)));
  for (auto [argument, value] :
       llvm::zip(nest.op.getRegionOutputArgs(), accumulated))
    if (value)
      map.map(argument, value);

  // A maximum becomes one operation, so its comparison and select are dead.
  SmallVector<Value> maxima(nest.outputs.size());
  llvm::SmallPtrSet<Operation *, 4> replaced;
  if (vectorMaximum)
    for (unsigned i = 0; i < nest.outputs.size(); ++i)
      if ((maxima[i] = maximumOperand(nest.op, i))) {
        auto select = body->getTerminator()
                          ->getOperand(i)
                          .getDefiningOp<arith::SelectOp>();
        replaced.insert(select);
        replaced.insert(select.getCondition().getDefiningOp());
      }
  for (Operation &op : body->without_terminator())
    if (!replaced.contains(&op))
      emitOperation(op, nest, loops, map);

  SmallVector<Value> results;
  for (auto [i, yielded] :
       llvm::enumerate(body->getTerminator()->getOperands())) {
    if (maxima[i]) {
      results.push_back(arith::MaximumFOp::create(
          b, loc, map.lookup(maxima[i]), accumulated[i],
          arith::FastMathFlags::nnan | arith::FastMathFlags::nsz));
    } else if (map.contains(yielded)) {
      results.push_back(map.lookup(yielded));
    } else {
      auto constantOp = yielded.getDefiningOp<arith::ConstantOp>();
      if (!constantOp)
        throwCannotEmit(subKernel.kernel, "a body yields a value from outside");
      results.push_back(constant(constantOp.getValue()));
    }
  }
  return results;
}

Value BodyEmitter::emitSlice(Value value, Nest &nest, ValueRange loops,
                             IRMapping &map) {
  if (map.contains(value))
    return map.lookup(value);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    const Access &input = *nest.inputs[argument.getArgNumber()];
    map.map(value, load(input.source, address(input.address, loops)));
    return map.lookup(value);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() == nest.body()) {
    for (Value operand : op->getOperands())
      if (!isa<TensorType>(operand.getType()) &&
          !(isa<tensor::ExtractOp>(op) &&
            operand.getDefiningOp<linalg::IndexOp>()))
        emitSlice(operand, nest, loops, map);
    emitOperation(*op, nest, loops, map);
  } else {
    map.map(value, constant(cast<arith::ConstantOp>(op).getValue()));
  }
  return map.lookup(value);
}

void BodyEmitter::narrowRange(Nest &nest, unsigned loop,
                              ArrayRef<Operation *> boundaries,
                              ArrayRef<Value> loops, Value &begin, Value &end) {
  SmallVector<Value> first(loops);
  first[loop] = index(0);
  // Inside the narrowed range, boundaries have no effect on each other's
  // operands.
  IRMapping map;
  elidedBoundaries.insert(boundaries.begin(), boundaries.end());
  for (Operation *boundary : boundaries) {
    Value start = emitSlice(boundary->getOperand(0), nest, first, map);
    int64_t limit = *getConstantIntValue(boundary->getOperand(1)),
            step = *indexStep(nest, boundary->getOperand(0), loop);
    auto compare = dyn_cast<arith::CmpIOp>(boundary);
    bool isUpperBound =
        compare ? compare.getPredicate() == arith::CmpIPredicate::slt
                : isa<arith::MinSIOp>(boundary);
    if (step == 0) {
      Value isWithinLimit = arith::CmpIOp::create(
          b, loc,
          isUpperBound ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge,
          start, index(limit));
      end = arith::SelectOp::create(b, loc, isWithinLimit, end, index(0));
      continue;
    }
    // The first iteration that reaches the limit is ceil((limit - start) /
    // step). A min has no effect at the limit itself, so its limit is one
    // larger.
    if (isa<arith::MinSIOp>(boundary))
      ++limit;
    Value limitIteration = arith::SubIOp::create(b, loc, index(limit), start);
    limitIteration = arith::MaxSIOp::create(b, loc, limitIteration, index(0));
    if (step > 1) {
      limitIteration =
          arith::AddIOp::create(b, loc, limitIteration, index(step - 1));
      limitIteration =
          arith::DivUIOp::create(b, loc, limitIteration, index(step));
    }
    if (isUpperBound)
      end = arith::MinSIOp::create(b, loc, end, limitIteration);
    else
      begin = arith::MaxSIOp::create(b, loc, begin, limitIteration);
  }
  elidedBoundaries.clear();
}

Value BodyEmitter::guardCondition(Nest &nest, ArrayRef<Operation *> guards,
                                  ArrayRef<Value> loops) {
  IRMapping map;
  Value conjunction;
  for (Operation *guard : guards) {
    Value condition = emitSlice(guard->getResult(0), nest, loops, map);
    conjunction =
        conjunction
            ? arith::AndIOp::create(b, loc, conjunction, condition).getResult()
            : condition;
  }
  return conjunction;
}

void BodyEmitter::store(Nest &nest, unsigned nestNumber, unsigned result,
                        ValueRange loops, Value value) {
  const Output &output = nest.outputs[result];
  if (Value buffer = storage.temporaries[nestNumber][result]) {
    memref::StoreOp::create(b, loc, value, buffer,
                            address(output.temporary, loops));
    return;
  }
  for (unsigned argument : output.arguments)
    memref::StoreOp::create(b, loc, value, storage.arguments[argument],
                            address(output.address, loops));
}

} // namespace brew::compiler::cpu
