//===- DetectionSuppression.cpp - Which candidates DetectionOutput keeps --===//
#include "dialects/Brew/Sort.h"
#include "dialects/Brew/layers/detection/DetectionNests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::ir;

/// Candidates whose fate one integer holds.
constexpr int64_t kWord = 32;

/// Intersection over union of candidates i and j of the class at loops 0 and 1;
/// 0 where they do not meet.
Value Detections::overlap(NestBuilder::Body &body, Value boxes, Value i,
                          Value j) {
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
  const int64_t wordCount = llvm::divideCeil(sizes.candidates, kWord);
  auto type = tensor({sizes.images, sizes.classes, wordCount}, i32);
  double eta = op.getEta().convertToFloat();
  Value words, threshold;
  for (int64_t word = 0; word < wordCount; ++word) {
    int64_t first = word * kWord;
    int64_t count = std::min(kWord, sizes.candidates - first);
    int64_t others = first + count;
    NestBuilder nest(b, loc, {sizes.images, sizes.classes, count, others},
                     {false, false, true, true});
    if (threshold)
      nest.input(threshold, {0, 1});
    nest.output(perClass(i32), {0, 1}, 0);
    nest.output(perClass(i32), {0, 1}, 0); // overlaps one that is kept
    nest.output(perClass(number), {0, 1},
                op.getNmsThreshold().convertToFloat());
    Results results = nest.build([&](NestBuilder::Body &body) -> Results {
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
            body.read(words,
                      {image, label, s.clamp(s.divi(other, kWord), wordCount)}),
            fates);
      Value isKept =
          s.equali(bitOf(s, fates, s.remi(other, kWord)), s.constant(i32, 1));
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
      Value mask =
          arith::ShLIOp::create(s.b, s.loc, s.constant(i32, 1), asI32(s, bit));
      Value fate = arith::OrIOp::create(
          s.b, s.loc, body.out[0], s.select(keep, mask, s.constant(i32, 0)));
      if (eta < 1) {
        Value shrinks = s.both(keep, s.greater(limit, s.constant(number, 0.5)));
        limit = s.select(shrinks, s.mul(limit, s.constant(number, eta)), limit);
      }
      return {fate, overlaps, limit};
    });
    threshold = results[2];
    NestBuilder gather(b, loc, type.getShape());
    gather.input(results[0], {0, 1});
    if (words)
      gather.input(words, iota(3));
    gather.output(type, iota(3));
    words = gather.build([&](NestBuilder::Body &body) -> Results {
      Scalars &s = body.s;
      return {s.select(s.equali(body.loop(2), s.index(word)), body.in[0],
                       words ? body.in[1] : s.constant(i32, 0))};
    })[0];
  }
  return each(perCandidate(i32), [&](NestBuilder::Body &body) -> Value {
    Scalars &s = body.s;
    Value fates = body.read(
        words, {body.loop(0), body.loop(1), s.divi(body.loop(2), kWord)});
    return bitOf(s, fates, s.remi(body.loop(2), kWord));
  });
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
    Value keys = each(type, [&](NestBuilder::Body &body) -> Value {
      Scalars &s = body.s;
      SmallVector<Value> at = {body.loop(0),
                               s.divi(body.loop(1), sizes.candidates),
                               s.remi(body.loop(1), sizes.candidates)};
      Value isKept = s.equali(body.read(kept, at), s.constant(i32, 1));
      return s.select(isKept, body.read(values, at), none(s));
    });
    std::tie(last, lastPlace) =
        buildSortDescending(b, loc, keys, sizes.perImage);
  }
  NestBuilder nest(b, loc, perCandidate(i32).getShape());
  nest.input(kept, iota(3));
  nest.output(perCandidate(i32), iota(3));
  return nest.build([&](NestBuilder::Body &body) -> Results {
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
