//===- DetectionSuppression.cpp - Suppression in DetectionOutput ----------===//
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/detection/DetectionNests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace brew::dialects;

/// Candidates per integer of bits that mark kept ones.
constexpr int64_t kWord = 32;

/// Facts of a candidate's box: its four sides, and its area, which is 0 if the
/// sides are exchanged.
constexpr int64_t kArea = 4, kSidesAndArea = 5;

/// Builds the facts of the candidates' boxes: images, classes, facts,
/// candidates, padded to complete words.
Value DetectionOutputBuilder::sidesAndAreas(Value boxes) {
  const int64_t padded = llvm::alignTo(sizes.candidates, kWord);
  auto type =
      tensor({sizes.images, sizes.classes, kSidesAndArea, padded}, number);
  return each(type, [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value box = s.clamp(body.loop(3), sizes.candidates);
    auto side = [&](Value which) {
      return body.read(boxes, {body.loop(0), body.loop(1), box, which});
    };
    Value area;
    for (int axis = 0; axis < 2; ++axis) {
      Value extent = s.sub(side(s.index(axis + 2)), side(s.index(axis)));
      Value zero = s.constant(number, 0);
      extent = s.select(s.greater(extent, zero), extent, zero);
      area = area ? s.mul(area, extent) : extent;
    }
    return s.select(s.equali(body.loop(2), s.index(kArea)), area,
                    side(s.clamp(body.loop(2), 4)));
  });
}

/// Builds the intersection over union of candidates i and j of the class at
/// loops 0 and 1; 0 if they are disjoint.
Value DetectionOutputBuilder::overlap(NestBuilder::Body &body, Value facts,
                                      Value i, Value j) {
  ScalarBuilder &s = body.s;
  auto fact = [&](Value box, int64_t which) {
    return body.read(facts, {body.loop(0), body.loop(1), s.index(which), box});
  };
  auto most = [&](Value x, Value y) { return s.select(s.greater(y, x), y, x); };
  auto least = [&](Value x, Value y) {
    return s.select(s.greater(x, y), y, x);
  };
  Value zero = s.constant(number, 0), meet, shared;
  for (int axis = 0; axis < 2; ++axis) {
    Value width = s.sub(least(fact(i, axis + 2), fact(j, axis + 2)),
                        most(fact(i, axis), fact(j, axis)));
    Value positive = s.greater(width, zero);
    meet = meet ? s.both(meet, positive) : positive;
    shared = shared ? s.mul(shared, width) : width;
  }
  Value all = s.sub(s.add(fact(i, kArea), fact(j, kArea)), shared);
  return s.select(meet, s.div(shared, all), zero);
}

Value DetectionOutputBuilder::bit(ScalarBuilder &s, Value index) {
  return arith::ShLIOp::create(s.b, s.loc, s.constant(i32, 1), asI32(s, index));
}

Value DetectionOutputBuilder::layerThreshold(ScalarBuilder &s) {
  return s.constant(number, op.getNmsThreshold().convertToFloat());
}

/// Returns whether kept candidates lower the threshold.
bool DetectionOutputBuilder::shrinks() {
  return op.getEta().convertToFloat() < 1 && op.getNmsThreshold().isFinite();
}

/// NaN exceeds every limit.
Value DetectionOutputBuilder::exceeds(ScalarBuilder &s, Value share,
                                      Value limit) {
  return arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::UGT, share,
                               limit);
}

/// Builds, for each of the `count` candidates from `first` (the start of a
/// word) on, the largest overlap with a kept earlier candidate (bits of
/// `words`; null: no earlier candidates). The result is infinity if it exceeds
/// the layer's threshold and for boxes that are not candidates, and 0 if it is
/// below a constant threshold.
Value DetectionOutputBuilder::overlapBefore(Value values, Value words,
                                            Value facts, int64_t first,
                                            int64_t count) {
  auto type = tensor({sizes.images, sizes.classes, count}, number);
  auto ifValid = [&](NestBuilder::Body &body, Value share) -> Value {
    ScalarBuilder &s = body.s;
    Value mine = s.addi(body.loop(2), s.index(first));
    Value value = body.read(values, {body.loop(0), body.loop(1), mine});
    return s.select(s.greater(value, noCandidateScore(s)), share, infinity(s));
  };
  if (!words)
    return each(type, [&](NestBuilder::Body &body) {
      return ifValid(body, body.s.constant(number, 0));
    });
  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, count, first / kWord, kWord},
                   {false, false, false, true, true});
  nest.output(type, iota(3), 0);
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value fates = body.read(words, {body.loop(0), body.loop(1), body.loop(3)});
    Value isKept = s.equali(bitOf(s, fates, body.loop(4)), s.constant(i32, 1));
    Value share = overlap(body, facts, s.addi(body.loop(2), s.index(first)),
                          s.addi(s.muli(body.loop(3), kWord), body.loop(4)));
    Value zero = s.constant(number, 0);
    share = s.select(exceeds(s, share, layerThreshold(s)), infinity(s),
                     shrinks() ? share : zero);
    share = s.select(isKept, share, zero);
    return {s.maximize(body.out[0], ifValid(body, share))};
  })[0];
}

/// Builds a bit set for each candidate of a block: the candidates of the same
/// block that it overlaps too much. Shape: images, classes, candidates, words.
Value DetectionOutputBuilder::overlapWithin(Value facts, int64_t first,
                                            int64_t count) {
  const int64_t wordCount = llvm::divideCeil(count, kWord);
  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, count, wordCount, kWord},
                   {false, false, false, false, true});
  nest.output(tensor({sizes.images, sizes.classes, count, wordCount}, i32),
              iota(4), 0);
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value other = s.addi(s.muli(body.loop(3), kWord), body.loop(4));
    Value share = overlap(body, facts, s.addi(body.loop(2), s.index(first)),
                          s.addi(other, s.index(first)));
    Value hit = s.select(exceeds(s, share, layerThreshold(s)),
                         bit(s, body.loop(4)), s.constant(i32, 0));
    return {arith::OrIOp::create(s.b, s.loc, body.out[0], hit)};
  })[0];
}

/// Decides which of the `count` candidates from `first` on are kept, one after
/// the other, best first, separately for every class of every image. `before`
/// is their overlap with kept candidates of earlier blocks. Returns the words
/// of bits of kept candidates. A shrinking `threshold` (null: the layer's) is
/// updated; without one, all blocks share the same code.
SmallVector<Value>
DetectionOutputBuilder::suppressBlock(Value facts, Value before, int64_t first,
                                      int64_t count, Value &threshold) {
  const int64_t wordCount = llvm::divideCeil(count, kWord);
  const double eta = op.getEta().convertToFloat();
  // Less than infinity, which `before` contains for suppressed candidates.
  const double most = std::min(op.getNmsThreshold().convertToFloat(),
                               std::numeric_limits<float>::max());
  // A shrinking threshold is known only when the candidate is decided, which is
  // then compared with the others one by one; else with a word of others at a
  // time.
  Value within = shrinks() ? Value() : overlapWithin(facts, first, count);
  const int64_t steps = within ? 1 : kWord;
  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, count, wordCount, steps},
                   {false, false, true, true, true});
  nest.input(before, {0, 1, 2});
  if (threshold)
    nest.input(threshold, {0, 1});
  for (int64_t word = 0; word < wordCount; ++word)
    nest.output(perClass(i32), {0, 1}, 0);
  nest.output(perClass(i32), {0, 1}, 0); // overlaps one that is kept
  if (shrinks())
    nest.output(perClass(number), {0, 1}, most);
  Results results = nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value yes = s.constant(i32, 1), no = s.constant(i32, 0);
    Value turn = body.loop(2);
    auto isAt = [&](unsigned loop, int64_t index) {
      return s.equali(body.loop(loop), s.index(index));
    };
    Value starts = s.both(isAt(3, 0), isAt(4, 0));
    Value ends = s.both(isAt(3, wordCount - 1), isAt(4, steps - 1));
    ValueRange words = body.out.take_front(wordCount);
    Value limit = shrinks() ? body.out.back() : s.constant(number, most);
    if (threshold)
      limit = s.select(s.both(starts, isAt(2, 0)), body.in[1], limit);
    // The bits of later candidates are not set yet.
    Value fates = words[0];
    for (int64_t word = 1; word < wordCount; ++word)
      fates = s.select(isAt(3, word), words[word], fates);
    Value tooMuch;
    if (within) {
      tooMuch =
          body.read(within, {body.loop(0), body.loop(1), turn, body.loop(3)});
    } else {
      Value other = s.addi(s.muli(body.loop(3), kWord), body.loop(4));
      Value share = overlap(body, facts, s.addi(turn, s.index(first)),
                            s.addi(other, s.index(first)));
      tooMuch = s.select(exceeds(s, share, limit), bit(s, body.loop(4)), no);
    }
    Value begun = s.select(s.greater(body.in[0], limit), yes, no);
    Value overlaps = arith::OrIOp::create(
        s.b, s.loc, s.select(starts, begun, body.out[wordCount]),
        arith::AndIOp::create(s.b, s.loc, fates, tooMuch));
    Value keep = s.both(ends, s.equali(overlaps, no));
    Value mask = bit(s, s.remi(turn, kWord));
    Results next;
    for (int64_t word = 0; word < wordCount; ++word) {
      Value isMine = s.equali(s.divi(turn, kWord), s.index(word));
      next.push_back(arith::OrIOp::create(
          s.b, s.loc, words[word], s.select(s.both(keep, isMine), mask, no)));
    }
    next.push_back(overlaps);
    if (shrinks()) {
      Value isLarge = s.both(keep, s.greater(limit, s.constant(number, 0.5)));
      next.push_back(
          s.select(isLarge, s.mul(limit, s.constant(number, eta)), limit));
    }
    return next;
  });
  if (shrinks())
    threshold = results.back();
  results.resize(wordCount);
  return results;
}

/// Builds which candidates are kept: images, classes, candidates. Suppression
/// is blocked: against all earlier blocks at once, and within a block one by
/// one.
Value DetectionOutputBuilder::suppress(Value values, Value boxes) {
  const int64_t wordCount = llvm::divideCeil(sizes.candidates, kWord);
  // A block has as many words as there are blocks, because both increase code
  // size: words in the kernel that decides, blocks in the kernels that compare.
  const int64_t block = std::ceil(std::sqrt(wordCount));
  auto type = tensor({sizes.images, sizes.classes, wordCount}, i32);
  Value facts = sidesAndAreas(boxes), words, threshold;
  for (int64_t word = 0; word < wordCount; word += block) {
    const int64_t first = word * kWord;
    const int64_t count = std::min(block * kWord, sizes.candidates - first);
    Value before = overlapBefore(values, words, facts, first, count);
    SmallVector<Value> decided =
        suppressBlock(facts, before, first, count, threshold);
    NestBuilder gather(b, loc, type.getShape());
    for (Value each : decided)
      gather.input(each, {0, 1});
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
  return each(perCandidate(i32), [&](NestBuilder::Body &body) -> Value {
    ScalarBuilder &s = body.s;
    Value fates = body.read(
        words, {body.loop(0), body.loop(1), s.divi(body.loop(2), kWord)});
    return bitOf(s, fates, s.remi(body.loop(2), kWord));
  });
}

/// Keeps the keep_top_k best detections of each image. A sort finds the last of
/// these, with which all others are compared.
Value DetectionOutputBuilder::keepBest(Value kept, Value values) {
  int64_t all = sizes.classes * sizes.candidates;
  if (sizes.perImage == all)
    return kept;
  Value last, lastPlace;
  if (sizes.perImage > 0) {
    auto type = tensor({sizes.images, all}, number);
    Value keys = each(type, [&](NestBuilder::Body &body) -> Value {
      ScalarBuilder &s = body.s;
      SmallVector<Value> at = {body.loop(0),
                               s.divi(body.loop(1), sizes.candidates),
                               s.remi(body.loop(1), sizes.candidates)};
      Value isKept = s.equali(body.read(kept, at), s.constant(i32, 1));
      return s.select(isKept, body.read(values, at), noCandidateScore(s));
    });
    std::tie(last, lastPlace) =
        buildSortDescending(b, loc, keys, sizes.perImage);
  }
  NestBuilder nest(b, loc, perCandidate(i32).getShape());
  nest.input(kept, iota(3));
  nest.output(perCandidate(i32), iota(3));
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
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
