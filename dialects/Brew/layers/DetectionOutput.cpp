//===- DetectionOutput.cpp - The boxes that SSD finds ---------------------===//
//
// As in SSD's fork of Caffe: per image and class, candidates are the top_k best
// scores above a threshold; one is kept unless it overlaps a better kept one
// too much; per image the keep_top_k best stay. All of it is loop nests, the
// same on every target.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/Items.h"
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/Axes.h"
#include "dialects/Brew/layers/Detection.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace brew::ir;

namespace {

/// Candidates whose fate one integer holds.
constexpr int64_t kWord = 32;
constexpr int64_t kRow = 7; ///< image, label, score, box

struct Sizes {
  int64_t images, classes, boxesPerPrior, priors;
  int64_t candidates; ///< of a class of an image, at most
  int64_t perImage;   ///< detections of an image, at most
  int64_t words;

  explicit Sizes(DetectionOutputOp op)
      : images(shapeOf(op.getLocations())[0]), classes(op.getNumClasses()),
        boxesPerPrior(op.getShareLocation() ? 1 : classes),
        priors(shapeOf(op.getPriors())[2] / 4), candidates(priors) {
    int64_t topK = op.getTopK(), keep = op.getKeepTopK();
    if (topK >= 0)
      candidates = std::min(candidates, topK);
    perImage = classes * candidates;
    if (keep >= 0)
      perImage = std::min(perImage, keep);
    words = llvm::divideCeil(candidates, kWord);
  }
  /// Rows of the top, at most. One for each image tells of no detections at
  /// all.
  int64_t rows() const { return std::max<int64_t>(images * perImage, images); }
};

} // namespace

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
  Sizes sizes(*this);
  tops.push_back({1, 1, sizes.rows(), kRow});
  tops.push_back({1, 1});
  return success();
}

LogicalResult DetectionOutputOp::countItems(ItemCounts &counts) {
  for (Value operand : getOperands())
    if (failed(counts.requireWhole(*this, operand)))
      return failure();
  counts.set(getY(), getCount());
  return success();
}

namespace {

/// Builds the nests of one layer.
class Detections {
public:
  Detections(DetectionOutputOp op, OpBuilder &b)
      : op(op), b(b), loc(op->getLoc()), sizes(op),
        number(elementOf(op.getConf())), i32(b.getI32Type()) {}

  SmallVector<Value> build();

private:
  using Results = SmallVector<Value>;
  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  /// One element for each candidate: images, classes, candidates.
  RankedTensorType perCandidate(Type element) {
    return tensor({sizes.images, sizes.classes, sizes.candidates}, element);
  }
  RankedTensorType perClass(Type element) {
    return tensor({sizes.images, sizes.classes}, element);
  }
  /// Element of a tensor (N, C) or (N, C, 1, 1).
  Value channel(Nest::Body &body, Value x, Value image, Value index) {
    SmallVector<Value> at = {image, index};
    at.resize(shapeOf(x).size(), body.s.index(0));
    return body.read(x, at);
  }
  /// Side `side` of prior box `prior`, or its variance.
  Value prior(Nest::Body &body, int64_t which, Value box, Value side) {
    Scalars &s = body.s;
    SmallVector<Value> at = {s.index(0), s.index(which),
                             s.addi(s.muli(box, 4), side)};
    at.resize(shapeOf(op.getPriors()).size(), s.index(0));
    return body.read(op.getPriors(), at);
  }
  Value asI32(Scalars &s, Value index) {
    return arith::IndexCastOp::create(s.b, s.loc, i32, index);
  }
  Value asIndex(Scalars &s, Value integer) {
    return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), integer);
  }
  Value flag(Scalars &s, Value condition) {
    return s.select(condition, s.constant(i32, 1), s.constant(i32, 0));
  }
  Value none(Scalars &s) {
    return s.constant(number, -std::numeric_limits<double>::infinity());
  }

  Value decode();
  Value scores();
  Value chooseBoxes(Value boxes, Value places);
  Value overlap(Nest::Body &body, Value boxes, Value a, Value b);
  Value suppress(Value values, Value boxes);
  Value keepBest(Value kept, Value values);
  Results rows(Value kept, Value values, Value boxes);

  DetectionOutputOp op;
  OpBuilder &b;
  Location loc;
  Sizes sizes;
  Type number, i32;
};

/// The boxes that the locations mean: images, boxes per prior, priors, sides.
Value Detections::decode() {
  auto type =
      tensor({sizes.images, sizes.boxesPerPrior, sizes.priors, 4}, number);
  Nest nest(b, loc, type.getShape());
  nest.output(type, iota(4));
  return nest.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    Value box = body.loop(2), side = body.loop(3);
    Value axis = s.remi(side, 2), far = s.addi(axis, s.index(2));
    // What the net says of a side, times its variance.
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
      return {s.add(prior(body, 0, box, side), moved)};
    }
    Value half = s.constant(number, 0.5);
    Value centre =
        s.add(s.mul(offset(axis), extent), s.mul(s.add(low, high), half));
    Value reach = s.mul(s.mul(s.exp(offset(far)), extent), half);
    return {s.select(s.less(side, s.index(2)), s.sub(centre, reach),
                     s.add(centre, reach))};
  })[0];
}

/// Scores of images, classes, priors; those that do not count are -infinity.
Value Detections::scores() {
  auto type = tensor({sizes.images, sizes.classes, sizes.priors}, number);
  Nest nest(b, loc, type.getShape());
  nest.output(type, iota(3));
  return nest.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    Value index = s.addi(s.muli(body.loop(2), sizes.classes), body.loop(1));
    Value score = channel(body, op.getConf(), body.loop(0), index);
    double least = op.getConfidenceThreshold()
                       ? op.getConfidenceThreshold()->convertToDouble()
                       : -std::numeric_limits<float>::max();
    Value result =
        s.select(s.greater(score, s.constant(number, least)), score, none(s));
    int64_t background = op.getBackground();
    if (background >= 0 && background < sizes.classes)
      result = s.select(s.equali(body.loop(1), s.index(background)), none(s),
                        result);
    return {result};
  })[0];
}

/// The candidates' boxes: images, classes, candidates, sides.
Value Detections::chooseBoxes(Value boxes, Value places) {
  auto type =
      tensor({sizes.images, sizes.classes, sizes.candidates, 4}, number);
  Nest nest(b, loc, type.getShape());
  nest.output(type, iota(4));
  return nest.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    Value place = asIndex(
        s, body.read(places, {body.loop(0), body.loop(1), body.loop(2)}));
    Value which = sizes.boxesPerPrior == 1 ? s.index(0) : body.loop(1);
    return {body.read(boxes, {body.loop(0), which, place, body.loop(3)})};
  })[0];
}

/// Intersection over union of candidates i and j of the class at loops 0 and 1;
/// 0 where they do not meet.
Value Detections::overlap(Nest::Body &body, Value boxes, Value i, Value j) {
  Scalars &s = body.s;
  auto side = [&](Value box, int64_t number) {
    return body.read(boxes, {body.loop(0), body.loop(1), box, s.index(number)});
  };
  auto most = [&](Value x, Value y) { return s.select(s.greater(y, x), y, x); };
  auto least = [&](Value x, Value y) {
    return s.select(s.greater(x, y), y, x);
  };
  Value zero = s.constant(number, 0), shared = s.constant(number, 1);
  Value meet, areas[2];
  for (int axis = 0; axis < 2; ++axis) {
    Value low[2] = {side(i, axis), side(j, axis)};
    Value high[2] = {side(i, axis + 2), side(j, axis + 2)};
    Value width = s.sub(least(high[0], high[1]), most(low[0], low[1]));
    Value positive = s.greater(width, zero);
    meet = meet ? s.both(meet, positive) : positive;
    shared = s.mul(shared, width);
    for (int k = 0; k < 2; ++k) {
      // A box that is inside out has no area.
      Value extent = most(zero, s.sub(high[k], low[k]));
      areas[k] = areas[k] ? s.mul(areas[k], extent) : extent;
    }
  }
  Value all = s.sub(s.add(areas[0], areas[1]), shared);
  return s.select(meet, s.div(shared, all), zero);
}

/// Which candidates are kept, a bit for each: images, classes, words.
/// Candidates are decided one after the other, better ones first; a nest
/// decides as many as a word holds, for every class of every image by itself.
Value Detections::suppress(Value values, Value boxes) {
  auto type = tensor({sizes.images, sizes.classes, sizes.words}, i32);
  double eta = op.getEta().convertToFloat();
  Value words, threshold;
  for (int64_t word = 0; word < sizes.words; ++word) {
    int64_t first = word * kWord;
    int64_t count = std::min(kWord, sizes.candidates - first);
    int64_t others = first + count;
    Nest nest(b, loc, {sizes.images, sizes.classes, count, others},
              {false, false, true, true});
    if (threshold)
      nest.input(threshold, {0, 1});
    nest.output(perClass(i32), {0, 1}, 0);
    nest.output(perClass(i32), {0, 1}, 0); // overlaps one that is kept
    nest.output(perClass(number), {0, 1},
                op.getNmsThreshold().convertToFloat());
    Results results = nest.build([&](Nest::Body &body) -> Results {
      Scalars &s = body.s;
      Value image = body.loop(0), label = body.loop(1), bit = body.loop(2),
            other = body.loop(3);
      Value mine = s.addi(bit, s.index(first));
      Value starts = s.equali(other, s.index(0));
      Value limit = body.out[2];
      if (threshold)
        limit = s.select(s.both(starts, s.equali(bit, s.index(0))), body.in[0],
                         limit);
      Value fates = body.out[0];
      if (words)
        fates = s.select(
            s.less(other, s.index(first)),
            body.read(words, {image, label,
                              s.clamp(s.divi(other, kWord), sizes.words)}),
            fates);
      Value shift =
          arith::IndexCastOp::create(s.b, s.loc, i32, s.remi(other, kWord));
      Value isKept = s.equali(
          arith::AndIOp::create(
              s.b, s.loc, arith::ShRUIOp::create(s.b, s.loc, fates, shift),
              s.constant(i32, 1)),
          s.constant(i32, 1));
      Value tooMuch =
          arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UGT,
                                overlap(body, boxes, mine, other), limit);
      Value hit = s.both(s.both(s.less(other, mine), isKept), tooMuch);
      Value before = s.select(starts, s.constant(i32, 0), body.out[1]);
      Value overlaps = s.select(hit, s.constant(i32, 1), before);
      Value ends = s.equali(other, s.index(others - 1));
      Value isThere =
          s.greater(body.read(values, {image, label, mine}), none(s));
      Value keep =
          s.both(s.both(ends, isThere), s.equali(overlaps, s.constant(i32, 0)));
      Value mask = arith::ShLIOp::create(
          s.b, s.loc, s.constant(i32, 1),
          arith::IndexCastOp::create(s.b, s.loc, i32, bit));
      Value fate = arith::OrIOp::create(
          s.b, s.loc, body.out[0], s.select(keep, mask, s.constant(i32, 0)));
      if (eta < 1) {
        Value shrinks = s.both(keep, s.greater(limit, s.constant(number, 0.5)));
        limit = s.select(shrinks, s.mul(limit, s.constant(number, eta)), limit);
      }
      return {fate, overlaps, limit};
    });
    threshold = results[2];
    Nest gather(b, loc, type.getShape());
    gather.input(results[0], {0, 1});
    if (words)
      gather.input(words, iota(3));
    gather.output(type, iota(3));
    words = gather.build([&](Nest::Body &body) -> Results {
      Scalars &s = body.s;
      return {s.select(s.equali(body.loop(2), s.index(word)), body.in[0],
                       words ? body.in[1] : s.constant(i32, 0))};
    })[0];
  }
  Nest unpack(b, loc, perCandidate(i32).getShape());
  unpack.output(perCandidate(i32), iota(3));
  return unpack.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    Value fates = body.read(
        words, {body.loop(0), body.loop(1), s.divi(body.loop(2), kWord)});
    Value shift = arith::IndexCastOp::create(s.b, s.loc, i32,
                                             s.remi(body.loop(2), kWord));
    Value bit = arith::AndIOp::create(
        s.b, s.loc, arith::ShRUIOp::create(s.b, s.loc, fates, shift),
        s.constant(i32, 1));
    return {flag(s, s.equali(bit, s.constant(i32, 1)))};
  })[0];
}

/// Of an image's detections, only the keep_top_k with the best scores. The last
/// of those, by a sort, tells which are better.
Value Detections::keepBest(Value kept, Value values) {
  int64_t all = sizes.classes * sizes.candidates;
  if (sizes.perImage == all)
    return kept;
  Value last, lastPlace;
  if (sizes.perImage > 0) {
    auto type = tensor({sizes.images, all}, number);
    Nest nest(b, loc, type.getShape());
    nest.output(type, iota(2));
    Value keys = nest.build([&](Nest::Body &body) -> Results {
      Scalars &s = body.s;
      SmallVector<Value> at = {body.loop(0),
                               s.divi(body.loop(1), sizes.candidates),
                               s.remi(body.loop(1), sizes.candidates)};
      Value isKept = s.equali(body.read(kept, at), s.constant(i32, 1));
      return {s.select(isKept, body.read(values, at), none(s))};
    })[0];
    std::tie(last, lastPlace) = buildSortDescending(b, loc, keys);
  }
  Nest nest(b, loc, perCandidate(i32).getShape());
  nest.input(kept, iota(3));
  nest.output(perCandidate(i32), iota(3));
  return nest.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    if (!last)
      return {s.constant(i32, 0)};
    SmallVector<Value> at = {body.loop(0), s.index(sizes.perImage - 1)};
    Value value = body.read(values, {body.loop(0), body.loop(1), body.loop(2)});
    Value least = body.read(last, at);
    Value mine = s.addi(s.muli(body.loop(1), sizes.candidates), body.loop(2));
    Value place = asIndex(s, body.read(lastPlace, at));
    Value better = arith::OrIOp::create(
        s.b, s.loc, s.greater(value, least),
        s.both(s.equal(value, least), s.atLeast(place, mine)));
    return {s.select(better, body.in[0], s.constant(i32, 0))};
  })[0];
}

/// The top and its count. Detections stand by image, label and score.
SmallVector<Value> Detections::rows(Value kept, Value values, Value boxes) {
  const ArrayRef<int64_t> scalar;
  // Detections of each class, and of all before it.
  Nest tally(b, loc, perCandidate(i32).getShape(), {false, false, true});
  tally.input(kept, iota(3));
  tally.output(perClass(i32), {0, 1}, 0);
  Value perLabel = tally.build([&](Nest::Body &body) -> Results {
    return {body.s.addi(body.out[0], body.in[0])};
  })[0];
  Nest starts(b, loc,
              {sizes.images, sizes.classes, sizes.images, sizes.classes},
              {false, false, true, true});
  starts.input(perLabel, {2, 3});
  starts.output(perClass(i32), {0, 1}, 0);
  Value start = starts.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    auto flat = [&](unsigned image) {
      return s.addi(s.muli(body.loop(image), sizes.classes),
                    body.loop(image + 1));
    };
    Value earlier = s.less(flat(2), flat(0));
    return {
        s.addi(body.out[0], s.select(earlier, body.in[0], s.constant(i32, 0)))};
  })[0];
  Nest sum(b, loc, perClass(i32).getShape(), {true, true});
  sum.input(perLabel, iota(2));
  sum.output(tensor({}, i32), scalar, 0);
  Value total = sum.build([&](Nest::Body &body) -> Results {
    return {body.s.addi(body.out[0], body.in[0])};
  })[0];
  // Where each candidate's row would end.
  Nest ends(b, loc,
            {sizes.images, sizes.classes, sizes.candidates, sizes.candidates},
            {false, false, false, true});
  ends.input(kept, {0, 1, 3});
  ends.input(start, {0, 1});
  ends.output(perCandidate(i32), iota(3), 0);
  Value end = ends.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    Value first = s.equali(body.loop(3), s.index(0));
    Value before = s.select(first, body.in[1], body.out[0]);
    Value counts = s.select(s.less(body.loop(2), body.loop(3)),
                            s.constant(i32, 0), body.in[0]);
    return {s.addi(before, counts)};
  })[0];

  int64_t all = sizes.images * sizes.classes * sizes.candidates;
  auto where = [&](Scalars &s, Value flat) -> SmallVector<Value> {
    Value label = s.divi(flat, sizes.candidates);
    return {s.divi(label, sizes.classes), s.remi(label, sizes.classes),
            s.remi(flat, sizes.candidates)};
  };
  // The first candidate that ends behind a row is the one it shows.
  auto perRow = tensor({sizes.rows()}, i32);
  Nest find(b, loc, perRow.getShape());
  find.output(perRow, {0});
  Value source = find.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    Value row = asI32(s, body.loop(0));
    Value low = s.index(0), high = s.index(all);
    for (int64_t width = all; width > 0; width /= 2) {
      Value middle = s.divi(s.addi(low, high), 2);
      Value open = s.less(low, high);
      Value behind =
          s.less(row, body.read(end, where(s, s.clamp(middle, all))));
      Value next = s.select(
          open, s.select(behind, low, s.addi(middle, s.index(1))), low);
      high = s.select(s.both(open, behind), middle, high);
      low = next;
    }
    return {asI32(s, s.clamp(low, all))};
  })[0];

  auto type = tensorOf(op.getY());
  Nest table(b, loc, type.getShape());
  table.input(source, {2});
  table.input(total, scalar);
  table.output(type, iota(4));
  Value y = table.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    Value row = body.loop(2), column = body.loop(3);
    SmallVector<Value> at = where(s, asIndex(s, body.in[0]));
    auto asNumber = [&](Value index) -> Value {
      return arith::SIToFPOp::create(s.b, s.loc, number, asI32(s, index));
    };
    Value side = s.clamp(s.subi(column, s.index(3)), 4);
    Value value = body.read(boxes, {at[0], at[1], at[2], side});
    auto put = [&](int64_t index, Value what) {
      value = s.select(s.equali(column, s.index(index)), what, value);
    };
    put(0, asNumber(at[0]));
    put(1, asNumber(at[1]));
    put(2, body.read(values, at));
    // Without any detection, a row for each image tells so.
    Value isImage = s.both(s.equali(column, s.index(0)),
                           s.less(row, s.index(sizes.images)));
    Value isEmpty = s.equali(body.in[1], s.constant(i32, 0));
    Value absent = s.select(s.both(isImage, isEmpty), asNumber(row),
                            s.constant(number, -1));
    return {s.select(s.less(asI32(s, row), body.in[1]), value, absent)};
  })[0];

  auto countType = tensorOf(op.getCount());
  Nest count(b, loc, countType.getShape());
  count.input(total, scalar);
  count.output(countType, iota(2));
  Value found = count.build([&](Nest::Body &body) -> Results {
    Scalars &s = body.s;
    return {s.select(s.equali(body.in[0], s.constant(i32, 0)),
                     s.constant(i32, sizes.images), body.in[0])};
  })[0];
  return {y, found};
}

SmallVector<Value> Detections::build() {
  auto [values, places] = buildSortDescending(b, loc, scores());
  Value boxes = chooseBoxes(decode(), places);
  Value kept = keepBest(suppress(values, boxes), values);
  return rows(kept, values, boxes);
}

} // namespace

SmallVector<Value> DetectionOutputOp::buildGeneric(OpBuilder &b) {
  return Detections(*this, b).build();
}
