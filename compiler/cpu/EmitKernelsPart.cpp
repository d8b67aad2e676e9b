//===- EmitKernelsPart.cpp - The loops of a scheduled part -----------------===//

#include "compiler/cpu/EmitKernelsPart.h"

#include "compiler/cpu/LowerToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>

using namespace mlir;

namespace brew::compiler {

/// Bytes of one buffer that may lie on a thread's stack.
static constexpr int64_t kStackBytes = 16384;

Value Scratch::allocate(Location loc, Type element, int64_t size) {
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  auto type = MemRefType::get({size}, element);
  IntegerAttr alignment = b.getI64IntegerAttr(bufferAlignment);
  if (size * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) <=
      kStackBytes)
    return memref::AllocaOp::create(b, loc, type, alignment);
  heap.push_back(memref::AllocOp::create(b, loc, type, alignment));
  return heap.back();
}

void Scratch::release(OpBuilder &b, Location loc) {
  for (Value buffer : heap)
    memref::DeallocOp::create(b, loc, buffer);
}

namespace {

class PartEmitter {
public:
  PartEmitter(OpBuilder &b, Location loc, Part &part, const Schedule &schedule,
              ValueRange arguments, Scratch &scratch)
      : b(b), loc(loc), part(part), schedule(schedule), scratch(scratch),
        body(b, loc, part, storage) {
    storage.arguments.assign(arguments.begin(), arguments.end());
    for (Nest &nest : part.nests) {
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
      loop(begin, end, [&](Value i) { emitPoint({i}); });
      return;
    }
    loop(begin, end, [&](Value unit) {
      SmallVector<Value> outer = gridIndices(unit);
      if (schedule.kind == Schedule::Kind::Fused)
        loop(part.nests[0].loops[schedule.outer].extent, [&](Value i) {
          SmallVector<Value> point(outer);
          point.push_back(i);
          emitPoint(point);
        });
      else
        emitRows(outer);
    });
  }

private:
  using Body = llvm::function_ref<void(Value)>;

  void loop(Value begin, Value end, Body inside) {
    auto op = scf::ForOp::create(b, loc, begin, end, body.index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    inside(op.getInductionVar());
  }
  void loop(int64_t extent, Body inside) {
    loop(body.index(0), body.index(extent), inside);
  }

  /// Nested loops over `which` of a nest's loops; sets their values in `at`.
  void loops(const Nest &nest, ArrayRef<unsigned> which,
             SmallVectorImpl<Value> &at, llvm::function_ref<void()> inside) {
    if (which.empty())
      return inside();
    loop(nest.loops[which.front()].extent, [&](Value i) {
      at[which.front()] = i;
      loops(nest, which.drop_front(), at, inside);
    });
  }

  /// Indices of the grid loops that `unit` of the domain stands for.
  SmallVector<Value> gridIndices(Value unit) {
    SmallVector<Value> indices(schedule.outer);
    for (unsigned i = schedule.outer; i-- > 0;) {
      if (i == 0) {
        indices[i] = unit;
        break;
      }
      Value extent = body.index(part.nests[0].loops[i].extent);
      indices[i] = arith::RemUIOp::create(b, loc, unit, extent);
      unit = arith::DivUIOp::create(b, loc, unit, extent);
    }
    return indices;
  }

  /// All nests at one grid point. Results are stored last, so that a nest may
  /// still read what another one overwrites.
  void emitPoint(ArrayRef<Value> point) {
    for (auto [n, nest] : llvm::enumerate(part.nests)) {
      SmallVector<Value> at(point);
      at.resize(nest.loops.size());
      SmallVector<Value> values = initials(nest, at);
      // Windows are unrolled in the order of the loops.
      std::function<void(unsigned)> unroll = [&, &nest = nest](unsigned number) {
        if (number == nest.loops.size()) {
          values = body.iterate(nest, at, values);
          return;
        }
        for (int64_t i = 0; i < nest.loops[number].extent; ++i) {
          at[number] = body.index(i);
          unroll(number + 1);
        }
      };
      unroll(point.size());
      storage.scalars[n] = values;
    }
    for (auto [n, nest] : llvm::enumerate(part.nests))
      for (unsigned i = 0; i < nest.outputs.size(); ++i)
        body.store(nest, n, i, point, storage.scalars[n][i]);
  }

  SmallVector<Value> initials(Nest &nest, ValueRange at) {
    SmallVector<Value> values;
    for (Output &output : nest.outputs)
      values.push_back(output.initial ? body.initial(output, at) : Value());
    return values;
  }

  /// All nests, one after the other, inside the outer grid loops.
  void emitRows(ArrayRef<Value> outer) {
    for (auto [n, nest] : llvm::enumerate(part.nests)) {
      SmallVector<Value> at(outer);
      at.resize(nest.loops.size());
      emitNest(nest, n, at);
    }
    for (auto [n, nest] : llvm::enumerate(part.nests))
      for (auto [i, output] : llvm::enumerate(nest.outputs))
        if (storage.temporaries[n][i] && !output.arguments.empty()) {
          SmallVector<Value> at(outer);
          at.resize(nest.loops.size());
          copyOut(nest, storage.temporaries[n][i], output, at);
        }
  }

  SmallVector<unsigned> innerLoops(const Nest &nest, bool reduction) {
    SmallVector<unsigned> which;
    for (unsigned i = schedule.outer; i < nest.loops.size(); ++i)
      if (nest.loops[i].reduction == reduction)
        which.push_back(i);
    return which;
  }

  void copyOut(Nest &nest, Value buffer, const Output &output,
               SmallVectorImpl<Value> &at) {
    loops(nest, innerLoops(nest, false), at, [&] {
      Value value = memref::LoadOp::create(
          b, loc, buffer, body.address(output.temporary, at));
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
    auto storeAll = [&](ValueRange values) {
      for (auto [i, value] : llvm::enumerate(values))
        body.store(nest, number, i, at, value);
    };
    if (reductions.empty() || !parallelInnermost) {
      loops(nest, parallel, at, [&] {
        storeAll(reduce(nest, reductions, at, initials(nest, at)));
      });
      return;
    }
    parallel.pop_back();
    loops(nest, parallel, at, [&] {
      accumulateRow(nest, number, reductions, *innermost, at);
    });
  }

  /// Reduction loops around one body, values carried from one iteration to the
  /// next.
  SmallVector<Value> reduce(Nest &nest, ArrayRef<unsigned> which,
                            SmallVectorImpl<Value> &at,
                            SmallVector<Value> values) {
    if (which.empty())
      return body.iterate(nest, at, values, nest.reductions() > 0);
    auto op = scf::ForOp::create(
        b, loc, body.index(0), body.index(nest.loops[which.front()].extent),
        body.index(1), values);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    at[which.front()] = op.getInductionVar();
    SmallVector<Value> next =
        reduce(nest, which.drop_front(), at,
               SmallVector<Value>(op.getRegionIterArgs()));
    scf::YieldOp::create(b, loc, next);
    return SmallVector<Value>(op.getResults());
  }

  /// Reduction loops around a parallel innermost loop, accumulating in memory.
  void accumulateRow(Nest &nest, unsigned number, ArrayRef<unsigned> reductions,
                     unsigned innermost, SmallVectorImpl<Value> &at) {
    int64_t extent = nest.loops[innermost].extent;
    SmallVector<Value> rows;
    SmallVector<Linear> places;
    for (auto [i, output] : llvm::enumerate(nest.outputs)) {
      if (Value temporary = storage.temporaries[number][i]) {
        rows.push_back(temporary);
        places.push_back(output.temporary);
        continue;
      }
      rows.push_back(scratch.allocate(loc, output.element, extent));
      places.push_back({SmallVector<int64_t>(nest.loops.size(), 0), 0});
      places.back().coefs[innermost] = 1;
    }
    auto storeRow = [&](ValueRange values) {
      for (auto [value, row, place] : llvm::zip(values, rows, places))
        memref::StoreOp::create(b, loc, value, row, body.address(place, at));
    };
    auto loadRow = [&] {
      SmallVector<Value> values;
      for (auto [row, place] : llvm::zip(rows, places))
        values.push_back(
            memref::LoadOp::create(b, loc, row, body.address(place, at)));
      return values;
    };
    loops(nest, {innermost}, at, [&] { storeRow(initials(nest, at)); });
    loops(nest, reductions, at, [&] {
      loops(nest, {innermost}, at,
            [&] { storeRow(body.iterate(nest, at, loadRow())); });
    });
    loops(nest, {innermost}, at, [&] {
      for (auto [i, value] : llvm::enumerate(loadRow()))
        if (!storage.temporaries[number][i])
          body.store(nest, number, i, at, value);
    });
  }

  OpBuilder &b;
  Location loc;
  Part &part;
  const Schedule &schedule;
  Scratch &scratch;
  Storage storage;
  BodyEmitter body;
};

} // namespace

void emitPart(OpBuilder &b, Location loc, Part &part, const Schedule &schedule,
              ValueRange arguments, Value begin, Value end, Scratch &scratch) {
  PartEmitter(b, loc, part, schedule, arguments, scratch).emit(begin, end);
}

} // namespace brew::compiler
