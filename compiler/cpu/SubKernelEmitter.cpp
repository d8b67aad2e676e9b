//===- SubKernelEmitter.cpp - Emission of a scheduled sub-kernel ----------===//

#include "compiler/cpu/SubKernelEmitter.h"

#include "compiler/cpu/ReductionEmitter.h"
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
/// Maximum number of pieces with their own code. More pieces share the code of
/// one loop.
constexpr int64_t kMaxUnrolledPieces = 8;

class SubKernelEmitter {
public:
  SubKernelEmitter(OpBuilder &b, Location loc, SubKernel &subKernel,
                   const Schedule &schedule, ValueRange arguments,
                   ScratchBuffers &scratch)
      : b(b), loc(loc), subKernel(subKernel), schedule(schedule),
        body(b, loc, subKernel, storage), innermostLoop(b, loc, body),
        reductionEmitter(b, loc, body, scratch) {
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
      emitVectorLoop(begin, end, [&](Value i) { emitPoint({i}); });
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
  void emitVectorLoop(Value begin, Value end,
                      llvm::function_ref<void(Value)> emitInside) {
    body.loop(begin, end, 1, emitInside, /*innermost=*/true);
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
    SmallVector<Operation *> allBoundaries;
    for (Nest &nest : subKernel.nests) {
      SmallVector<Operation *> boundaries =
          boundaryOperations(nest, schedule.outerLoops);
      if (boundaries.empty())
        continue;
      allBoundaries.append(boundaries);
      SmallVector<Value> indices(outer);
      indices.push_back(zero);
      indices.resize(nest.loops.size());
      body.unroll(reductionLoops(nest), nest, indices, [&] {
        body.narrowRange(nest, schedule.outerLoops, boundaries, indices, begin,
                         end);
      });
    }
    auto emitAt = [&](Value i) {
      SmallVector<Value> point(outer);
      point.push_back(i);
      emitPoint(point);
    };
    std::optional<int64_t> length =
        commonDivisor(subKernel, schedule.outerLoops);
    if (allBoundaries.empty() && length && *length >= kMinPieceLength)
      return emitPieces(*length, extent / *length, emitAt);
    innermostLoop.emitRanges(
        zero, begin, end, last, allBoundaries,
        [&](Value from, Value to) { emitVectorLoop(from, to, emitAt); });
  }

  /// Fused schedule: emits the inner loop as `count` loops over its pieces. No
  /// vector crosses a piece, and for few pieces quotients are constants.
  void emitPieces(int64_t length, int64_t count,
                  llvm::function_ref<void(Value)> emitAt) {
    auto emitPiece = [&](Value number) {
      Value first = arith::MulIOp::create(b, loc, number, body.index(length));
      emitVectorLoop(body.index(0), body.index(length), [&](Value position) {
        body.piece = LoopPiece{schedule.outerLoops, number, position};
        emitAt(arith::AddIOp::create(b, loc, first, position));
        body.piece.reset();
      });
    };
    if (count > kMaxUnrolledPieces)
      return body.loop(body.index(0), body.index(count), 1, emitPiece);
    for (int64_t number = 0; number < count; ++number)
      emitPiece(body.index(number));
  }

  static SmallVector<unsigned> reductionLoops(const Nest &nest) {
    SmallVector<unsigned> loopNumbers;
    for (unsigned i = 0; i < nest.loops.size(); ++i)
      if (nest.loops[i].reduction)
        loopNumbers.push_back(i);
    return loopNumbers;
  }

  /// Emits all nests at one grid point with unrolled windows. Stores results
  /// last, because a nest may read buffers that another nest overwrites.
  void emitPoint(ArrayRef<Value> point) {
    for (auto [n, nest] : llvm::enumerate(subKernel.nests)) {
      SmallVector<Value> indices(point);
      indices.resize(nest.loops.size());
      SmallVector<Value> values = body.initials(nest, indices);
      body.unroll(reductionLoops(nest), nest, indices, [&, &nest = nest] {
        values = body.iterate(nest, indices, values);
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
      SmallVector<Value> indices(outer);
      indices.resize(nest.loops.size());
      emitNest(nest, n, indices);
    }
    for (auto [n, nest] : llvm::enumerate(subKernel.nests))
      for (auto [i, output] : llvm::enumerate(nest.outputs))
        if (storage.temporaries[n][i] && !output.arguments.empty()) {
          SmallVector<Value> indices(outer);
          indices.resize(nest.loops.size());
          copyOut(nest, storage.temporaries[n][i], output, indices);
        }
  }

  SmallVector<unsigned> innerLoops(const Nest &nest, bool reduction) {
    SmallVector<unsigned> loopNumbers;
    for (unsigned i = schedule.outerLoops; i < nest.loops.size(); ++i)
      if (nest.loops[i].reduction == reduction)
        loopNumbers.push_back(i);
    return loopNumbers;
  }

  void copyOut(Nest &nest, Value buffer, const Output &output,
               SmallVectorImpl<Value> &indices) {
    body.loops(nest, innerLoops(nest, false), indices, [&] {
      Value value = memref::LoadOp::create(
          b, loc, buffer, body.address(output.temporary, indices));
      for (unsigned argument : output.arguments)
        memref::StoreOp::create(b, loc, value, storage.arguments[argument],
                                body.address(output.address, indices));
    });
  }

  void emitNest(Nest &nest, unsigned number, SmallVectorImpl<Value> &indices) {
    SmallVector<unsigned> parallel = innerLoops(nest, false),
                          reductions = innerLoops(nest, true);
    std::optional<unsigned> innermost = schedule.innermost[number];
    auto moveInnermostLast = [&](SmallVectorImpl<unsigned> &loopNumbers) {
      auto found =
          innermost ? llvm::find(loopNumbers, *innermost) : loopNumbers.end();
      if (found == loopNumbers.end())
        return false;
      loopNumbers.erase(found);
      loopNumbers.push_back(*innermost);
      return true;
    };
    bool isParallelInnermost = moveInnermostLast(parallel);
    moveInnermostLast(reductions);
    if (const auto &rows = schedule.accumulations[number])
      return reductionEmitter.emitRows(nest, number, *rows, parallel, indices);
    ArrayRef<JammedLoop> jammed = schedule.jammed[number];
    llvm::erase_if(parallel, [&](unsigned loop) {
      return llvm::any_of(
          jammed, [&](const JammedLoop &each) { return each.loop == loop; });
    });
    if (isParallelInnermost)
      parallel.pop_back();
    body.loops(nest, parallel, indices, [&] {
      if (!isParallelInnermost)
        return emitBlock(nest, number, jammed, reductions, indices);
      innermostLoop.emit(nest, *innermost, indices, [&](Value from, Value to) {
        emitVectorLoop(from, to, [&](Value i) {
          indices[*innermost] = i;
          storeAll(nest, number, indices,
                   body.iterate(nest, indices, body.initials(nest, indices)));
        });
      });
    });
  }

  void storeAll(Nest &nest, unsigned number, ValueRange point,
                ValueRange values) {
    for (auto [i, value] : llvm::enumerate(values))
      body.store(nest, number, i, point, value);
  }

  /// Emits the loops over the blocks of the loops `jammed`, whose indices are
  /// not in `indices` yet, and the reductions of a block.
  void emitBlock(Nest &nest, unsigned number, ArrayRef<JammedLoop> jammed,
                 ArrayRef<unsigned> reductions,
                 SmallVectorImpl<Value> &indices) {
    if (jammed.empty())
      return emitReductions(nest, number, reductions, indices);
    const JammedLoop &current = jammed.front();
    body.loop(body.index(0), body.index(nest.loops[current.loop].extent),
              current.factor, [&](Value first) {
                indices[current.loop] = first;
                emitBlock(nest, number, jammed.drop_front(), reductions,
                          indices);
              });
  }

  /// Emits the reductions of all points of the block that begins at `first`.
  void emitReductions(Nest &nest, unsigned number,
                      ArrayRef<unsigned> reductions, ArrayRef<Value> first) {
    using Indices = ReductionEmitter::Indices;
    std::vector<Indices> points = {Indices(first)};
    for (const JammedLoop &jammed : schedule.jammed[number]) {
      std::vector<Indices> before = std::exchange(points, {});
      for (const Indices &point : before)
        for (int64_t i = 0; i < jammed.factor; ++i) {
          points.push_back(point);
          points.back()[jammed.loop] =
              arith::AddIOp::create(b, loc, point[jammed.loop], body.index(i));
        }
    }
    SmallVector<Value> values;
    for (const Indices &point : points)
      values.append(body.initials(nest, point));
    values = reductionEmitter.emitCarried(nest, reductions, points, values);
    const unsigned results = nest.outputs.size();
    for (auto [i, point] : llvm::enumerate(points))
      storeAll(nest, number, point,
               ArrayRef(values).slice(i * results, results));
  }

  OpBuilder &b;
  Location loc;
  SubKernel &subKernel;
  const Schedule &schedule;
  EmittedValues storage;
  BodyEmitter body;
  InnermostLoop innermostLoop;
  ReductionEmitter reductionEmitter;
};

} // namespace

void emitSubKernel(OpBuilder &b, Location loc, SubKernel &subKernel,
                   const Schedule &schedule, ValueRange arguments, Value begin,
                   Value end, ScratchBuffers &scratch) {
  SubKernelEmitter(b, loc, subKernel, schedule, arguments, scratch)
      .emit(begin, end);
}

} // namespace brew::compiler::cpu
