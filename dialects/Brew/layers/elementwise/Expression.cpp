//===- Expression.cpp - Formulas over bottoms and parameters --------------===//
#include "dialects/Brew/layers/elementwise/Expression.h"
#include "caffe/expression/Expression.h"
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/LayerGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew;
using namespace brew::dialects;
using caffe::expression::Kind;
using caffe::expression::Node;

static caffe::expression::Formula formulaOf(ExpressionOp op) {
  std::vector<std::string> names;
  for (StringRef name : op.getNames().getAsValueRange<StringAttr>())
    names.push_back(name.str());
  return caffe::expression::parse(op.getExpr().str(), names,
                                  static_cast<int>(op.getAxes().size()));
}

LogicalResult ExpressionOp::verify() {
  if (getNames().empty())
    return emitOpError("needs a bottom");
  if (getXs().size() != getNames().size() + getAxes().size())
    return emitOpError("has ")
           << getXs().size() << " operands for " << getNames().size()
           << " bottoms and " << getAxes().size() << " parameters";
  for (const caffe::expression::Problem &problem : formulaOf(*this).problems)
    return emitOpError("character ")
           << problem.offset + 1 << " of the expression: " << problem.text;
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(shape, os);
  os << ")";
  return text;
}

LogicalResult ExpressionOp::inferShapes(Shapes &tops, Shapes &params) {
  auto nameOf = [&](unsigned i) {
    return cast<StringAttr>(getNames()[i]).getValue();
  };
  const unsigned bottoms = getNames().size();
  unsigned largest = 0;
  for (unsigned i = 1; i < bottoms; ++i)
    if (shapeOf(getXs()[i]).size() > shapeOf(getXs()[largest]).size())
      largest = i;
  ArrayRef<int64_t> top = shapeOf(getXs()[largest]);
  for (unsigned i = 0; i < bottoms; ++i) {
    ArrayRef<int64_t> shape = shapeOf(getXs()[i]);
    if (top.take_front(shape.size()) != shape)
      return layerError(*this)
             << "bottom '" << nameOf(i) << "' has shape " << shapeText(shape)
             << ", which does not match the leading dimensions of bottom '"
             << nameOf(largest) << "', " << shapeText(top);
  }
  const int64_t rank = top.size();
  for (auto [i, axis] : llvm::enumerate(getAxes())) {
    if (axis >= rank)
      return layerError(*this)
             << "param(" << i << ") is a vector along axis " << axis
             << ", but the top has " << rank << " dimensions";
    params.emplace_back();
    if (axis >= 0)
      params.back().push_back(top[axis]);
  }
  tops.emplace_back(top);
  return success();
}

int64_t ExpressionOp::operandAxis(unsigned operandNumber) {
  const unsigned bottoms = getNames().size();
  return operandNumber < bottoms
             ? 0
             : std::max<int64_t>(getAxes()[operandNumber - bottoms], 0);
}

//===----------------------------------------------------------------------===//
// The scalar expression
//===----------------------------------------------------------------------===//

namespace {

/// Builds the operations of a formula, each node once.
class FormulaBuilder {
public:
  FormulaBuilder(OpBuilder &b, Location loc, ValueRange operands,
                 unsigned bottoms)
      : s(b, loc), operands(operands), bottoms(bottoms),
        type(operands.front().getType()) {}

  Value build(const Node &node);

private:
  Value constant(double value) { return s.constant(type, value); }
  template <typename Op> Value unary(Value x) {
    return Op::create(s.b, s.loc, x);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(s.b, s.loc, predicate, x, y);
  }
  Value isAbove(Value x, double limit) { return s.greater(x, constant(limit)); }
  Value buildPower(const Node &node);
  Value buildFunction(Kind kind, Value x);
  Value buildCondition(Kind kind, ArrayRef<Value> x);

  ScalarBuilder s;
  ValueRange operands;
  unsigned bottoms;
  Type type;
};

Value FormulaBuilder::build(const Node &node) {
  if (node.kind == Kind::Power)
    return buildPower(node);
  SmallVector<Value> x;
  for (const auto &operand : node.operands)
    x.push_back(build(*operand));
  switch (node.kind) {
  case Kind::Number:
    return constant(node.number);
  case Kind::Bottom:
    return operands[node.index];
  case Kind::Param:
    return operands[bottoms + node.index];
  case Kind::Negate:
    return s.neg(x[0]);
  case Kind::Add:
    return s.add(x[0], x[1]);
  case Kind::Subtract:
    return s.sub(x[0], x[1]);
  case Kind::Multiply:
    return s.mul(x[0], x[1]);
  case Kind::Divide:
    return s.div(x[0], x[1]);
  case Kind::Select:
    return s.select(x[0], x[1], x[2]);
  case Kind::BooleanToNumber:
    return s.select(x[0], constant(1), constant(0));
  case Kind::Max: // of equal operands the first, which gets the gradient
    return s.select(s.greaterEqual(x[0], x[1]), x[0], x[1]);
  case Kind::Min:
    return s.select(s.greaterEqual(x[1], x[0]), x[0], x[1]);
  default:
    return x.size() == 1 && !node.isBoolean() ? buildFunction(node.kind, x[0])
                                              : buildCondition(node.kind, x);
  }
}

/// Builds a power. Common constant exponents do not need a logarithm.
Value FormulaBuilder::buildPower(const Node &node) {
  const Node &exponent = *node.operands[1];
  Value base = build(*node.operands[0]);
  if (exponent.kind == Kind::Number) {
    if (exponent.number == 1)
      return base;
    if (exponent.number == 2)
      return s.mul(base, base);
    if (exponent.number == 3)
      return s.mul(s.mul(base, base), base);
    if (exponent.number == 0.5)
      return unary<math::SqrtOp>(base);
  }
  return math::PowFOp::create(s.b, s.loc, base, build(exponent));
}

Value FormulaBuilder::buildFunction(Kind kind, Value x) {
  switch (kind) {
  case Kind::Abs:
    return unary<math::AbsFOp>(x);
  case Kind::Acos:
    return unary<math::AcosOp>(x);
  case Kind::Asin:
    return unary<math::AsinOp>(x);
  case Kind::Atan:
    return unary<math::AtanOp>(x);
  case Kind::Ceil:
    return unary<math::CeilOp>(x);
  case Kind::Cos:
    return unary<math::CosOp>(x);
  case Kind::Cosh:
    return unary<math::CoshOp>(x);
  case Kind::Erf:
    return unary<math::ErfOp>(x);
  case Kind::Exp:
    return unary<math::ExpOp>(x);
  case Kind::Expm1:
    return unary<math::ExpM1Op>(x);
  case Kind::Floor:
    return unary<math::FloorOp>(x);
  case Kind::Log:
    return unary<math::LogOp>(x);
  case Kind::Log1p:
    return unary<math::Log1pOp>(x);
  case Kind::Relu:
    return s.select(isAbove(x, 0), x, constant(0));
  case Kind::Round:
    return unary<math::RoundEvenOp>(x);
  case Kind::Rsqrt:
    return s.div(constant(1), unary<math::SqrtOp>(x));
  case Kind::Sigmoid: {
    // Caffe's formula: unlike 1 / (1 + exp(-x)), neither it nor its derivative
    // overflows.
    Value half = constant(0.5);
    return s.add(s.mul(half, unary<math::TanhOp>(s.mul(half, x))), half);
  }
  case Kind::Sign:
    return s.select(
        isAbove(x, 0), constant(1),
        s.select(s.greater(constant(0), x), constant(-1), constant(0)));
  case Kind::Sin:
    return unary<math::SinOp>(x);
  case Kind::Sinh:
    return unary<math::SinhOp>(x);
  case Kind::Softplus:
    // log(1 + exp(x)) without overflow.
    return s.select(isAbove(x, 0),
                    s.add(x, unary<math::Log1pOp>(s.exp(s.neg(x)))),
                    unary<math::Log1pOp>(s.exp(x)));
  case Kind::Sqrt:
    return unary<math::SqrtOp>(x);
  case Kind::Tan:
    return unary<math::TanOp>(x);
  case Kind::Tanh:
    return unary<math::TanhOp>(x);
  default:
    llvm_unreachable("not a function");
  }
}

Value FormulaBuilder::buildCondition(Kind kind, ArrayRef<Value> x) {
  switch (kind) {
  case Kind::Less:
    return compare(arith::CmpFPredicate::OLT, x[0], x[1]);
  case Kind::LessEqual:
    return compare(arith::CmpFPredicate::OLE, x[0], x[1]);
  case Kind::Greater:
    return compare(arith::CmpFPredicate::OGT, x[0], x[1]);
  case Kind::GreaterEqual:
    return compare(arith::CmpFPredicate::OGE, x[0], x[1]);
  case Kind::Equal:
    return compare(arith::CmpFPredicate::OEQ, x[0], x[1]);
  case Kind::NotEqual:
    return compare(arith::CmpFPredicate::UNE, x[0], x[1]);
  case Kind::And:
    return s.both(x[0], x[1]);
  case Kind::Or:
    return arith::OrIOp::create(s.b, s.loc, x[0], x[1]);
  case Kind::Not:
    return arith::XOrIOp::create(s.b, s.loc, x[0],
                                 s.constant(x[0].getType(), 1));
  default:
    llvm_unreachable("not a truth value");
  }
}

} // namespace

Value ExpressionOp::buildScalar(OpBuilder &b, Location loc,
                                ValueRange operands) {
  caffe::expression::Formula formula =
      formulaOf(*this); // verified: has no problems
  return FormulaBuilder(b, loc, operands, getNames().size())
      .build(*formula.root);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "dialects/Brew/layers/elementwise/Expression.cpp.inc"

void brew::dialects::registerExpressionLayers(BrewDialect &dialect) {
  dialect.addLayerOperations<
#define GET_OP_LIST
#include "dialects/Brew/layers/elementwise/Expression.cpp.inc"
      >();
}
