//===- DetectionRows.cpp - Rows of the top of DetectionOutput -------------===//
//
// Detections are ordered by image, label and score. Their number is known at
// run time only, so every row searches for its candidate.
//
//===----------------------------------------------------------------------===//
#include "dialects/Brew/layers/detection/DetectionNests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace brew::dialects;

/// Number of candidates that are counted together.
constexpr int64_t kTile = 128;

SmallVector<Value> DetectionOutputBuilder::candidateIndices(ScalarBuilder &s,
                                                            Value flat) {
  Value label = s.divi(flat, sizes.candidates);
  return {s.divi(label, sizes.classes), s.remi(label, sizes.classes),
          s.remi(flat, sizes.candidates)};
}

/// Builds the first row of each class from the numbers of rows of all classes.
Value DetectionOutputBuilder::buildFirstRows(Value perLabel) {
  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, sizes.images, sizes.classes},
                   {false, false, true, true});
  nest.input(perLabel, {2, 3});
  nest.output(perClass(i32), {0, 1}, 0);
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    auto flatClass = [&](unsigned image) {
      return s.addi(s.muli(body.loop(image), sizes.classes),
                    body.loop(image + 1));
    };
    Value earlier = s.less(flatClass(2), flatClass(0));
    return {
        s.addi(body.out[0], s.select(earlier, body.in[0], s.constant(i32, 0)))};
  })[0];
}

/// Builds, for each candidate, the number of rows up to and including its own,
/// from the first row of each class. Earlier tiles are counted as a whole.
Value DetectionOutputBuilder::buildRowEnds(Value kept, Value firstRows) {
  const int64_t tiles = llvm::divideCeil(sizes.candidates, kTile);
  // Loops 2 and 3 are a tile and a position in it.
  NestBuilder tally(b, loc, {sizes.images, sizes.classes, tiles, kTile},
                    {false, false, false, true});
  auto perTile = tensor({sizes.images, sizes.classes, tiles}, i32);
  tally.output(perTile, iota(3), 0);
  Value counts = tally.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value candidate = s.addi(s.muli(body.loop(2), kTile), body.loop(3));
    Value isKept = body.read(kept, {body.loop(0), body.loop(1),
                                    s.clamp(candidate, sizes.candidates)});
    Value isValid = s.less(candidate, s.index(sizes.candidates));
    return {s.addi(body.out[0], s.select(isValid, isKept, s.constant(i32, 0)))};
  })[0];

  // Builds the first row of each tile.
  NestBuilder sum(b, loc, {sizes.images, sizes.classes, tiles, tiles},
                  {false, false, false, true});
  sum.input(counts, {0, 1, 3});
  sum.input(firstRows, {0, 1});
  sum.output(perTile, iota(3), 0);
  Value tileStarts = sum.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value first = s.equali(body.loop(3), s.index(0));
    Value rowsBefore = s.select(first, body.in[1], body.out[0]);
    Value isEarlier = s.less(body.loop(3), body.loop(2));
    return {s.addi(rowsBefore,
                   s.select(isEarlier, body.in[0], s.constant(i32, 0)))};
  })[0];

  NestBuilder nest(b, loc,
                   {sizes.images, sizes.classes, sizes.candidates, kTile},
                   {false, false, false, true});
  nest.output(perCandidate(i32), iota(3), 0);
  return nest.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value tile = s.divi(body.loop(2), kTile);
    Value candidate = s.addi(s.muli(tile, kTile), body.loop(3));
    Value first = s.equali(body.loop(3), s.index(0));
    Value rowsBefore = s.select(
        first, body.read(tileStarts, {body.loop(0), body.loop(1), tile}),
        body.out[0]);
    Value isKept = body.read(kept, {body.loop(0), body.loop(1),
                                    s.clamp(candidate, sizes.candidates)});
    return {s.addi(rowsBefore, s.select(s.less(body.loop(2), candidate),
                                        s.constant(i32, 0), isKept))};
  })[0];
}

/// Builds the candidate of each row: the first one whose row end exceeds the
/// row.
Value DetectionOutputBuilder::buildCandidateOfRow(Value rowEnds) {
  const int64_t candidates = sizes.images * sizes.classes * sizes.candidates;
  return buildTensor(
      tensor({sizes.rows()}, i32), [&](NestBuilder::Body &body) -> Value {
        ScalarBuilder &s = body.s;
        Value row = asI32(s, body.loop(0));
        Value low = s.index(0), high = s.index(candidates);
        for (int64_t width = candidates; width > 0; width /= 2) {
          Value middle = s.divi(s.addi(low, high), 2);
          Value isUnfinished = s.less(low, high);
          Value endsAfterRow = s.less(
              row, body.read(rowEnds,
                             candidateIndices(s, s.clamp(middle, candidates))));
          Value next = s.select(
              isUnfinished,
              s.select(endsAfterRow, low, s.addi(middle, s.index(1))), low);
          high = s.select(s.both(isUnfinished, endsAfterRow), middle, high);
          low = next;
        }
        return asI32(s, s.clamp(low, candidates));
      });
}

/// Builds the top and its item count. `positions` are the priors of the
/// candidates.
SmallVector<Value> DetectionOutputBuilder::buildRows(Value kept, Value values,
                                                     Value boxes,
                                                     Value positions) {
  const ArrayRef<int64_t> scalar;
  NestBuilder tally(b, loc, perCandidate(i32).getShape(), {false, false, true});
  tally.input(kept, iota(3));
  tally.output(perClass(i32), {0, 1}, 0);
  Value perLabel = tally.build([&](NestBuilder::Body &body) -> Results {
    return {body.s.addi(body.out[0], body.in[0])};
  })[0];
  NestBuilder sum(b, loc, perClass(i32).getShape(), {true, true});
  sum.input(perLabel, iota(2));
  sum.output(tensor({}, i32), scalar, 0);
  Value total = sum.build([&](NestBuilder::Body &body) -> Results {
    return {body.s.addi(body.out[0], body.in[0])};
  })[0];
  Value source =
      buildCandidateOfRow(buildRowEnds(kept, buildFirstRows(perLabel)));

  auto type = tensorTypeOf(op.getY());
  NestBuilder table(b, loc, type.getShape());
  table.input(source, {2});
  table.input(total, scalar);
  table.output(type, iota(4));
  Value y = table.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    Value row = body.loop(2), column = body.loop(3);
    SmallVector<Value> indices = candidateIndices(s, asIndex(s, body.in[0]));
    auto asNumber = [&](Value index) -> Value {
      return arith::SIToFPOp::create(s.b, s.loc, floatType, asI32(s, index));
    };
    Value side = s.clamp(s.subi(column, s.index(3)), 4);
    Value value = body.read(boxes, {indices[0], indices[1], indices[2], side});
    auto setColumn = [&](int64_t index, Value columnValue) {
      value = s.select(s.equali(column, s.index(index)), columnValue, value);
    };
    setColumn(0, asNumber(indices[0]));
    setColumn(1, asNumber(indices[1]));
    setColumn(2, body.read(values, indices));
    if (op.getWithCells()) {
      ArrayRef<int64_t> cells = shapeOf(op.getLocations());
      const int64_t anchors = cells[3] / 4, columns = cells[2];
      Value prior = asIndex(s, body.read(positions, indices));
      Value cell = s.divi(prior, anchors);
      setColumn(7, asNumber(s.remi(prior, anchors)));
      setColumn(8, asNumber(s.remi(cell, columns)));
      setColumn(9, asNumber(s.divi(cell, columns)));
    }
    // Without any detection, there is one row per image.
    Value isImage = s.both(s.equali(column, s.index(0)),
                           s.less(row, s.index(sizes.images)));
    Value isEmpty = s.equali(body.in[1], s.constant(i32, 0));
    Value absent = s.select(s.both(isImage, isEmpty), asNumber(row),
                            s.constant(floatType, -1));
    return {s.select(s.less(asI32(s, row), body.in[1]), value, absent)};
  })[0];

  auto countType = tensorTypeOf(op.getCount());
  NestBuilder count(b, loc, countType.getShape());
  count.input(total, scalar);
  count.output(countType, iota(2));
  Value itemCount = count.build([&](NestBuilder::Body &body) -> Results {
    ScalarBuilder &s = body.s;
    return {s.select(s.equali(body.in[0], s.constant(i32, 0)),
                     s.constant(i32, sizes.images), body.in[0])};
  })[0];
  return {y, itemCount};
}
