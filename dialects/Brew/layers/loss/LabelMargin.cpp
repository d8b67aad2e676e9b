//===- LabelMargin.cpp - Angular margins of face recognition nets ---------===//
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/loss/Labels.h"
#include "dialects/Brew/layers/loss/MetricLearning.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace brew::dialects;

//===----------------------------------------------------------------------===//
// UnitRows
//===----------------------------------------------------------------------===//

LogicalResult UnitRowsOp::inferShapes(Shapes &tops, Shapes &params) {
  ArrayRef<int64_t> x = shapeOf(getX());
  if (x.empty())
    return layerError(*this) << "needs a bottom of items";
  tops.push_back({static_cast<int64_t>(getRows()), countOf(x.drop_front())});
  params.push_back(tops.back());
  return success();
}

LogicalResult
UnitRowsOp::buildGradients(OpBuilder &, ArrayRef<Value> resultGradients,
                           ArrayRef<bool> needed,
                           MutableArrayRef<Value> operandGradients) {
  // Only the shape of x is read.
  if (needed[1])
    operandGradients[1] = resultGradients[0];
  return success();
}

SmallVector<Value> UnitRowsOp::buildNests(OpBuilder &b) {
  auto type = tensorTypeOf(getY());
  NestBuilder sums(b, getLoc(), type.getShape(), {false, true});
  sums.input(getW(), iota(2));
  sums.output(RankedTensorType::get(type.getShape().take_front(),
                                    type.getElementType()),
              iota(1), 0.0);
  Value squares = sums.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    return {body.s.accumulate(body.out[0], body.s.mul(body.in[0], body.in[0]))};
  })[0];
  NestBuilder nest(b, getLoc(), type.getShape());
  nest.input(getW(), iota(2));
  nest.input(squares, iota(1));
  nest.output(type, iota(2));
  return nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    return {s.div(body.in[0], math::SqrtOp::create(s.b, s.loc, body.in[1]))};
  });
}

//===----------------------------------------------------------------------===//
// LabelMargin
//===----------------------------------------------------------------------===//

bool LabelMarginOp::mustStayExact(unsigned) { return true; }

LogicalResult LabelMarginOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> scores = shapeOf(getScores());
  if (countOf(shapeOf(getLabel())) != scores[0])
    return layerError(*this) << "needs one label per item: " << scores[0]
                             << ", not " << countOf(shapeOf(getLabel()));
  tops.assign({SmallVector<int64_t>(scores), {}});
  return success();
}

int64_t LabelMarginOp::labelLimit() { return shapeOf(getScores())[1]; }

namespace {

Value buildSign(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  Value zero = s.constant(type, 0);
  return s.select(s.greater(x, zero), s.constant(type, 1),
                  s.select(s.greater(zero, x), s.constant(type, -1), zero));
}

/// The decreasing continuation f of cos(margin * angle), as a function of the
/// cosine of the angle, and its derivative.
struct MarginFunction {
  Value value, derivative;

  MarginFunction(ScalarBuilder &s, Value c, int64_t margin) {
    auto number = [&](double x) { return s.constant(c.getType(), x); };
    auto times = [&](double x, Value y) { return s.mul(number(x), y); };
    Value sign = buildSign(s, c), square = s.mul(c, c);
    if (margin == 2) {
      value = s.sub(times(2, s.mul(sign, square)), number(1));
      derivative = times(4, s.mul(sign, c));
    } else if (margin == 3) {
      Value isOuter =
          buildSign(s, s.sub(math::AbsFOp::create(s.b, s.loc, c), number(0.5)));
      Value offset = s.sub(s.mul(sign, s.add(number(1), isOuter)), number(2));
      Value cosine = s.mul(c, s.sub(times(4, square), number(3)));
      value = s.add(s.mul(isOuter, cosine), offset);
      derivative = s.mul(isOuter, s.sub(times(12, square), number(3)));
    } else {
      Value quarter =
          s.mul(sign, buildSign(s, s.sub(times(2, square), number(1))));
      Value offset = s.sub(s.add(times(2, sign), quarter), number(3));
      Value cosine =
          s.add(s.mul(square, s.sub(times(8, square), number(8))), number(1));
      value = s.add(s.mul(quarter, cosine), offset);
      derivative =
          s.mul(quarter, s.mul(c, s.sub(times(32, square), number(16))));
    }
  }
};

/// The loops over the scores, with the values that all nests read.
struct MarginScores {
  LabelMarginOp op;
  RankedTensorType type;
  Value labels;

  MarginScores(OpBuilder &b, LabelMarginOp op)
      : op(op), type(tensorTypeOf(op.getScores())), labels(op.getLabel()) {
    auto vector = RankedTensorType::get(type.getShape().take_front(),
                                        elementTypeOf(labels));
    if (labels.getType() != vector)
      labels = ReinterpretOp::create(b, op.getLoc(), vector, labels);
  }

  bool hasSharedNorms() {
    return shapeOf(op.getNorms())[1] != type.getDimSize(1);
  }
  /// Adds scores, norms, labels and the weight as inputs.
  void addInputs(OpBuilder &b, NestBuilder &nest) {
    auto map = [&](ArrayRef<AffineExpr> indices) {
      return AffineMap::get(2, 0, indices, b.getContext());
    };
    AffineExpr zero = b.getAffineConstantExpr(0);
    nest.input(op.getScores(), iota(2));
    nest.input(op.getNorms(),
               map({b.getAffineDimExpr(0),
                    hasSharedNorms() ? zero : b.getAffineDimExpr(1)}));
    nest.input(labels, ArrayRef<int64_t>{0});
    nest.input(op.getWeight(), map({zero}));
  }
  Value isLabel(NestBuilder::Body &body) {
    Label label(body.s, body.in[2], type.getDimSize(1), std::nullopt);
    return body.s.both(label.inRange, body.s.equali(label.index, body.loop(1)));
  }
  MarginFunction function(NestBuilder::Body &body) {
    return {body.s, body.s.div(body.in[0], body.in[1]),
            static_cast<int64_t>(op.getMargin())};
  }
  /// Builds 1 + weight.
  static Value divisor(NestBuilder::Body &body) {
    return body.s.add(body.in[3], body.s.constant(body.in[3].getType(), 1));
  }
};

/// The derivatives of norm * f(score / norm), for SphereFace those of a unit
/// direction.
struct MarginDerivatives {
  Value ofScore, ofNorm;

  MarginDerivatives(NestBuilder::Body &body, MarginScores &scores) {
    ScalarBuilder &s = body.s;
    MarginFunction f = scores.function(body);
    Value cosine = s.div(body.in[0], body.in[1]);
    ofScore = f.derivative;
    ofNorm = s.sub(f.value, s.mul(cosine, f.derivative));
    if (!scores.op.getPlainScores())
      return;
    Value perNorm = s.div(ofNorm, body.in[1]);
    Value length = math::SqrtOp::create(
        s.b, s.loc, s.add(s.mul(ofScore, ofScore), s.mul(perNorm, perNorm)));
    ofScore = s.div(ofScore, length);
    ofNorm = s.div(ofNorm, length);
  }
};

} // namespace

LogicalResult
LabelMarginOp::buildGradients(OpBuilder &b, ArrayRef<Value> resultGradients,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGradients) {
  if (needed[2])
    return layerError(*this) << "cannot backpropagate to label inputs";
  Value dy = resultGradients[0];
  MarginScores scores(b, *this);
  ArrayRef<int64_t> shape = scores.type.getShape();
  if (needed[0]) {
    NestBuilder nest(b, getLoc(), shape);
    scores.addInputs(b, nest);
    nest.input(dy, iota(2));
    nest.output(scores.type, iota(2));
    operandGradients[0] =
        nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          MarginDerivatives d(body, scores);
          Value factor =
              s.div(s.add(d.ofScore, body.in[3]), MarginScores::divisor(body));
          return {s.select(scores.isLabel(body), s.mul(body.in[4], factor),
                           body.in[4])};
        })[0];
  }
  if (needed[1]) {
    const bool isShared = scores.hasSharedNorms();
    NestBuilder nest(b, getLoc(), shape, {false, isShared});
    scores.addInputs(b, nest);
    nest.input(dy, iota(2));
    auto type = RankedTensorType::get(shape.take_front(isShared ? 1 : 2),
                                      scores.type.getElementType());
    nest.output(type, iota(type.getRank()), 0.0);
    Value sums = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
      ScalarBuilder &s = body.s;
      MarginDerivatives d(body, scores);
      Value term =
          s.mul(body.in[4], s.div(d.ofNorm, MarginScores::divisor(body)));
      return {
          s.accumulate(body.out[0], s.select(scores.isLabel(body), term,
                                             s.constant(term.getType(), 0)))};
    })[0];
    operandGradients[1] =
        sums.getType() == getNorms().getType()
            ? sums
            : ReinterpretOp::create(b, getLoc(), getNorms().getType(), sums);
  }
  if (getPlainScores() && needed[4])
    operandGradients[4] = dy;
  return success();
}

SmallVector<Value> LabelMarginOp::buildNests(OpBuilder &b) {
  MarginScores scores(b, *this);
  NestBuilder nest(b, getLoc(), scores.type.getShape());
  scores.addInputs(b, nest);
  nest.output(scores.type, iota(2));
  Value y = nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
    ScalarBuilder &s = body.s;
    Value score = body.in[0];
    Value withMargin = s.mul(body.in[1], scores.function(body).value);
    Value blended = s.div(s.add(withMargin, s.mul(body.in[3], score)),
                          MarginScores::divisor(body));
    return {s.select(scores.isLabel(body), blended, score)};
  })[0];
  Value status;
  if (!getStatus().use_empty())
    status = buildStatus(b, getLoc(), scores.labels, labelLimit(), std::nullopt,
                         tensorTypeOf(getStatus()));
  return {y, status};
}
