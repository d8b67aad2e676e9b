//===- DetectionOutput.cpp - SSD's detections -----------------------------===//
//
// Works as in SSD's fork of Caffe. Per image and class, the top_k best scores
// above a threshold are candidates; a candidate is kept unless it overlaps a
// better kept one too much; per image, the keep_top_k best remain. All steps
// are loop nests, the same on every target.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/detection/DetectionNests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace brew::dialects;

constexpr int64_t kRowFields = 7;  ///< image, label, score, four sides
constexpr int64_t kCellFields = 3; ///< anchor, column, row

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
  auto checkShape = [&](ArrayRef<int64_t> shape, StringRef tensorName,
                        int64_t perPrior) {
    if (shape.size() >= 2 &&
        (getWithCells() || shape[1] == priors[2] / 4 * perPrior) &&
        countOf(shape) == shape[0] * priors[2] / 4 * perPrior)
      return success();
    return LogicalResult(layerError(*this)
                         << "the " << tensorName << " have shape "
                         << dimsText(shape) << "; for " << priors[2] / 4
                         << " prior boxes they need " << perPrior
                         << " for each: (N, " << priors[2] / 4 * perPrior
                         << ")");
  };
  int64_t classes = getNumClasses();
  if (failed(
          checkShape(loc, "locations", getShareLocation() ? 4 : 4 * classes)) ||
      failed(checkShape(conf, "confidences", classes)))
    return failure();
  if (loc[0] != conf[0])
    return layerError(*this) << "there are locations of " << loc[0]
                             << " images and confidences of " << conf[0];
  if (getWithCells() && (loc.size() != 4 || loc[3] % 4))
    return layerError(*this) << "takes locations of shape (N, H, W, 4 * "
                                "anchors), not "
                             << dimsText(loc);
  tops.push_back({1, 1, DetectionSizes(*this).rows(),
                  kRowFields + (getWithCells() ? kCellFields : 0)});
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
      floatType(elementTypeOf(op.getConf())), i32(b.getI32Type()) {}

Value DetectionOutputBuilder::buildTensor(
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

Value DetectionOutputBuilder::buildBitOf(ScalarBuilder &s, Value word,
                                         Value index) {
  Value shifted = arith::ShRUIOp::create(s.b, s.loc, word, asI32(s, index));
  return arith::AndIOp::create(s.b, s.loc, shifted, s.constant(i32, 1));
}

Value DetectionOutputBuilder::noCandidateScore(ScalarBuilder &s) {
  return s.constant(floatType, -std::numeric_limits<double>::infinity());
}

Value DetectionOutputBuilder::infinity(ScalarBuilder &s) {
  return s.constant(floatType, std::numeric_limits<double>::infinity());
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Reads element `index` of an image of a tensor (N, ...).
Value DetectionOutputBuilder::readElement(NestBuilder::Body &body, Value x,
                                          Value image, Value index) {
  ArrayRef<int64_t> shape = shapeOf(x);
  SmallVector<Value> indices(shape.size(), body.s.index(0));
  indices[0] = image;
  for (size_t dim = shape.size() - 1; dim > 0; --dim) {
    if (countOf(shape.slice(1, dim - 1)) == 1) {
      indices[dim] = index;
      break;
    }
    if (shape[dim] == 1)
      continue;
    indices[dim] = body.s.remi(index, shape[dim]);
    index = body.s.divi(index, shape[dim]);
  }
  return body.read(x, indices);
}

/// Reads side `side` of prior box `box` from row 0 of the priors, or its
/// variance from row 1.
Value DetectionOutputBuilder::readPrior(NestBuilder::Body &body, int64_t row,
                                        Value box, Value side) {
  ScalarBuilder &s = body.s;
  SmallVector<Value> indices = {s.index(0), s.index(row),
                                s.addi(s.muli(box, 4), side)};
  indices.resize(shapeOf(op.getPriors()).size(), s.index(0));
  return body.read(op.getPriors(), indices);
}

/// Decodes the locations to boxes. Shape: images, boxes per prior, priors,
/// sides.
Value DetectionOutputBuilder::decodeBoxes() {
  auto type =
      tensor({sizes.images, sizes.boxesPerPrior, sizes.priors, 4}, floatType);
  return buildTensor(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value box = body.loop(2), side = body.loop(3);
    Value axis = s.remi(side, 2), farSide = s.addi(axis, s.index(2));
    // Returns the net's offset of a side, times its variance.
    auto offset = [&](Value side) {
      Value location = s.addi(s.muli(box, sizes.boxesPerPrior), body.loop(1));
      Value value = readElement(body, op.getLocations(), body.loop(0),
                                s.addi(s.muli(location, 4), side));
      return op.getVarianceEncoded()
                 ? value
                 : s.mul(readPrior(body, 1, box, side), value);
    };
    Value low = readPrior(body, 0, box, axis),
          high = readPrior(body, 0, box, farSide);
    Value extent = s.sub(high, low);
    if (!op.getCenterSize()) {
      Value sideOffset = offset(side);
      if (op.getCornerSize())
        sideOffset = s.mul(sideOffset, extent);
      return s.add(readPrior(body, 0, box, side), sideOffset);
    }
    Value half = s.constant(floatType, 0.5);
    Value centre =
        s.add(s.mul(offset(axis), extent), s.mul(s.add(low, high), half));
    Value halfExtent = s.mul(s.mul(s.exp(offset(farSide)), extent), half);
    return s.select(s.less(side, s.index(2)), s.sub(centre, halfExtent),
                    s.add(centre, halfExtent));
  });
}

/// Builds the scores. Shape: images, classes, priors. Boxes that are not
/// candidates have the score -infinity.
Value DetectionOutputBuilder::buildScores() {
  auto type = tensor({sizes.images, sizes.classes, sizes.priors}, floatType);
  return buildTensor(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value index = s.addi(s.muli(body.loop(2), sizes.classes), body.loop(1));
    Value score = readElement(body, op.getConf(), body.loop(0), index);
    double threshold = op.getConfidenceThreshold()
                           ? op.getConfidenceThreshold()->convertToDouble()
                           : -std::numeric_limits<float>::max();
    Value result = s.select(s.greater(score, s.constant(floatType, threshold)),
                            score, noCandidateScore(s));
    int64_t background = op.getBackground();
    if (background >= 0 && background < sizes.classes)
      result = s.select(s.equali(body.loop(1), s.index(background)),
                        noCandidateScore(s), result);
    return result;
  });
}

/// Gathers the candidates' boxes. Shape: images, classes, candidates, sides.
Value DetectionOutputBuilder::gatherBoxes(Value boxes, Value positions) {
  auto type =
      tensor({sizes.images, sizes.classes, sizes.candidates, 4}, floatType);
  return buildTensor(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value position = asIndex(
        s, body.read(positions, {body.loop(0), body.loop(1), body.loop(2)}));
    Value boxesIndex = sizes.boxesPerPrior == 1 ? s.index(0) : body.loop(1);
    return body.read(boxes, {body.loop(0), boxesIndex, position, body.loop(3)});
  });
}

SmallVector<Value> DetectionOutputBuilder::build() {
  auto [values, positions] =
      buildSortDescending(b, loc, buildScores(), sizes.candidates);
  Value boxes = gatherBoxes(decodeBoxes(), positions);
  Value kept = keepBest(suppress(values, boxes), values);
  return buildRows(kept, values, boxes, positions);
}

SmallVector<Value> DetectionOutputOp::buildNests(OpBuilder &b) {
  return DetectionOutputBuilder(*this, b).build();
}
