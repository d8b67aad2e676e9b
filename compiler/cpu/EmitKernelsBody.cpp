//===- EmitKernelsBody.cpp - The scalar work of a nest ---------------------===//

#include "compiler/cpu/EmitKernelsBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace brew::compiler {

/// Addresses stay inside buffers, so their arithmetic cannot wrap.
static constexpr auto kNoWrap = arith::IntegerOverflowFlags::nsw;

Value BodyEmitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(b, loc, value);
}

Value BodyEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value BodyEmitter::address(const Linear &linear, ValueRange loops) {
  Value sum;
  int64_t known = linear.constant;
  for (auto [coef, loop] : llvm::zip(linear.coefs, loops)) {
    if (coef == 0)
      continue;
    if (std::optional<int64_t> fixed = getConstantIntValue(loop)) {
      known += coef * *fixed;
      continue;
    }
    Value term = loop;
    if (coef != 1)
      term = arith::MulIOp::create(b, loc, loop, index(coef), kNoWrap);
    sum = sum ? arith::AddIOp::create(b, loc, sum, term, kNoWrap).getResult()
              : term;
  }
  if (!sum)
    return index(known);
  if (known)
    sum = arith::AddIOp::create(b, loc, sum, index(known), kNoWrap);
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
    buffer = storage.arguments[part.nests[source.nest]
                                   .outputs[source.result]
                                   .arguments[0]];
  return memref::LoadOp::create(b, loc, buffer, address);
}

Value BodyEmitter::initial(const Output &output, ValueRange loops) {
  return load(output.initial->source,
              address(output.initial->address, loops));
}

SmallVector<Value> BodyEmitter::iterate(Nest &nest, ValueRange loops,
                                        ValueRange accumulated,
                                        bool vectorMaximum) {
  IRMapping map;
  Block *body = nest.op.getBody();
  for (auto [input, argument] :
       llvm::zip(nest.inputs, nest.op.getRegionInputArgs()))
    if (input)
      map.map(argument, load(input->source, address(input->address, loops)));
  for (auto [argument, value] :
       llvm::zip(nest.op.getRegionOutputArgs(), accumulated))
    if (value)
      map.map(argument, value);

  // What a maximum compares is dead once it has become one operation.
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

  for (Operation &op : body->without_terminator()) {
    if (replaced.contains(&op))
      continue;
    for (Value operand : op.getOperands())
      if (!map.contains(operand) && operand.getParentBlock() != body &&
          !isa<TensorType>(operand.getType())) {
        auto outside = operand.getDefiningOp<arith::ConstantOp>();
        if (!outside)
          refuse(part.kernel, "a body uses a value from outside");
        map.map(operand, constant(outside.getValue()));
      }
    if (auto indexOp = dyn_cast<linalg::IndexOp>(op)) {
      // Absent where only addresses, which have it already, depended on it.
      if (const auto &linear = nest.indices[indexOp.getDim()])
        map.map(indexOp.getResult(), address(*linear, loops));
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      const Extract &access = nest.extracts[&op];
      Value at = address(access.address, loops);
      for (auto [stride, operand] :
           llvm::zip(access.strides, extract.getIndices())) {
        if (stride == 0)
          continue;
        Value term = map.lookup(operand);
        if (stride != 1)
          term = arith::MulIOp::create(b, loc, term, index(stride), kNoWrap);
        at = arith::AddIOp::create(b, loc, at, term, kNoWrap);
      }
      map.map(extract.getResult(), load(access.source, at));
      continue;
    }
    // Folding turns window positions into constants where they are unrolled.
    SmallVector<Value> folded;
    Operation *clone = b.clone(op, map);
    if (succeeded(b.tryFold(clone, folded)) && !folded.empty()) {
      map.map(op.getResults(), folded);
      clone->erase();
    }
  }

  SmallVector<Value> results;
  for (auto [i, yielded] : llvm::enumerate(body->getTerminator()->getOperands()))
    if (maxima[i]) {
      results.push_back(arith::MaximumFOp::create(
          b, loc, map.lookup(maxima[i]), accumulated[i],
          arith::FastMathFlags::nnan | arith::FastMathFlags::nsz));
    } else if (!map.contains(yielded)) {
      auto outside = yielded.getDefiningOp<arith::ConstantOp>();
      if (!outside)
        refuse(part.kernel, "a body yields a value from outside");
      results.push_back(constant(outside.getValue()));
    } else {
      results.push_back(map.lookup(yielded));
    }
  return results;
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

} // namespace brew::compiler
