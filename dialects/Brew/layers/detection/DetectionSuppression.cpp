//===- DetectionSuppression.cpp - Suppression in DetectionOutput ----------===//
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/detection/DetectionNests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace brew::dialects;

/// Number of candidates per 32-bit word of a bit set.
constexpr int64_t kWord = 32;

/// The geometry of a candidate's box: its four sides, and its area, which is 0
/// if opposite sides are exchanged.
constexpr int64_t kArea = 4, kSidesAndArea = 5;

/// Builds the geometry of the candidates' boxes. Shape: images, classes, sides
/// and area, candidates padded to complete words.
Value DetectionOutputBuilder::buildGeometry(Value boxes) {
  const int64_t padded = llvm::alignTo(sizes.candidates, kWord);
  auto type =
      tensor({sizes.images, sizes.classes, kSidesAndArea, padded}, floatType);
  return buildTensor(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value box = s.clamp(body.loop(3), sizes.candidates);
    auto side = [&](Value which) {
      return body.read(boxes, {body.loop(0), body.loop(1), box, which});
    };
    Value area;
    for (int axis = 0; axis < 2; ++axis) {
      Value extent = s.sub(side(s.index(axis + 2)), side(s.index(axis)));
      Value zero = s.constant(floatType, 0);
      extent = s.select(s.greater(extent, zero), extent, zero);
      area = area ? s.mul(area, extent) : extent;
    }
    return s.select(s.equali(body.loop(2), s.index(kArea)), area,
                    side(s.clamp(body.loop(2), 4)));
  });
}

/// Builds the intersection over union of candidates i and j of the class at
/// loops 0 and 1; 0 if they are disjoint.
Value DetectionOutputBuilder::buildOverlap(NestBuilder::Body &body,
                                           Value geometry, Value i, Value j) {
  ScalarBuilder &s = body.s;
  auto field = [&](Value box, int64_t which) {
    return body.read(geometry,
                     {body.loop(0), body.loop(1), s.index(which), box});
  };
  auto larger = [&](Value x, Value y) {
    return s.select(s.greater(y, x), y, x);
  };
  auto smaller = [&](Value x, Value y) {
    return s.select(s.greater(x, y), y, x);
  };
  Value zero = s.constant(floatType, 0), intersect, intersection;
  for (int axis = 0; axis < 2; ++axis) {
    Value width = s.sub(smaller(field(i, axis + 2), field(j, axis + 2)),
                        larger(field(i, axis), field(j, axis)));
    Value positive = s.greater(width, zero);
    intersect = intersect ? s.both(intersect, positive) : positive;
    intersection = intersection ? s.mul(intersection, width) : width;
  }
  Value unionArea =
      s.sub(s.add(field(i, kArea), field(j, kArea)), intersection);
  return s.select(intersect, s.div(intersection, unionArea), zero);
}

Value DetectionOutputBuilder::buildBit(ScalarBuilder &s, Value index) {
  return arith::ShLIOp::create(s.b, s.loc, s.constant(i32, 1), asI32(s, index));
}

Value DetectionOutputBuilder::layerThreshold(ScalarBuilder &s) {
  return s.constant(floatType, op.getNmsThreshold().convertToFloat());
}

/// Returns whether kept candidates lower the threshold.
bool DetectionOutputBuilder::thresholdShrinks() {
  return op.getEta().convertToFloat() < 1 && op.getNmsThreshold().isFinite();
}

/// Builds whether `iou` exceeds `limit`. NaN exceeds every limit.
Value DetectionOutputBuilder::exceeds(ScalarBuilder &s, Value iou,
                                      Value limit) {
  return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UGT, iou,
                               limit);
}

/// Builds, for each of the `count` candidates from `first` (the start of a
/// word) on, the largest overlap with a kept earlier candidate (bits of
/// `words`; null: no earlier candidates). The result is infinity if it exceeds
/// the layer's threshold and for boxes that are not candidates, and 0 if it is
/// below a constant threshold.
Value DetectionOutputBuilder::buildOverlapBefore(Value values, Value words,
                                                 Value geometry, int64_t first,
                                                 int64_t count) {
  auto type = tensor({sizes.images, sizes.classes, count}, floatType);
  auto ifValid = [&](NestBuilder::Body &body, Value iou) -> Value {
    ScalarBuilder &s = body.s;
    Value candidate = s.addi(body.loop(2), s.index(first));
    Value value = body.read(values, {body.loop(0), body.loop(1), candidate});
    return s.select(s.greater(value, noCandidateScore(s)), iou, infinity(s));
  };
  if (!words)
    return buildTensor(type, [&](NestBuilder::Body &body) {
      return ifValid(body, body.s.constant(floatType, 0));
    });
  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, count, first / kWord, kWord},
                   {false, false, false, true, true});
  nest.output(type, iota(3), 0);
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value keptWord =
        body.read(words, {body.loop(0), body.loop(1), body.loop(3)});
    Value isKept =
        s.equali(buildBitOf(s, keptWord, body.loop(4)), s.constant(i32, 1));
    Value iou =
        buildOverlap(body, geometry, s.addi(body.loop(2), s.index(first)),
                     s.addi(s.muli(body.loop(3), kWord), body.loop(4)));
    Value zero = s.constant(floatType, 0);
    iou = s.select(exceeds(s, iou, layerThreshold(s)), infinity(s),
                   thresholdShrinks() ? iou : zero);
    iou = s.select(isKept, iou, zero);
    return {s.maximize(body.out[0], ifValid(body, iou))};
  })[0];
}

/// Builds a bit set for each candidate of a block: the candidates of the same
/// block that it overlaps too much. Shape: images, classes, candidates, words.
Value DetectionOutputBuilder::buildOverlapWithin(Value geometry, int64_t first,
                                                 int64_t count) {
  const int64_t wordCount = llvm::divideCeil(count, kWord);
  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, count, wordCount, kWord},
                   {false, false, false, false, true});
  nest.output(tensor({sizes.images, sizes.classes, count, wordCount}, i32),
              iota(4), 0);
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value otherCandidate = s.addi(s.muli(body.loop(3), kWord), body.loop(4));
    Value iou =
        buildOverlap(body, geometry, s.addi(body.loop(2), s.index(first)),
                     s.addi(otherCandidate, s.index(first)));
    Value overlapBit = s.select(exceeds(s, iou, layerThreshold(s)),
                                buildBit(s, body.loop(4)), s.constant(i32, 0));
    return {arith::OrIOp::create(s.b, s.loc, body.out[0], overlapBit)};
  })[0];
}

/// Decides which of the `count` candidates from `first` on are kept, one after
/// the other, best first, separately for every class of every image.
/// `earlierOverlap` is their overlap with kept candidates of earlier blocks.
/// Returns the words of bits of kept candidates. Updates a shrinking
/// `threshold`, which is null before the first block. With a constant
/// threshold, all blocks share the same code.
SmallVector<Value> DetectionOutputBuilder::suppressBlock(Value geometry,
                                                         Value earlierOverlap,
                                                         int64_t first,
                                                         int64_t count,
                                                         Value &threshold) {
  const int64_t wordCount = llvm::divideCeil(count, kWord);
  const double eta = op.getEta().convertToFloat();
  // The limit must be less than infinity, which `earlierOverlap` contains for
  // suppressed candidates.
  const double initialLimit = std::min(op.getNmsThreshold().convertToFloat(),
                                       std::numeric_limits<float>::max());
  // A shrinking threshold is known only when a candidate is decided. The
  // candidate is then compared with the others one by one. With a constant
  // threshold, it is compared with a word of candidates at a time.
  Value blockOverlap =
      thresholdShrinks() ? Value() : buildOverlapWithin(geometry, first, count);
  const int64_t steps = blockOverlap ? 1 : kWord;
  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, count, wordCount, steps},
                   {false, false, true, true, true});
  nest.input(earlierOverlap, {0, 1, 2});
  if (threshold)
    nest.input(threshold, {0, 1});
  for (int64_t word = 0; word < wordCount; ++word)
    nest.output(perClass(i32), {0, 1}, 0);
  nest.output(perClass(i32), {0, 1}, 0); // overlaps one that is kept
  if (thresholdShrinks())
    nest.output(perClass(floatType), {0, 1}, initialLimit);
  Results results = nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value yes = s.constant(i32, 1), no = s.constant(i32, 0);
    Value candidate = body.loop(2);
    auto isAt = [&](unsigned loop, int64_t index) {
      return s.equali(body.loop(loop), s.index(index));
    };
    Value isFirstStep = s.both(isAt(3, 0), isAt(4, 0));
    Value isLastStep = s.both(isAt(3, wordCount - 1), isAt(4, steps - 1));
    ValueRange words = body.out.take_front(wordCount);
    Value limit = thresholdShrinks() ? body.out.back()
                                     : s.constant(floatType, initialLimit);
    if (threshold)
      limit = s.select(s.both(isFirstStep, isAt(2, 0)), body.in[1], limit);
    // The bits of later candidates are not set yet.
    Value keptWord = words[0];
    for (int64_t word = 1; word < wordCount; ++word)
      keptWord = s.select(isAt(3, word), words[word], keptWord);
    Value overlapBits;
    if (blockOverlap) {
      overlapBits = body.read(
          blockOverlap, {body.loop(0), body.loop(1), candidate, body.loop(3)});
    } else {
      Value otherCandidate = s.addi(s.muli(body.loop(3), kWord), body.loop(4));
      Value iou =
          buildOverlap(body, geometry, s.addi(candidate, s.index(first)),
                       s.addi(otherCandidate, s.index(first)));
      overlapBits =
          s.select(exceeds(s, iou, limit), buildBit(s, body.loop(4)), no);
    }
    Value overlapsEarlier = s.select(s.greater(body.in[0], limit), yes, no);
    Value overlaps = arith::OrIOp::create(
        s.b, s.loc, s.select(isFirstStep, overlapsEarlier, body.out[wordCount]),
        arith::AndIOp::create(s.b, s.loc, keptWord, overlapBits));
    Value keep = s.both(isLastStep, s.equali(overlaps, no));
    Value mask = buildBit(s, s.remi(candidate, kWord));
    Results next;
    for (int64_t word = 0; word < wordCount; ++word) {
      Value isOwnWord = s.equali(s.divi(candidate, kWord), s.index(word));
      next.push_back(
          arith::OrIOp::create(s.b, s.loc, words[word],
                               s.select(s.both(keep, isOwnWord), mask, no)));
    }
    next.push_back(overlaps);
    if (thresholdShrinks()) {
      Value isLarge =
          s.both(keep, s.greater(limit, s.constant(floatType, 0.5)));
      next.push_back(
          s.select(isLarge, s.mul(limit, s.constant(floatType, eta)), limit));
    }
    return next;
  });
  if (thresholdShrinks())
    threshold = results.back();
  results.resize(wordCount);
  return results;
}

/// Builds which candidates are kept. Shape: images, classes, candidates.
/// Suppression works in blocks: each is compared with all earlier blocks at
/// once, and then its candidates are decided one by one.
Value DetectionOutputBuilder::suppress(Value values, Value boxes) {
  const int64_t wordCount = llvm::divideCeil(sizes.candidates, kWord);
  // A block has as many words as there are blocks, because both increase code
  // size: words in the kernel that decides, blocks in the kernels that compare.
  const int64_t blockWords = std::ceil(std::sqrt(wordCount));
  auto type = tensor({sizes.images, sizes.classes, wordCount}, i32);
  Value geometry = buildGeometry(boxes), words, threshold;
  for (int64_t word = 0; word < wordCount; word += blockWords) {
    const int64_t first = word * kWord;
    const int64_t count =
        std::min(blockWords * kWord, sizes.candidates - first);
    Value earlierOverlap =
        buildOverlapBefore(values, words, geometry, first, count);
    SmallVector<Value> decided =
        suppressBlock(geometry, earlierOverlap, first, count, threshold);
    NestBuilder gather(b, loc, type.getShape());
    for (Value keptBits : decided)
      gather.input(keptBits, {0, 1});
    if (words)
      gather.input(words, iota(3));
    gather.output(type, iota(3));
    words = gather.build([&](NestBuilder::Body &body) -> Results {
      ScalarBuilder &s = body.s;
      Value result = words ? body.in.back() : s.constant(i32, 0);
      for (size_t i = 0; i < decided.size(); ++i)
        result = s.select(s.equali(body.loop(2), s.index(word + i)), body.in[i],
                          result);
      return {result};
    })[0];
  }
  return buildTensor(perCandidate(i32), [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value keptWord = body.read(
        words, {body.loop(0), body.loop(1), s.divi(body.loop(2), kWord)});
    return buildBitOf(s, keptWord, s.remi(body.loop(2), kWord));
  });
}

/// Keeps the keep_top_k best detections of each image. A sort finds the last of
/// them, with which all candidates are compared.
Value DetectionOutputBuilder::keepBest(Value kept, Value values) {
  int64_t candidates = sizes.classes * sizes.candidates;
  if (sizes.perImage == candidates)
    return kept;
  Value sortedValues, sortedPositions;
  if (sizes.perImage > 0) {
    auto type = tensor({sizes.images, candidates}, floatType);
    Value keys = buildTensor(type, [&](NestBuilder::Body &body) -> Value {
      ScalarBuilder &s = body.s;
      SmallVector<Value> indices = {body.loop(0),
                                    s.divi(body.loop(1), sizes.candidates),
                                    s.remi(body.loop(1), sizes.candidates)};
      Value isKept = s.equali(body.read(kept, indices), s.constant(i32, 1));
      return s.select(isKept, body.read(values, indices), noCandidateScore(s));
    });
    std::tie(sortedValues, sortedPositions) =
        buildSortDescending(b, loc, keys, sizes.perImage);
  }
  NestBuilder nest(b, loc, perCandidate(i32).getShape());
  nest.input(kept, iota(3));
  nest.output(perCandidate(i32), iota(3));
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    if (!sortedValues)
      return {s.constant(i32, 0)};
    SmallVector<Value> lastKept = {body.loop(0), s.index(sizes.perImage - 1)};
    Value value = body.read(values, {body.loop(0), body.loop(1), body.loop(2)});
    Value lastValue = body.read(sortedValues, lastKept);
    Value position =
        s.addi(s.muli(body.loop(1), sizes.candidates), body.loop(2));
    Value lastPosition = asIndex(s, body.read(sortedPositions, lastKept));
    Value isAmongBest = arith::OrIOp::create(
        s.b, s.loc, s.greater(value, lastValue),
        s.both(s.equal(value, lastValue), s.atLeast(lastPosition, position)));
    return {s.select(isAmongBest, body.in[0], s.constant(i32, 0))};
  })[0];
}
