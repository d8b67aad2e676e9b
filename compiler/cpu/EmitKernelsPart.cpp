//===- EmitKernelsPart.cpp - The loops of a scheduled part
//-----------------===//

#include "compiler/cpu/EmitKernelsPart.h"

#include "compiler/cpu/EmitKernelsLoops.h"
#include "compiler/cpu/LowerToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
      loop(
          begin, end, [&](Value i) { emitPoint({i}); }, /*innermost=*/true);
      return;
    }
    loop(begin, end, [&](Value unit) {
      SmallVector<Value> outer = gridIndices(unit);
      if (schedule.kind == Schedule::Kind::Fused)
        emitRow(outer);
      else
        emitRows(outer);
    });
  }

private:
  using Body = llvm::function_ref<void(Value)>;

  /// Keeps LLVM from unrolling a short loop before it has vectorised it (the
  /// straight-line code would not vectorise well), but not from unrolling the
  /// vectors afterwards, which lets accumulators stay in registers.
  Attribute vectoriseFirst() {
    MLIRContext *context = b.getContext();
    auto none = LLVM::LoopAnnotationAttr::get(context, b.getBoolAttr(false), {},
                                              {}, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}, {});
    auto vectorise =
        LLVM::LoopVectorizeAttr::get(context, {}, {}, {}, {}, none, none, {});
    auto unroll = LLVM::LoopUnrollAttr::get(context, b.getBoolAttr(true), {},
                                            {}, {}, {}, {}, {});
    return LLVM::LoopAnnotationAttr::get(context, {}, vectorise, {}, unroll, {},
                                         {}, {}, {}, {}, {}, {}, {}, {}, {},
                                         {});
  }

  void loop(Value begin, Value end, Body inside, bool innermost = false) {
    auto op = scf::ForOp::create(b, loc, begin, end, body.index(1));
    if (innermost) // the name that the LLVM dialect gives the attribute
      op->setAttr("loop_annotation", vectoriseFirst());
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

  /// Fused: the inner loop, in three pieces if windows reach over edges.
  void emitRow(ArrayRef<Value> outer) {
    int64_t extent = part.nests[0].loops[schedule.outer].extent;
    Value begin = body.index(0), end = body.index(extent), zero = begin,
          last = end;
    SmallVector<Operation *> all;
    for (Nest &nest : part.nests) {
      SmallVector<Operation *> edges = edgeOperations(nest, schedule.outer);
      if (edges.empty())
        continue;
      all.append(edges);
      SmallVector<Value> at(outer);
      at.push_back(zero);
      at.resize(nest.loops.size());
      unroll(nest, outer.size() + 1, at,
             [&] { body.narrow(nest, schedule.outer, edges, at, begin, end); });
    }
    pieces(zero, begin, end, last, all, [&](Value from, Value to) {
      loop(
          from, to,
          [&](Value i) {
            SmallVector<Value> point(outer);
            point.push_back(i);
            emitPoint(point);
          },
          /*innermost=*/true);
    });
  }

  /// Calls inside(from, to) for the whole of [zero, last), or, if there are
  /// edges, for its pieces before, in and behind [begin, end), where all edges
  /// pass.
  void pieces(Value zero, Value begin, Value end, Value last,
              ArrayRef<Operation *> edges,
              llvm::function_ref<void(Value, Value)> inside) {
    if (edges.empty())
      return inside(zero, last);
    begin = arith::MinSIOp::create(b, loc, begin, last);
    end = arith::MaxSIOp::create(b, loc, end, begin);
    inside(zero, begin);
    body.passed.insert(edges.begin(), edges.end());
    inside(begin, end);
    body.passed.clear();
    inside(end, last);
  }

  /// The innermost loop of one nest, like emitRow.
  void innermostLoop(Nest &nest, unsigned number, SmallVectorImpl<Value> &at,
                     llvm::function_ref<void(Value, Value)> inside) {
    SmallVector<Operation *> edges = edgeOperations(nest, number);
    Value zero = body.index(0), last = body.index(nest.loops[number].extent),
          begin = zero, end = last;
    SmallVector<Operation *> guards = guardOperations(nest, number);
    if (guards.empty()) {
      if (!edges.empty())
        body.narrow(nest, number, edges, at, begin, end);
      pieces(zero, begin, end, last, edges, inside);
      return;
    }
    // Iterations outside the guards would change nothing.
    edges.append(guards);
    body.narrow(nest, number, guards, at, begin, end);
    body.passed.insert(edges.begin(), edges.end());
    inside(begin, end);
    body.passed.clear();
  }

  /// Calls inside() for all iterations of loops `number` and on, in order.
  void unroll(const Nest &nest, unsigned number, SmallVectorImpl<Value> &at,
              llvm::function_ref<void()> inside) {
    if (number == nest.loops.size())
      return inside();
    for (int64_t i = 0; i < nest.loops[number].extent; ++i) {
      at[number] = body.index(i);
      unroll(nest, number + 1, at, inside);
    }
  }

  /// All nests at one grid point, windows unrolled. Results are stored last, so
  /// that a nest may still read what another one overwrites.
  void emitPoint(ArrayRef<Value> point) {
    for (auto [n, nest] : llvm::enumerate(part.nests)) {
      SmallVector<Value> at(point);
      at.resize(nest.loops.size());
      SmallVector<Value> values = initials(nest, at);
      unroll(nest, point.size(), at,
             [&, &nest = nest] { values = body.iterate(nest, at, values); });
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
    auto storeAll = [&](ValueRange values) {
      for (auto [i, value] : llvm::enumerate(values))
        body.store(nest, number, i, at, value);
    };
    if (!parallelInnermost) {
      loops(nest, parallel, at, [&] {
        storeAll(reduce(nest, reductions, at, initials(nest, at)));
      });
      return;
    }
    parallel.pop_back();
    loops(nest, parallel, at, [&] {
      if (!reductions.empty())
        return accumulateRow(nest, number, reductions, *innermost, at);
      innermostLoop(nest, *innermost, at, [&](Value from, Value to) {
        loop(
            from, to,
            [&](Value i) {
              at[*innermost] = i;
              storeAll(body.iterate(nest, at, initials(nest, at)));
            },
            /*innermost=*/true);
      });
    });
  }

  /// Reduction loops around one body, values carried from one iteration to the
  /// next.
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
      innermostLoop(nest, which.front(), at, carry);
    else
      carry(body.index(0), body.index(nest.loops[which.front()].extent));
    return values;
  }

  /// Reduction loops around a parallel innermost loop, accumulating in memory.
  void accumulateRow(Nest &nest, unsigned number, ArrayRef<unsigned> reductions,
                     unsigned innermost, SmallVectorImpl<Value> &at) {
    SmallVector<Value> rows;
    for (const Output &output : nest.outputs)
      rows.push_back(
          scratch.allocate(loc, output.element, nest.loops[innermost].extent));
    auto forRow = [&](llvm::function_ref<void(Value)> inside) {
      loop(
          body.index(0), body.index(nest.loops[innermost].extent),
          [&](Value i) {
            at[innermost] = i;
            inside(i);
          },
          /*innermost=*/true);
    };
    auto storeRow = [&](ValueRange values, Value i) {
      for (auto [value, row] : llvm::zip(values, rows))
        memref::StoreOp::create(b, loc, value, row, i);
    };
    auto loadRow = [&](Value i) {
      SmallVector<Value> values;
      for (Value row : rows)
        values.push_back(memref::LoadOp::create(b, loc, row, i));
      return values;
    };
    forRow([&](Value i) { storeRow(initials(nest, at), i); });
    loops(nest, reductions, at, [&] {
      innermostLoop(nest, innermost, at, [&](Value from, Value to) {
        loop(
            from, to,
            [&](Value i) {
              at[innermost] = i;
              storeRow(body.iterate(nest, at, loadRow(i)), i);
            },
            /*innermost=*/true);
      });
    });
    forRow([&](Value i) {
      for (auto [result, value] : llvm::enumerate(loadRow(i)))
        body.store(nest, number, result, at, value);
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
