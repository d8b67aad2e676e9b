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

/// Rows that share the reduction loops, one for each index of the jammed loop.
struct ReductionEmitter::RowGroup {
  Nest &nest;
  const RowAccumulation &accumulation;
  ArrayRef<Row> rows;
  SmallVectorImpl<Value> &indices; ///< of the nest's loops

  /// Calls emitInside(row) with the row's index of the jammed loop.
  template <typename Function> void forEachRow(const Function &emitInside) {
    for (const Row &row : rows) {
      if (accumulation.jammed)
        indices[*accumulation.jammed] = row.jammedIndex;
      emitInside(row);
    }
    useFirstRow();
  }
  /// Sets the index of the jammed loop for code that all rows share.
  void useFirstRow() {
    if (accumulation.jammed)
      indices[*accumulation.jammed] = rows.front().jammedIndex;
  }
  int64_t length() const { return nest.loops[accumulation.innermost].extent; }
  bool hasPartialSums() const {
    return nest.loops[accumulation.innermost].reduction;
  }
};

Value ReductionEmitter::totalOf(const Row &row, Value i) {
  return row.firstTotal ? arith::AddIOp::create(b, loc, row.firstTotal, i) : i;
}

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
    SmallVector<Value> values;
    if (group.hasPartialSums())
      values = zeros(group.nest);
    else
      for (const Output &output : group.nest.outputs)
        values.push_back(body.initial(output, group.indices));
    store(values, row.totals, totalOf(row, i));
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
    const Value total = totalOf(row, i);
    store(added(load(row.totals, total), load(row.sums, i)), row.totals, total);
  });
}

Value ReductionEmitter::sumOfRow(const Row &row, unsigned output,
                                 int64_t length, Value start) {
  return carry(body.index(0), body.index(length), 1, start,
               [&](Value i, SmallVector<Value> sum) -> SmallVector<Value> {
                 Value term = memref::LoadOp::create(b, loc, row.totals[output],
                                                     totalOf(row, i));
                 return {arith::AddFOp::create(b, loc, sum[0], term,
                                               arith::FastMathFlags::reassoc)};
               })[0];
}

void ReductionEmitter::emitResults(RowGroup &group, unsigned nestNumber) {
  Nest &nest = group.nest;
  if (!group.hasPartialSums())
    return forEachElement(group, [&](const Row &row, Value i) {
      for (auto [result, value] :
           llvm::enumerate(load(row.totals, totalOf(row, i))))
        body.store(nest, nestNumber, result, group.indices, value);
    });
  group.forEachRow([&](const Row &row) {
    for (auto [result, output] : llvm::enumerate(nest.outputs))
      body.store(nest, nestNumber, result, group.indices,
                 sumOfRow(row, result, group.length(),
                          body.initial(output, group.indices)));
  });
}

void ReductionEmitter::emitGroup(RowGroup &group, unsigned nestNumber) {
  const RowAccumulation &accumulation = group.accumulation;
  emitInitials(group);
  body.unroll(accumulation.unrolled, group.nest, group.indices, [&] {
    if (!accumulation.blocks)
      return emitIterations(group, accumulation.reductions);
    forEachBlock(group.nest, accumulation, group.indices,
                 [&](unsigned divided, Value first, Value end) {
                   emitBlock(group, divided, first, end);
                 });
  });
  emitResults(group, nestNumber);
}

void ReductionEmitter::forEachGroup(
    Nest &nest, const RowAccumulation &accumulation,
    ArrayRef<unsigned> parallel, ArrayRef<Row> rows,
    SmallVectorImpl<Value> &indices,
    llvm::function_ref<void(RowGroup &)> emitInside) {
  auto emitGroupOf = [&](MutableArrayRef<Row> rows) {
    if (accumulation.blocksOutside)
      for (Row &row : rows)
        row.firstTotal = firstTotal(nest, accumulation, parallel, row, indices);
    RowGroup group = {nest, accumulation, rows, indices};
    group.useFirstRow();
    emitInside(group);
  };
  body.loops(nest, parallel, indices, [&] {
    SmallVector<Row> group(rows);
    if (!accumulation.jammed)
      return emitGroupOf(group);
    auto emitRowsFrom = [&](Value first, int64_t count) {
      for (auto [number, row] : llvm::enumerate(group))
        row.jammedIndex =
            arith::AddIOp::create(b, loc, first, body.index(number));
      emitGroupOf(MutableArrayRef(group).take_front(count));
    };
    const int64_t extent = nest.loops[*accumulation.jammed].extent,
                  last = extent % accumulation.factor;
    body.loop(body.index(0), body.index(extent - last), accumulation.factor,
              [&](Value first) { emitRowsFrom(first, accumulation.factor); });
    if (last > 0)
      emitRowsFrom(body.index(extent - last), last);
  });
}

Value ReductionEmitter::firstTotal(const Nest &nest,
                                   const RowAccumulation &accumulation,
                                   ArrayRef<unsigned> parallel, const Row &row,
                                   ValueRange indices) {
  Value position = body.index(0);
  auto append = [&](unsigned loop, Value index) {
    position = arith::MulIOp::create(b, loc, position,
                                     body.index(nest.loops[loop].extent));
    position = arith::AddIOp::create(b, loc, position, index);
  };
  for (unsigned loop : parallel)
    append(loop, indices[loop]);
  if (accumulation.jammed)
    append(*accumulation.jammed, row.jammedIndex);
  append(accumulation.innermost, body.index(0));
  return position;
}

void ReductionEmitter::emitRows(Nest &nest, unsigned nestNumber,
                                const RowAccumulation &accumulation,
                                SmallVector<unsigned> parallel,
                                SmallVectorImpl<Value> &indices) {
  const int64_t length = nest.loops[accumulation.innermost].extent;
  int64_t unitRows = 1;
  for (unsigned loop : parallel)
    unitRows *= loop == accumulation.innermost ? 1 : nest.loops[loop].extent;
  llvm::erase(parallel, accumulation.innermost);
  if (accumulation.jammed)
    llvm::erase(parallel, *accumulation.jammed);
  auto allocate = [&](int64_t size) {
    SmallVector<Value> buffers;
    for (const Output &output : nest.outputs)
      buffers.push_back(scratch.allocate(loc, output.element, size));
    return buffers;
  };
  SmallVector<Value> unitTotals;
  if (accumulation.blocksOutside)
    unitTotals = allocate(length * unitRows);
  SmallVector<Row> rows(accumulation.factor);
  for (Row &row : rows) {
    row.totals = accumulation.blocksOutside ? unitTotals : allocate(length);
    row.sums = accumulation.blocks ? allocate(length) : row.totals;
  }
  auto forEach = [&](llvm::function_ref<void(RowGroup &)> emitInside) {
    forEachGroup(nest, accumulation, parallel, rows, indices, emitInside);
  };
  if (!accumulation.blocksOutside)
    return forEach([&](RowGroup &group) { emitGroup(group, nestNumber); });
  forEach([&](RowGroup &group) { emitInitials(group); });
  body.unroll(accumulation.unrolled, nest, indices, [&] {
    forEachBlock(nest, accumulation, indices,
                 [&](unsigned divided, Value first, Value end) {
                   forEach([&](RowGroup &group) {
                     emitBlock(group, divided, first, end);
                   });
                 });
  });
  forEach([&](RowGroup &group) { emitResults(group, nestNumber); });
}

} // namespace brew::compiler::cpu
