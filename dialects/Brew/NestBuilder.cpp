//===- NestBuilder.cpp - Construction of loop nests -----------------------===//
#include "dialects/Brew/NestBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace brew::dialects;

SmallVector<int64_t> brew::dialects::iota(int64_t n) {
  return llvm::to_vector(llvm::seq<int64_t>(0, n));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static constexpr auto kContract = arith::FastMathFlags::contract;

Value ScalarBuilder::constant(Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type, static_cast<int64_t>(value)));
}
Value ScalarBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value ScalarBuilder::add(Value x, Value y) {
  return arith::AddFOp::create(b, loc, x, y, kContract);
}
Value ScalarBuilder::sub(Value x, Value y) {
  return arith::SubFOp::create(b, loc, x, y, kContract);
}
Value ScalarBuilder::mul(Value x, Value y) {
  return arith::MulFOp::create(b, loc, x, y, kContract);
}
Value ScalarBuilder::div(Value x, Value y) {
  return arith::DivFOp::create(b, loc, x, y);
}
Value ScalarBuilder::neg(Value x) { return arith::NegFOp::create(b, loc, x); }
Value ScalarBuilder::exp(Value x) { return math::ExpOp::create(b, loc, x); }
Value ScalarBuilder::log(Value x) { return math::LogOp::create(b, loc, x); }
Value ScalarBuilder::sigmoid(Value x) {
  Value one = constant(x.getType(), 1);
  return div(one, add(one, exp(neg(x))));
}
Value ScalarBuilder::accumulate(Value sum, Value x) {
  return arith::AddFOp::create(b, loc, sum, x,
                               kContract | arith::FastMathFlags::reassoc);
}
Value ScalarBuilder::maximize(Value largest, Value x) {
  return arith::MaximumFOp::create(b, loc, largest, x,
                                   arith::FastMathFlags::nnan |
                                       arith::FastMathFlags::nsz);
}
Value ScalarBuilder::greater(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, y);
}
Value ScalarBuilder::greaterEqual(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, y);
}
Value ScalarBuilder::equal(Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
}
Value ScalarBuilder::both(Value x, Value y) {
  return arith::AndIOp::create(b, loc, x, y);
}
Value ScalarBuilder::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}
Value ScalarBuilder::maximum(Value x, Value y) {
  return select(greater(x, y), x, y);
}
Value ScalarBuilder::addi(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value ScalarBuilder::subi(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
Value ScalarBuilder::muli(Value x, int64_t y) {
  return y == 1 ? x : arith::MulIOp::create(b, loc, x, index(y)).getResult();
}
Value ScalarBuilder::divi(Value x, int64_t y) {
  return y == 1 ? x : arith::DivUIOp::create(b, loc, x, index(y)).getResult();
}
Value ScalarBuilder::remi(Value x, int64_t y) {
  return arith::RemUIOp::create(b, loc, x, index(y));
}
Value ScalarBuilder::less(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}
Value ScalarBuilder::atLeast(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, x, y);
}
Value ScalarBuilder::equali(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}
Value ScalarBuilder::clamp(Value x, int64_t extent) {
  Value low = arith::MaxSIOp::create(b, loc, x, index(0));
  return arith::MinSIOp::create(b, loc, low, index(extent - 1));
}

//===----------------------------------------------------------------------===//
// Nest
//===----------------------------------------------------------------------===//

NestBuilder::NestBuilder(OpBuilder &builder, Location loc,
                         ArrayRef<int64_t> extents, ArrayRef<bool> reduction)
    : b(builder), loc(loc), extents(extents), reduction(reduction) {
  this->reduction.resize(extents.size(), false);
}

unsigned NestBuilder::input(Value tensor, AffineMap map) {
  inputs.push_back(tensor);
  inputMaps.push_back(map);
  return inputs.size() - 1;
}

static AffineMap selectDims(ArrayRef<int64_t> dims, unsigned loops,
                            MLIRContext *context) {
  SmallVector<AffineExpr> results;
  for (int64_t dim : dims)
    results.push_back(getAffineDimExpr(dim, context));
  return AffineMap::get(loops, 0, results, context);
}

unsigned NestBuilder::input(Value tensor, ArrayRef<int64_t> dims) {
  return input(tensor, selectDims(dims, extents.size(), b.getContext()));
}

unsigned NestBuilder::output(RankedTensorType type, ArrayRef<int64_t> dims,
                             std::optional<double> initial) {
  outputs.push_back(
      {type, selectDims(dims, extents.size(), b.getContext()), initial});
  return outputs.size() - 1;
}

Value NestBuilder::Body::loop(unsigned i) const {
  return linalg::IndexOp::create(s.b, s.loc, i);
}

Value NestBuilder::Body::read(Value tensor, ValueRange indices) const {
  // Constant tensors become constants in the body.
  if (auto fill = tensor.getDefiningOp<FillOp>())
    return arith::ConstantOp::create(
        s.b, s.loc,
        s.b.getFloatAttr(elementTypeOf(tensor),
                         fill.getValue().convertToDouble()));
  return tensor::ExtractOp::create(s.b, s.loc, tensor, indices);
}

SmallVector<Value>
NestBuilder::build(const std::function<SmallVector<Value>(Body &)> &body) {
  SmallVector<Value> inits;
  SmallVector<Type> types;
  SmallVector<AffineMap> outputMaps;
  for (const Out &out : outputs) {
    Value init = tensor::EmptyOp::create(b, loc, out.type.getShape(),
                                         out.type.getElementType(),
                                         out.type.getEncoding());
    if (out.initial) {
      Value value = ScalarBuilder(b, loc).constant(out.type.getElementType(),
                                                   *out.initial);
      init = linalg::FillOp::create(b, loc, value, init).getResult(0);
    }
    inits.push_back(init);
    types.push_back(out.type);
    outputMaps.push_back(out.map);
  }

  // Constant tensors become constants in the body instead of operands.
  SmallVector<Value> tensors;
  SmallVector<AffineMap> maps;
  for (auto [tensor, map] : llvm::zip(inputs, inputMaps)) {
    if (tensor.getDefiningOp<FillOp>())
      continue;
    tensors.push_back(tensor);
    maps.push_back(map);
  }

  // linalg derives loop extents from its operands. Loops that no operand
  // determines get an operand whose elements are not read.
  llvm::SmallVector<bool> isDetermined(extents.size(), false);
  for (ArrayRef<AffineMap> group : {ArrayRef(maps), ArrayRef(outputMaps)})
    for (AffineMap map : group)
      for (AffineExpr result : map.getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(result))
          isDetermined[dim.getPosition()] = true;
  SmallVector<int64_t> undetermined, undeterminedExtents;
  for (auto [i, determined] : llvm::enumerate(isDetermined))
    if (!determined) {
      undetermined.push_back(i);
      undeterminedExtents.push_back(extents[i]);
    }
  bool hasExtentOperand = !undetermined.empty();
  if (hasExtentOperand) {
    tensors.push_back(
        tensor::EmptyOp::create(b, loc, undeterminedExtents, b.getI8Type()));
    maps.push_back(selectDims(undetermined, extents.size(), b.getContext()));
  }
  maps.append(outputMaps);

  SmallVector<utils::IteratorType> iterators;
  for (bool isReduction : reduction)
    iterators.push_back(isReduction ? utils::IteratorType::reduction
                                    : utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, types, tensors, inits, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
        SmallVector<Value> in;
        unsigned next = 0;
        for (Value tensor : inputs) {
          if (auto fill = tensor.getDefiningOp<FillOp>())
            in.push_back(arith::ConstantOp::create(
                nested, nestedLoc,
                nested.getFloatAttr(elementTypeOf(tensor),
                                    fill.getValue().convertToDouble())));
          else
            in.push_back(args[next++]);
        }
        Body context{ScalarBuilder(nested, nestedLoc), in,
                     args.drop_front(next + hasExtentOperand)};
        linalg::YieldOp::create(nested, nestedLoc, body(context));
      });
  return SmallVector<Value>(generic.getResults());
}
