//===- VerifyPlan.cpp - Proves that no live bytes are overwritten ----------===//
#include "dialects/Brew/layers/Shape.h"
#include "dialects/Plan/PlanDialect.h"
#include "passes/MemoryPlanner.h"
#include "passes/PlanParts.h"
#include "passes/Passes.h"

namespace brew {
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::planir;
using brew::extentOf;
using brew::overlap;

namespace {

/// Replays one program.
class Replay {
public:
  Replay(ProgramOp program, SymbolTable &symbols)
      : program(program), symbols(symbols) {}

  LogicalResult run() {
    for (Operation &op : program.getBody().front())
      if (failed(visit(&op)))
        return failure();
    return success();
  }

private:
  LogicalResult checkBounds(BufferOp buffer) {
    auto arena = symbols.lookup<ArenaOp>(buffer.getArena());
    if (!arena)
      return buffer.emitError("arena does not exist");
    int64_t extent = extentOf(cast<MemRefType>(buffer.getType()));
    int64_t offset = buffer.getOffset();
    if (extent < 0 || offset < 0 ||
        offset + extent > static_cast<int64_t>(arena.getSize()))
      return buffer.emitError("buffer reaches beyond its arena");
    // A part starts at any element of an aligned whole.
    int64_t alignment = brew::kBufferAlignment;
    if (buffer->hasAttr(brew::kWholeAttr))
      alignment = extentOf(MemRefType::get(
          {}, cast<MemRefType>(buffer.getType()).getElementType()));
    if (offset % alignment)
      return buffer.emitError("buffer is not aligned");
    // What outlives programs has a value from the start.
    if (arena.getKind() != ArenaKind::Transient)
      written.push_back(buffer);
    return success();
  }

  /// Two names for the same bytes: a view and what it views.
  static bool sameBytes(BufferOp x, BufferOp y) {
    return x.getArena() == y.getArena() && x.getOffset() == y.getOffset() &&
           x.getName() == y.getName() &&
           x->getAttr(brew::kWholeAttr) == y->getAttr(brew::kWholeAttr);
  }
  LogicalResult read(Operation *step, Value value) {
    auto buffer = value.getDefiningOp<BufferOp>();
    // What is written does not overlap, save for views of the same bytes; so a
    // whole has its value when its parts together have all its elements.
    int64_t found = 0;
    for (BufferOp other : written) {
      if (other == buffer || sameBytes(other, buffer))
        return success();
      found += brew::commonElements(buffer, other).value_or(0);
    }
    if (found >= cast<MemRefType>(buffer.getType()).getNumElements())
      return success();
    auto diagnostic = step->emitError("reads buffer '")
                      << buffer.getName() << "', which holds no value here";
    diagnostic.attachNote(buffer.getLoc()) << "the buffer";
    return diagnostic;
  }

  LogicalResult write(Operation *step, Value value) {
    auto buffer = value.getDefiningOp<BufferOp>();
    llvm::erase_if(written, [&](BufferOp other) {
      return other != buffer && !sameBytes(other, buffer) &&
             overlap(other, buffer);
    });
    for (BufferOp pinned : kept)
      if (pinned != buffer && !sameBytes(pinned, buffer) &&
          overlap(pinned, buffer))
        return step->emitError("overwrites pinned buffer '")
               << pinned.getName() << "'";
    if (!llvm::is_contained(written, buffer))
      written.push_back(buffer);
    if (buffer.getPinned())
      kept.push_back(buffer);
    return success();
  }

  LogicalResult step(Operation *op, ArrayRef<Value> reads,
                     ArrayRef<Value> writes) {
    for (Value value : reads)
      if (value && failed(read(op, value)))
        return failure();
    for (Value value : writes)
      if (value && failed(write(op, value)))
        return failure();
    return success();
  }

  /// A step that reads its inputs while it writes: nothing it writes shares a
  /// byte with another argument.
  LogicalResult stepApart(Operation *op, ArrayRef<Value> reads,
                          ArrayRef<Value> writes) {
    for (auto [i, written] : llvm::enumerate(writes)) {
      if (!written)
        continue;
      auto out = written.getDefiningOp<BufferOp>();
      auto apart = [&](Value value) -> LogicalResult {
        if (!value || !overlap(out, value.getDefiningOp<BufferOp>()))
          return success();
        return op->emitError("writes buffer '")
               << out.getName() << "', which overlaps its argument '"
               << value.getDefiningOp<BufferOp>().getName() << "'";
      };
      for (Value value : reads)
        if (failed(apart(value)))
          return failure();
      for (Value value : writes.drop_front(i + 1))
        if (failed(apart(value)))
          return failure();
    }
    return step(op, reads, writes);
  }

  LogicalResult visit(Operation *op) {
    if (auto buffer = dyn_cast<BufferOp>(op))
      return checkBounds(buffer);
    if (auto feed = dyn_cast<FeedOp>(op))
      return step(op, {}, SmallVector<Value>(feed.getBuffers()));
    if (auto launch = dyn_cast<LaunchOp>(op))
      return visitLaunch(launch);
    if (auto copy = dyn_cast<CopyOp>(op))
      return stepApart(op, {copy.getSource()}, {copy.getTarget()});
    if (auto conv = dyn_cast<ConvolutionOp>(op))
      return visitCall(conv);
    if (auto ip = dyn_cast<InnerProductOp>(op))
      return visitCall(ip);
    // Sinks read what must still be there at the end.
    for (Value operand : op->getOperands())
      if (failed(read(op, operand)))
        return failure();
    return success();
  }

  static LogicalResult checkAligned(Operation *step, Value value) {
    auto buffer = value.getDefiningOp<BufferOp>();
    if (buffer.getOffset() % brew::kBufferAlignment == 0)
      return success();
    return step->emitError("needs buffer '")
           << buffer.getName() << "' aligned, which is a part of another";
  }

  template <typename Call> LogicalResult visitCall(Call call) {
    for (Value value : call->getOperands())
      if (failed(checkAligned(call, value)))
        return failure();
    switch (call.getDirection()) {
    case Direction::Forward:
      return stepApart(call, {call.getX(), call.getW(), call.getB()},
                       {call.getY()});
    case Direction::BackwardData:
      return stepApart(call, {call.getY(), call.getW()}, {call.getX()});
    case Direction::BackwardWeights:
      return stepApart(call, {call.getX(), call.getY()},
                       {call.getW(), call.getB()});
    }
    return failure();
  }

  LogicalResult visitLaunch(LaunchOp launch) {
    auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
    if (!kernel)
      return launch.emitError("kernel does not exist");
    unsigned inputs = kernel.getBody().front().getNumArguments();
    ArrayRef<int64_t> inPlace = kernel.getInPlace();
    OperandRange buffers = launch.getBuffers();
    if (buffers.size() != inputs + inPlace.size())
      return launch.emitError("passes ")
             << buffers.size() << " buffers to a kernel of "
             << inputs + inPlace.size();
    // Kernels count on aligned buffers, save for parts.
    for (auto [i, value] : llvm::enumerate(buffers)) {
      Block &body = kernel.getBody().front();
      Type type = i < inputs
                      ? body.getArgument(i).getType()
                      : body.getTerminator()->getOperand(i - inputs).getType();
      auto tensor = dyn_cast<RankedTensorType>(type);
      bool isPart = tensor && brew::ir::isPart(tensor);
      if (!isPart && failed(checkAligned(launch, value)))
        return failure();
    }
    // What a launch writes overlaps none of its other arguments, save the
    // input it declares to overwrite, which it covers exactly.
    for (auto [i, shared] : llvm::enumerate(inPlace)) {
      auto out = buffers[inputs + i].getDefiningOp<BufferOp>();
      for (auto [j, value] : llvm::enumerate(buffers)) {
        auto other = value.getDefiningOp<BufferOp>();
        if (j == inputs + i || !overlap(out, other))
          continue;
        bool declared = static_cast<int64_t>(j) == shared &&
                        out.getOffset() == other.getOffset() &&
                        out.getType() == other.getType();
        if (!declared)
          return launch.emitError("writes buffer '")
                 << out.getName() << "', which overlaps its argument '"
                 << other.getName() << "'";
      }
    }
    return step(launch, SmallVector<Value>(buffers.take_front(inputs)),
                SmallVector<Value>(buffers.drop_front(inputs)));
  }

  ProgramOp program;
  SymbolTable &symbols;
  SmallVector<BufferOp> written;
  SmallVector<BufferOp> kept;
};

struct VerifyPlan : brew::impl::VerifyPlanBase<VerifyPlan> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(Replay(program, symbols).run()))
        return signalPassFailure();
  }
};

} // namespace
