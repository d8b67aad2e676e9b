//===- Coefficients.cpp - Arithmetic on the numbers of channels -----------===//
#include "passes/fused/Coefficients.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using brew::passes::Coefficients;

Coefficients::Coefficients() {
  add({Kind::Zero});
  add({Kind::One});
}

Coefficients::Id Coefficients::add(const Node &node) {
  auto [entry, isNew] = ids.try_emplace({node.kind, node.a, node.b,
                                         node.tensor.getAsOpaquePointer(),
                                         node.constant.getAsOpaquePointer()},
                                        nodes.size());
  if (isNew)
    nodes.push_back(node);
  return entry->second;
}

Coefficients::Id Coefficients::tensor(Value value) {
  return add({Kind::Tensor, 0, 0, value});
}

Coefficients::Id Coefficients::constant(TypedAttr value) {
  const auto number = cast<FloatAttr>(value).getValue();
  if (number.isPosZero())
    return kZero;
  if (number.isExactlyValue(1))
    return kOne;
  if (number.isNegative())
    return negative(constant(FloatAttr::get(value.getType(), -number)));
  return add({Kind::Constant, 0, 0, {}, value});
}

Coefficients::Id Coefficients::sum(Id a, Id b) {
  if (a == kZero || b == kZero)
    return a == kZero ? b : a;
  if (magnitude(a) != a && magnitude(b) != b)
    return negative(sum(magnitude(a), magnitude(b)));
  // A difference has the negative second.
  if (magnitude(a) != a || (magnitude(b) == b && a > b))
    std::swap(a, b);
  return add({Kind::Sum, a, b});
}

Coefficients::Id Coefficients::product(Id a, Id b) {
  if (a == kZero || b == kZero)
    return kZero;
  if (a == kOne || b == kOne)
    return a == kOne ? b : a;
  if (magnitude(a) != a)
    return negative(product(magnitude(a), b));
  if (magnitude(b) != b)
    return negative(product(a, magnitude(b)));
  return add({Kind::Product, std::min(a, b), std::max(a, b)});
}

Coefficients::Id Coefficients::negative(Id a) {
  if (a == kZero || magnitude(a) != a)
    return magnitude(a);
  return add({Kind::Negative, a});
}

bool Coefficients::isConstant(Id id) const {
  SmallVector<Value> tensors;
  collectTensors(id, tensors);
  return tensors.empty();
}

void Coefficients::collectTensors(Id id,
                                  SmallVectorImpl<Value> &tensors) const {
  const Node &node = nodes[id];
  if (node.kind == Kind::Tensor && !llvm::is_contained(tensors, node.tensor))
    tensors.push_back(node.tensor);
  if (node.kind == Kind::Sum || node.kind == Kind::Product)
    collectTensors(node.b, tensors);
  if (node.kind >= Kind::Sum)
    collectTensors(node.a, tensors);
}

Value Coefficients::build(OpBuilder &b, Location loc, Type type, Id id,
                          const llvm::DenseMap<Value, Value> &elements) const {
  const Node &node = nodes[id];
  const auto contract = arith::FastMathFlags::contract;
  // Operands are emitted in order, so that the text is reproducible.
  Value first, second;
  if (node.kind >= Kind::Sum)
    first = build(b, loc, type, node.a, elements);
  if (node.kind == Kind::Sum || node.kind == Kind::Product)
    second = build(b, loc, type, magnitude(node.b), elements);
  switch (node.kind) {
  case Kind::Zero:
  case Kind::One:
    return arith::ConstantOp::create(
        b, loc, b.getFloatAttr(type, node.kind == Kind::One));
  case Kind::Constant:
    return arith::ConstantOp::create(b, loc, node.constant);
  case Kind::Tensor:
    return elements.lookup(node.tensor);
  case Kind::Sum:
    if (magnitude(node.b) != node.b)
      return arith::SubFOp::create(b, loc, first, second, contract);
    return arith::AddFOp::create(b, loc, first, second, contract);
  case Kind::Product:
    return arith::MulFOp::create(b, loc, first, second, contract);
  case Kind::Negative:
    return arith::NegFOp::create(b, loc, first, contract);
  }
  llvm_unreachable("unknown kind");
}
