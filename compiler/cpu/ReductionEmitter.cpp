//===- ReductionEmitter.cpp - Reduction loops of a nest -------------------===//

#include "compiler/cpu/ReductionEmitter.h"

#include "compiler/cpu/Sums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace brew::compiler::cpu {

SmallVector<Value> ReductionEmitter::zeros(const Nest &nest, unsigned points) {
  SmallVector<Value> values;
  for (unsigned point = 0; point < points; ++point)
    for (const Output &output : nest.outputs)
      values.push_back(arith::ConstantOp::create(
          b, loc, cast<TypedAttr>(b.getZeroAttr(output.element))));
  return values;
}

SmallVector<Value> ReductionEmitter::added(ValueRange left, ValueRange right) {
  SmallVector<Value> sums;
  for (auto [a, c] : llvm::zip(left, right))
    sums.push_back(arith::AddFOp::create(b, loc, a, c));
  return sums;
}

SmallVector<Value> ReductionEmitter::load(ArrayRef<Value> buffers, Value i) {
  SmallVector<Value> values;
  for (Value buffer : buffers)
    values.push_back(memref::LoadOp::create(b, loc, buffer, i));
  return values;
}

void ReductionEmitter::store(ValueRange values, ArrayRef<Value> buffers,
                             Value i) {
  for (auto [value, buffer] : llvm::zip(values, buffers))
    memref::StoreOp::create(b, loc, value, buffer, i);
}

//===----------------------------------------------------------------------===//
// Loops that carry accumulators
//===----------------------------------------------------------------------===//

SmallVector<Value> ReductionEmitter::carry(
    Value from, Value to, int64_t step, ValueRange values,
    llvm::function_ref<SmallVector<Value>(Value, SmallVector<Value>)>
        emitInside) {
  auto op = scf::ForOp::create(b, loc, from, to, body.index(step), values);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  scf::YieldOp::create(b, loc,
                       emitInside(op.getInductionVar(),
                                  SmallVector<Value>(op.getRegionIterArgs())));
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value> ReductionEmitter::iterate(Nest &nest,
                                             MutableArrayRef<Indices> points,
                                             ValueRange values) {
  const unsigned results = nest.outputs.size();
  SmallVector<Value> next;
  for (auto [i, point] : llvm::enumerate(points))
    next.append(body.iterate(nest, point, values.slice(i * results, results),
                             nest.reductions() > 0));
  return next;
}

SmallVector<Value> ReductionEmitter::carryInnermost(
    Nest &nest, unsigned number, MutableArrayRef<Indices> points,
    SmallVector<Value> values, Value from, Value to) {
  auto emitIterations = [&](Value from, Value to, SmallVector<Value> values) {
    return carry(from, to, 1, values, [&](Value i, SmallVector<Value> current) {
      for (Indices &point : points)
        point[number] = i;
      return iterate(nest, points, current);
    });
  };
  if (!hasLongSums(nest))
    return emitIterations(from, to, values);
  int64_t length = sumBlockLength(nest, number);
  if (nest.loops[number].extent <= length)
    return added(values, emitIterations(from, to, zeros(nest, points.size())));
  return carry(
      from, to, length, values, [&](Value first, SmallVector<Value> totals) {
        return added(totals, emitIterations(first, blockEnd(first, length, to),
                                            zeros(nest, points.size())));
      });
}

SmallVector<Value>
ReductionEmitter::emitCarried(Nest &nest, ArrayRef<unsigned> loopNumbers,
                              MutableArrayRef<Indices> points,
                              SmallVector<Value> values) {
  if (loopNumbers.empty())
    return iterate(nest, points, values);
  unsigned number = loopNumbers.front();
  if (loopNumbers.size() > 1)
    return carry(body.index(0), body.index(nest.loops[number].extent), 1,
                 values, [&](Value i, SmallVector<Value> current) {
                   for (Indices &point : points)
                     point[number] = i;
                   return emitCarried(nest, loopNumbers.drop_front(), points,
                                      current);
                 });
  // Boundaries do not depend on jammed loops.
  innermostLoop.emit(
      nest, number, points.front(),
      [&](Value from, Value to) {
        values = carryInnermost(nest, number, points, values, from, to);
      },
      /*carriesValues=*/true);
  return values;
}

//===----------------------------------------------------------------------===//
// Rows of accumulators
//===----------------------------------------------------------------------===//

Value ReductionEmitter::blockEnd(Value first, int64_t length, Value last) {
  return arith::MinSIOp::create(
      b, loc, arith::AddIOp::create(b, loc, first, body.index(length)), last);
}

void ReductionEmitter::forEachBlock(
    const Nest &nest, const RowAccumulation &accumulation,
    SmallVectorImpl<Value> &indices,
    llvm::function_ref<void(unsigned, Value, Value)> emitBlock) {
  ArrayRef<unsigned> reductions = accumulation.reductions;
  unsigned position = accumulation.blocks->position,
           divided = reductions[position];
  int64_t length = accumulation.blocks->length;
  body.loops(nest, reductions.take_front(position), indices, [&] {
    Value last = body.index(nest.loops[divided].extent);
    body.loop(body.index(0), last, length, [&](Value first) {
      emitBlock(divided, first, blockEnd(first, length, last));
    });
  });
}

void ReductionEmitter::emitRows(Nest &nest, unsigned nestNumber,
                                const RowAccumulation &accumulation,
                                SmallVector<unsigned> parallel,
                                SmallVectorImpl<Value> &indices) {
  llvm::erase(parallel, accumulation.innermost);
  auto allocate = [&] {
    SmallVector<Value> buffers;
    for (const Output &output : nest.outputs)
      buffers.push_back(scratch.allocate(
          loc, output.element, nest.loops[accumulation.innermost].extent));
    return buffers;
  };
  std::vector<Row> rows(accumulation.factor);
  for (Row &row : rows) {
    row.totals = allocate();
    row.sums = accumulation.blocks ? allocate() : row.totals;
  }
  if (!accumulation.jammed)
    return body.loops(nest, parallel, indices, [&] {
      emitJammedRows(nest, nestNumber, accumulation, rows, {Value()}, indices);
    });
  llvm::erase(parallel, *accumulation.jammed);
  body.loops(nest, parallel, indices, [&] {
    Value extent = body.index(nest.loops[*accumulation.jammed].extent);
    body.loop(body.index(0), extent, accumulation.factor, [&](Value first) {
      SmallVector<Value> jammedIndices;
      for (int64_t j = 0; j < accumulation.factor; ++j)
        jammedIndices.push_back(
            arith::AddIOp::create(b, loc, first, body.index(j)));
      emitJammedRows(nest, nestNumber, accumulation, rows, jammedIndices,
                     indices);
    });
  });
}

/// Rows that share the reduction loops, one for each index of the jammed loop.
struct ReductionEmitter::RowGroup {
  Nest &nest;
  const RowAccumulation &accumulation;
  ArrayRef<Row> rows;
  ValueRange jammedIndices;
  SmallVectorImpl<Value> &indices; ///< of the nest's loops

  /// Calls emitInside(row) with the row's index of the jammed loop.
  template <typename Function> void forEachRow(const Function &emitInside) {
    for (auto [row, position] : llvm::zip(rows, jammedIndices)) {
      if (accumulation.jammed)
        indices[*accumulation.jammed] = position;
      emitInside(row);
    }
    useFirstRow();
  }
  /// Sets the index of the jammed loop for code that all rows share.
  void useFirstRow() {
    if (accumulation.jammed)
      indices[*accumulation.jammed] = jammedIndices[0];
  }
  int64_t length() const { return nest.loops[accumulation.innermost].extent; }
  bool hasPartialSums() const {
    return nest.loops[accumulation.innermost].reduction;
  }
};

void ReductionEmitter::forEachElement(
    RowGroup &group, Value from, Value to,
    llvm::function_ref<void(const Row &, Value)> emitInside) {
  body.loop(
      from, to, 1,
      [&](Value i) {
        group.indices[group.accumulation.innermost] = i;
        group.forEachRow([&](const Row &row) { emitInside(row, i); });
      },
      /*innermost=*/true);
}

void ReductionEmitter::forEachElement(
    RowGroup &group, llvm::function_ref<void(const Row &, Value)> emitInside) {
  forEachElement(group, body.index(0), body.index(group.length()), emitInside);
}

void ReductionEmitter::emitInitials(RowGroup &group) {
  forEachElement(group, [&](const Row &row, Value i) {
    if (group.hasPartialSums())
      return store(zeros(group.nest), row.totals, i);
    SmallVector<Value> values;
    for (const Output &output : group.nest.outputs)
      values.push_back(body.initial(output, group.indices));
    store(values, row.totals, i);
  });
}

void ReductionEmitter::emitIterations(RowGroup &group,
                                      ArrayRef<unsigned> reductions) {
  Nest &nest = group.nest;
  body.loops(nest, reductions, group.indices, [&] {
    innermostLoop.emit(
        nest, group.accumulation.innermost, group.indices,
        [&](Value from, Value to) {
          forEachElement(group, from, to, [&](const Row &row, Value i) {
            store(body.iterate(nest, group.indices, load(row.sums, i)),
                  row.sums, i);
          });
        });
  });
}

void ReductionEmitter::emitBlock(RowGroup &group, unsigned divided, Value first,
                                 Value end) {
  forEachElement(group, [&](const Row &row, Value i) {
    store(zeros(group.nest), row.sums, i);
  });
  ArrayRef<unsigned> reductions = group.accumulation.reductions;
  body.loop(first, end, 1, [&](Value i) {
    group.indices[divided] = i;
    emitIterations(
        group, reductions.drop_front(group.accumulation.blocks->position + 1));
  });
  forEachElement(group, [&](const Row &row, Value i) {
    store(added(load(row.totals, i), load(row.sums, i)), row.totals, i);
  });
}

void ReductionEmitter::emitResults(RowGroup &group, unsigned nestNumber) {
  Nest &nest = group.nest;
  if (!group.hasPartialSums())
    return forEachElement(group, [&](const Row &row, Value i) {
      for (auto [result, value] : llvm::enumerate(load(row.totals, i)))
        body.store(nest, nestNumber, result, group.indices, value);
    });
  group.forEachRow([&](const Row &row) {
    for (auto [result, output] : llvm::enumerate(nest.outputs))
      body.store(nest, nestNumber, result, group.indices,
                 body.sumOf(row.totals[result], group.length(),
                            body.initial(output, group.indices)));
  });
}

void ReductionEmitter::emitJammedRows(Nest &nest, unsigned nestNumber,
                                      const RowAccumulation &accumulation,
                                      ArrayRef<Row> rows,
                                      ValueRange jammedIndices,
                                      SmallVectorImpl<Value> &indices) {
  RowGroup group = {nest, accumulation, rows, jammedIndices, indices};
  emitInitials(group);
  body.unroll(accumulation.unrolled, nest, indices, [&] {
    if (!accumulation.blocks)
      return emitIterations(group, accumulation.reductions);
    forEachBlock(nest, accumulation, indices,
                 [&](unsigned divided, Value first, Value end) {
                   emitBlock(group, divided, first, end);
                 });
  });
  emitResults(group, nestNumber);
}

} // namespace brew::compiler::cpu
