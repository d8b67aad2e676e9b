//===- SubKernelEmitter.cpp - Emission of a scheduled sub-kernel ----------===//

#include "compiler/cpu/SubKernelEmitter.h"

#include "compiler/cpu/LowerToLLVM.h"
#include "compiler/kernels/KernelIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace brew::compiler::cpu {

namespace {

/// Pieces of at least this length become loops of their own: they fill a vector
/// of f32.
constexpr int64_t kMinPieceLength = 16;
/// More pieces than this share one loop's code.
constexpr int64_t kMaxUnrolledPieces = 8;

class SubKernelEmitter {
public:
  SubKernelEmitter(OpBuilder &b, Location loc, SubKernel &subKernel,
                   const Schedule &schedule, ValueRange arguments,
                   ScratchBuffers &scratch)
      : b(b), loc(loc), subKernel(subKernel), schedule(schedule),
        scratch(scratch), body(b, loc, subKernel, storage) {
    storage.arguments.assign(arguments.begin(), arguments.end());
    for (Nest &nest : subKernel.nests) {
      storage.scalars.emplace_back(nest.outputs.size());
      storage.temporaries.emplace_back(nest.outputs.size());
      for (auto [output, temporary] :
           llvm::zip(nest.outputs, storage.temporaries.back()))
        if (output.temporarySize)
          temporary =
              scratch.allocate(loc, output.element, output.temporarySize);
    }
  }

  void emit(Value begin, Value end) {
    if (schedule.kind == Schedule::Kind::Flat) {
      vectorLoop(begin, end, [&](Value i) { emitPoint({i}); });
      return;
    }
    body.loop(begin, end, 1, [&](Value unit) {
      SmallVector<Value> outer = gridIndices(unit);
      if (schedule.kind == Schedule::Kind::Fused)
        emitRow(outer);
      else
        emitRows(outer);
    });
  }

private:
  void vectorLoop(Value begin, Value end,
                  llvm::function_ref<void(Value)> inside) {
    body.loop(begin, end, 1, inside, /*innermost=*/true);
  }

  /// Returns the grid loop indices of `unit` of the domain.
  SmallVector<Value> gridIndices(Value unit) {
    SmallVector<Value> indices(schedule.outerLoops);
    for (unsigned i = schedule.outerLoops; i-- > 0;) {
      if (i == 0) {
        indices[i] = unit;
        break;
      }
      Value extent = body.index(subKernel.nests[0].loops[i].extent);
      indices[i] = arith::RemUIOp::create(b, loc, unit, extent);
      unit = arith::DivUIOp::create(b, loc, unit, extent);
    }
    return indices;
  }

  /// Fused schedule: emits the inner loop, split in three if windows cross
  /// boundaries.
  void emitRow(ArrayRef<Value> outer) {
    int64_t extent = subKernel.nests[0].loops[schedule.outerLoops].extent;
    Value begin = body.index(0), end = body.index(extent), zero = begin,
          last = end;
    SmallVector<Operation *> all;
    for (Nest &nest : subKernel.nests) {
      SmallVector<Operation *> boundaries =
          boundaryOperations(nest, schedule.outerLoops);
      if (boundaries.empty())
        continue;
      all.append(boundaries);
      SmallVector<Value> at(outer);
      at.push_back(zero);
      at.resize(nest.loops.size());
      body.unroll(windowLoops(nest), nest, at, [&] {
        body.narrowRange(nest, schedule.outerLoops, boundaries, at, begin, end);
      });
    }
    auto emitAt = [&](Value i) {
      SmallVector<Value> point(outer);
      point.push_back(i);
      emitPoint(point);
    };
    std::optional<int64_t> length = commonDivisor(subKernel, schedule.outerLoops);
    if (all.empty() && length && *length >= kMinPieceLength)
      return emitPieces(*length, extent / *length, emitAt);
    pieces(zero, begin, end, last, all,
           [&](Value from, Value to) { vectorLoop(from, to, emitAt); });
  }

  /// Fused schedule: emits the inner loop as `count` loops over its pieces. No
  /// vector crosses a piece, and for few pieces quotients are constants.
  void emitPieces(int64_t length, int64_t count,
                  llvm::function_ref<void(Value)> emitAt) {
    auto emitPiece = [&](Value number) {
      Value first = arith::MulIOp::create(b, loc, number, body.index(length));
      vectorLoop(body.index(0), body.index(length), [&](Value place) {
        body.piece = LoopPiece{schedule.outerLoops, number, place};
        emitAt(arith::AddIOp::create(b, loc, first, place));
        body.piece.reset();
      });
    };
    if (count > kMaxUnrolledPieces)
      return body.loop(body.index(0), body.index(count), 1, emitPiece);
    for (int64_t number = 0; number < count; ++number)
      emitPiece(body.index(number));
  }

  /// Calls inside(from, to) for [zero, last), or, if there are boundary
  /// operations, for the ranges before, in and after [begin, end), in which all
  /// of them have no effect.
  void pieces(Value zero, Value begin, Value end, Value last,
              ArrayRef<Operation *> boundaries,
              llvm::function_ref<void(Value, Value)> inside) {
    if (boundaries.empty())
      return inside(zero, last);
    begin = arith::MinSIOp::create(b, loc, begin, last);
    end = arith::MaxSIOp::create(b, loc, end, begin);
    inside(zero, begin);
    body.elidedBoundaries.insert(boundaries.begin(), boundaries.end());
    inside(begin, end);
    body.elidedBoundaries.clear();
    inside(end, last);
  }

  /// Emits the innermost loop of one nest, like emitRow. `carried`: the loop
  /// carries values, so it cannot be skipped.
  void innermostLoop(Nest &nest, unsigned number, SmallVectorImpl<Value> &at,
                     llvm::function_ref<void(Value, Value)> inside,
                     bool carried = false) {
    SmallVector<Operation *> boundaries = boundaryOperations(nest, number);
    Value zero = body.index(0), last = body.index(nest.loops[number].extent),
          begin = zero, end = last;
    SmallVector<Operation *> guards = guardOperations(nest, number);
    if (guards.empty()) {
      if (!boundaries.empty())
        body.narrowRange(nest, number, boundaries, at, begin, end);
      pieces(zero, begin, end, last, boundaries, inside);
      return;
    }
    // Iterations outside the guards have no effect.
    SmallVector<Operation *> still, moving;
    for (Operation *guard : guards)
      (indexStep(nest, guard->getOperand(0), number) == 0 ? still : moving)
          .push_back(guard);
    boundaries.append(guards);
    if (carried)
      moving = guards;
    OpBuilder::InsertionGuard insertion(b);
    at[number] = zero;
    if (!still.empty() && !carried) {
      Value condition = body.guardCondition(nest, still, at);
      b.setInsertionPointToStart(
          scf::IfOp::create(b, loc, condition).thenBlock());
    }
    body.narrowRange(nest, number, moving, at, begin, end);
    body.elidedBoundaries.insert(boundaries.begin(), boundaries.end());
    inside(begin, end);
    body.elidedBoundaries.clear();
  }

  static SmallVector<unsigned> windowLoops(const Nest &nest) {
    SmallVector<unsigned> which;
    for (unsigned i = 0; i < nest.loops.size(); ++i)
      if (nest.loops[i].reduction)
        which.push_back(i);
    return which;
  }

  /// Emits all nests at one grid point with unrolled windows. Stores results
  /// last, because a nest may read buffers that another nest overwrites.
  void emitPoint(ArrayRef<Value> point) {
    for (auto [n, nest] : llvm::enumerate(subKernel.nests)) {
      SmallVector<Value> at(point);
      at.resize(nest.loops.size());
      SmallVector<Value> values = body.initials(nest, at);
      body.unroll(windowLoops(nest), nest, at, [&, &nest = nest] {
        values = body.iterate(nest, at, values);
      });
      storage.scalars[n] = values;
    }
    for (auto [n, nest] : llvm::enumerate(subKernel.nests))
      for (unsigned i = 0; i < nest.outputs.size(); ++i)
        body.store(nest, n, i, point, storage.scalars[n][i]);
  }

  /// Emits all nests one after the other inside the outer grid loops.
  void emitRows(ArrayRef<Value> outer) {
    for (auto [n, nest] : llvm::enumerate(subKernel.nests)) {
      SmallVector<Value> at(outer);
      at.resize(nest.loops.size());
      emitNest(nest, n, at);
    }
    for (auto [n, nest] : llvm::enumerate(subKernel.nests))
      for (auto [i, output] : llvm::enumerate(nest.outputs))
        if (storage.temporaries[n][i] && !output.arguments.empty()) {
          SmallVector<Value> at(outer);
          at.resize(nest.loops.size());
          copyOut(nest, storage.temporaries[n][i], output, at);
        }
  }

  SmallVector<unsigned> innerLoops(const Nest &nest, bool reduction) {
    SmallVector<unsigned> which;
    for (unsigned i = schedule.outerLoops; i < nest.loops.size(); ++i)
      if (nest.loops[i].reduction == reduction)
        which.push_back(i);
    return which;
  }

  void copyOut(Nest &nest, Value buffer, const Output &output,
               SmallVectorImpl<Value> &at) {
    body.loops(nest, innerLoops(nest, false), at, [&] {
      Value value = memref::LoadOp::create(b, loc, buffer,
                                           body.address(output.temporary, at));
      for (unsigned argument : output.arguments)
        memref::StoreOp::create(b, loc, value, storage.arguments[argument],
                                body.address(output.address, at));
    });
  }

  void emitNest(Nest &nest, unsigned number, SmallVectorImpl<Value> &at) {
    SmallVector<unsigned> parallel = innerLoops(nest, false),
                          reductions = innerLoops(nest, true);
    std::optional<unsigned> innermost = schedule.innermost[number];
    auto moveLast = [&](SmallVectorImpl<unsigned> &which) {
      auto found = innermost ? llvm::find(which, *innermost) : which.end();
      if (found == which.end())
        return false;
      which.erase(found);
      which.push_back(*innermost);
      return true;
    };
    bool parallelInnermost = moveLast(parallel);
    moveLast(reductions);
    if (const auto &rows = schedule.accumulations[number])
      return accumulate(nest, number, *rows, parallel, at);
    auto storeAll = [&](ValueRange values) {
      for (auto [i, value] : llvm::enumerate(values))
        body.store(nest, number, i, at, value);
    };
    if (parallelInnermost)
      parallel.pop_back();
    body.loops(nest, parallel, at, [&] {
      if (!parallelInnermost)
        return storeAll(reduce(nest, reductions, at, body.initials(nest, at)));
      innermostLoop(nest, *innermost, at, [&](Value from, Value to) {
        vectorLoop(from, to, [&](Value i) {
          at[*innermost] = i;
          storeAll(body.iterate(nest, at, body.initials(nest, at)));
        });
      });
    });
  }

  /// Emits reduction loops around one body that carry the accumulators.
  SmallVector<Value> reduce(Nest &nest, ArrayRef<unsigned> which,
                            SmallVectorImpl<Value> &at,
                            SmallVector<Value> values) {
    if (which.empty())
      return body.iterate(nest, at, values, nest.reductions() > 0);
    auto carry = [&](Value from, Value to) {
      auto op = scf::ForOp::create(b, loc, from, to, body.index(1), values);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(op.getBody());
      at[which.front()] = op.getInductionVar();
      scf::YieldOp::create(b, loc,
                           reduce(nest, which.drop_front(), at,
                                  SmallVector<Value>(op.getRegionIterArgs())));
      values.assign(op.result_begin(), op.result_end());
    };
    if (which.size() == 1)
      innermostLoop(nest, which.front(), at, carry, /*carried=*/true);
    else
      carry(body.index(0), body.index(nest.loops[which.front()].extent));
    return values;
  }

  /// Emits a nest as RowAccumulation describes; `parallel` are its parallel
  /// loops.
  void accumulate(Nest &nest, unsigned number, const RowAccumulation &plan,
                  SmallVector<unsigned> parallel, SmallVectorImpl<Value> &at) {
    llvm::erase(parallel, plan.innermost);
    std::vector<SmallVector<Value>> rows(plan.factor);
    for (SmallVector<Value> &row : rows)
      for (const Output &output : nest.outputs)
        row.push_back(scratch.allocate(loc, output.element,
                                       nest.loops[plan.innermost].extent));
    if (!plan.jammed)
      return body.loops(nest, parallel, at, [&] {
        accumulateRows(nest, number, plan, rows, {Value()}, at);
      });
    llvm::erase(parallel, *plan.jammed);
    body.loops(nest, parallel, at, [&] {
      Value extent = body.index(nest.loops[*plan.jammed].extent);
      body.loop(body.index(0), extent, plan.factor, [&](Value first) {
        SmallVector<Value> jammedIndices;
        for (int64_t j = 0; j < plan.factor; ++j)
          jammedIndices.push_back(
              arith::AddIOp::create(b, loc, first, body.index(j)));
        accumulateRows(nest, number, plan, rows, jammedIndices, at);
      });
    });
  }

  /// Emits one row per index of the jammed loop in `jammedIndices`.
  void accumulateRows(Nest &nest, unsigned number, const RowAccumulation &plan,
                      ArrayRef<SmallVector<Value>> rows,
                      ValueRange jammedIndices, SmallVectorImpl<Value> &at) {
    auto forEachRow = [&](auto inside) {
      for (auto [row, position] : llvm::zip(rows, jammedIndices)) {
        if (plan.jammed)
          at[*plan.jammed] = position;
        inside(row);
      }
    };
    auto load = [&](ArrayRef<Value> row, Value i) {
      SmallVector<Value> values;
      for (Value buffer : row)
        values.push_back(memref::LoadOp::create(b, loc, buffer, i));
      return values;
    };
    auto store = [&](ValueRange values, ArrayRef<Value> row, Value i) {
      for (auto [value, buffer] : llvm::zip(values, row))
        memref::StoreOp::create(b, loc, value, buffer, i);
    };
    auto wholeRow = [&](auto inside) {
      vectorLoop(body.index(0), body.index(nest.loops[plan.innermost].extent),
                 [&](Value i) {
                   at[plan.innermost] = i;
                   forEachRow([&](ArrayRef<Value> row) { inside(row, i); });
                 });
    };
    bool partialSums = nest.loops[plan.innermost].reduction;
    wholeRow([&](ArrayRef<Value> row, Value i) {
      SmallVector<Value> values;
      for (const Output &output : nest.outputs)
        values.push_back(
            partialSums
                ? arith::ConstantOp::create(
                      b, loc, cast<TypedAttr>(b.getZeroAttr(output.element)))
                : body.initial(output, at));
      store(values, row, i);
    });
    if (plan.jammed)
      at[*plan.jammed] = jammedIndices[0];
    body.unroll(plan.unrolled, nest, at, [&] {
      body.loops(nest, plan.reductions, at, [&] {
        innermostLoop(nest, plan.innermost, at, [&](Value from, Value to) {
          vectorLoop(from, to, [&](Value i) {
            at[plan.innermost] = i;
            forEachRow([&](ArrayRef<Value> row) {
              store(body.iterate(nest, at, load(row, i)), row, i);
            });
          });
        });
        if (plan.jammed)
          at[*plan.jammed] = jammedIndices[0];
      });
    });
    if (!partialSums) {
      wholeRow([&](ArrayRef<Value> row, Value i) {
        for (auto [result, value] : llvm::enumerate(load(row, i)))
          body.store(nest, number, result, at, value);
      });
      return;
    }
    forEachRow([&](ArrayRef<Value> row) {
      for (unsigned result = 0; result < nest.outputs.size(); ++result)
        body.store(nest, number, result, at,
                   body.sumOf(row[result], nest.loops[plan.innermost].extent,
                              body.initial(nest.outputs[result], at)));
    });
  }

  OpBuilder &b;
  Location loc;
  SubKernel &subKernel;
  const Schedule &schedule;
  ScratchBuffers &scratch;
  EmittedValues storage;
  BodyEmitter body;
};

} // namespace

void emitSubKernel(OpBuilder &b, Location loc, SubKernel &subKernel,
                   const Schedule &schedule, ValueRange arguments, Value begin,
                   Value end, ScratchBuffers &scratch) {
  SubKernelEmitter(b, loc, subKernel, schedule, arguments, scratch)
      .emit(begin, end);
}

} // namespace brew::compiler::cpu
