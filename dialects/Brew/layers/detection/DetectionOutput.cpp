//===- DetectionOutput.cpp - SSD's detections -----------------------------===//
//
// As in SSD's fork of Caffe: per image and class, the top_k best scores above a
// threshold are candidates; a candidate is kept unless it overlaps a better
// kept one too much; per image, the keep_top_k best remain. All steps are loop
// nests, the same on every target.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/detection/DetectionNests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace brew::dialects;

constexpr int64_t kRow = 7; ///< image, label, score, box

DetectionSizes::DetectionSizes(DetectionOutputOp op)
    : images(shapeOf(op.getLocations())[0]), classes(op.getNumClasses()),
      boxesPerPrior(op.getShareLocation() ? 1 : classes),
      priors(shapeOf(op.getPriors())[2] / 4), candidates(priors) {
  int64_t topK = op.getTopK(), keep = op.getKeepTopK();
  if (topK >= 0)
    candidates = std::min(candidates, topK);
  perImage = classes * candidates;
  if (keep >= 0)
    perImage = std::min(perImage, keep);
}

bool DetectionOutputOp::staysF32(unsigned) { return true; }

LogicalResult DetectionOutputOp::inferShapes(Shapes &tops, Shapes &) {
  ArrayRef<int64_t> loc = shapeOf(getLocations()), conf = shapeOf(getConf()),
                    priors = shapeOf(getPriors());
  if (priors.size() < 3 || priors[0] != 1 || priors[1] != 2 || priors[2] % 4 ||
      countOf(priors) != 2 * priors[2])
    return layerError(*this)
           << "the prior boxes must have shape (1, 2, 4 * boxes), not "
           << dimsText(priors);
  auto check = [&](ArrayRef<int64_t> shape, StringRef what, int64_t each) {
    if (shape.size() >= 2 && shape[1] == priors[2] / 4 * each &&
        countOf(shape) == shape[0] * shape[1])
      return success();
    return LogicalResult(layerError(*this)
                         << "the " << what << " have shape " << dimsText(shape)
                         << "; for " << priors[2] / 4
                         << " prior boxes they need " << each
                         << " for each: (N, " << priors[2] / 4 * each << ")");
  };
  int64_t classes = getNumClasses();
  if (failed(check(loc, "locations", getShareLocation() ? 4 : 4 * classes)) ||
      failed(check(conf, "confidences", classes)))
    return failure();
  if (loc[0] != conf[0])
    return layerError(*this) << "there are locations of " << loc[0]
                             << " images and confidences of " << conf[0];
  tops.push_back({1, 1, DetectionSizes(*this).rows(), kRow});
  tops.push_back({1, 1});
  return success();
}

LogicalResult DetectionOutputOp::propagateItemCounts(ItemCounts &counts) {
  for (Value operand : getOperands())
    if (failed(counts.requireAllItems(*this, operand)))
      return failure();
  counts.set(getY(), getCount());
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors and their elements
//===----------------------------------------------------------------------===//

DetectionOutputBuilder::DetectionOutputBuilder(DetectionOutputOp op,
                                               OpBuilder &b)
    : op(op), b(b), loc(op->getLoc()), sizes(op),
      number(elementTypeOf(op.getConf())), i32(b.getI32Type()) {}

Value DetectionOutputBuilder::each(
    RankedTensorType type,
    llvm::function_ref<Value(NestBuilder::Body &)> element) {
  NestBuilder nest(b, loc, type.getShape());
  nest.output(type, iota(type.getRank()));
  return nest.build(
      [&](NestBuilder::Body &body) -> Results { return {element(body)}; })[0];
}

Value DetectionOutputBuilder::asI32(ScalarBuilder &s, Value index) {
  return arith::IndexCastOp::create(s.b, s.loc, i32, index);
}

Value DetectionOutputBuilder::asIndex(ScalarBuilder &s, Value integer) {
  return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integer);
}

Value DetectionOutputBuilder::bitOf(ScalarBuilder &s, Value word, Value index) {
  Value shifted = arith::ShRUIOp::create(s.b, s.loc, word, asI32(s, index));
  return arith::AndIOp::create(s.b, s.loc, shifted, s.constant(i32, 1));
}

Value DetectionOutputBuilder::noCandidateScore(ScalarBuilder &s) {
  return s.constant(number, -std::numeric_limits<double>::infinity());
}

Value DetectionOutputBuilder::infinity(ScalarBuilder &s) {
  return s.constant(number, std::numeric_limits<double>::infinity());
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Reads an element of a tensor (N, C) or (N, C, 1, 1).
Value DetectionOutputBuilder::channel(NestBuilder::Body &body, Value x,
                                      Value image, Value index) {
  SmallVector<Value> at = {image, index};
  at.resize(shapeOf(x).size(), body.s.index(0));
  return body.read(x, at);
}

/// Reads side `side` of prior box `box`, or its variance.
Value DetectionOutputBuilder::prior(NestBuilder::Body &body, int64_t which,
                                    Value box, Value side) {
  ScalarBuilder &s = body.s;
  SmallVector<Value> at = {s.index(0), s.index(which),
                           s.addi(s.muli(box, 4), side)};
  at.resize(shapeOf(op.getPriors()).size(), s.index(0));
  return body.read(op.getPriors(), at);
}

/// Decodes the locations to boxes: images, boxes per prior, priors, sides.
Value DetectionOutputBuilder::decode() {
  auto type =
      tensor({sizes.images, sizes.boxesPerPrior, sizes.priors, 4}, number);
  return each(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value box = body.loop(2), side = body.loop(3);
    Value axis = s.remi(side, 2), far = s.addi(axis, s.index(2));
    // The net's offset of a side, times its variance.
    auto offset = [&](Value side) {
      Value each = s.addi(s.muli(box, sizes.boxesPerPrior), body.loop(1));
      Value value = channel(body, op.getLocations(), body.loop(0),
                            s.addi(s.muli(each, 4), side));
      return op.getVarianceEncoded() ? value
                                     : s.mul(prior(body, 1, box, side), value);
    };
    Value low = prior(body, 0, box, axis), high = prior(body, 0, box, far);
    Value extent = s.sub(high, low);
    if (!op.getCenterSize()) {
      Value moved = offset(side);
      if (op.getCornerSize())
        moved = s.mul(moved, extent);
      return s.add(prior(body, 0, box, side), moved);
    }
    Value half = s.constant(number, 0.5);
    Value centre =
        s.add(s.mul(offset(axis), extent), s.mul(s.add(low, high), half));
    Value reach = s.mul(s.mul(s.exp(offset(far)), extent), half);
    return s.select(s.less(side, s.index(2)), s.sub(centre, reach),
                    s.add(centre, reach));
  });
}

/// Builds the scores: images, classes, priors. Boxes that are not candidates
/// have the score -infinity.
Value DetectionOutputBuilder::scores() {
  auto type = tensor({sizes.images, sizes.classes, sizes.priors}, number);
  return each(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value index = s.addi(s.muli(body.loop(2), sizes.classes), body.loop(1));
    Value score = channel(body, op.getConf(), body.loop(0), index);
    double least = op.getConfidenceThreshold()
                       ? op.getConfidenceThreshold()->convertToDouble()
                       : -std::numeric_limits<float>::max();
    Value result = s.select(s.greater(score, s.constant(number, least)), score,
                            noCandidateScore(s));
    int64_t background = op.getBackground();
    if (background >= 0 && background < sizes.classes)
      result = s.select(s.equali(body.loop(1), s.index(background)),
                        noCandidateScore(s), result);
    return result;
  });
}

/// Gathers the candidates' boxes: images, classes, candidates, sides.
Value DetectionOutputBuilder::gatherBoxes(Value boxes, Value places) {
  auto type =
      tensor({sizes.images, sizes.classes, sizes.candidates, 4}, number);
  return each(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value place = asIndex(
        s, body.read(places, {body.loop(0), body.loop(1), body.loop(2)}));
    Value which = sizes.boxesPerPrior == 1 ? s.index(0) : body.loop(1);
    return body.read(boxes, {body.loop(0), which, place, body.loop(3)});
  });
}

SmallVector<Value> DetectionOutputBuilder::build() {
  auto [values, places] =
      buildSortDescending(b, loc, scores(), sizes.candidates);
  Value boxes = gatherBoxes(decode(), places);
  Value kept = keepBest(suppress(values, boxes), values);
  return rows(kept, values, boxes);
}

SmallVector<Value> DetectionOutputOp::buildNests(OpBuilder &b) {
  return DetectionOutputBuilder(*this, b).build();
}
