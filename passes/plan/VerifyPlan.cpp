//===- VerifyPlan.cpp - Verifier of memory accesses in plans --------------===//
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/MemoryPlanner.h"
#include "passes/plan/BufferIndex.h"
#include "passes/plan/PlanSubviews.h"

#include <map>

namespace brew::passes {
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects::plan;
using brew::passes::BufferIndex;
using brew::passes::extentOf;
using brew::passes::overlap;

namespace {

using Arenas = std::map<ArenaKind, ArenaOp>;

/// Replays the steps of one program and tracks which buffers contain a value.
class Replay {
public:
  Replay(ProgramOp program, const Arenas &arenas,
         SymbolTableCollection &symbols)
      : program(program), arenas(arenas), symbols(symbols) {}

  LogicalResult run() {
    for (auto buffer : program.getBody().front().getOps<BufferOp>())
      if (failed(addBuffer(buffer)))
        return failure();
    // The caller may write output gradients before the first step.
    for (auto gradient : program.getBody().front().getOps<OutputGradientOp>())
      if (failed(write(gradient, gradient.getBuffer())))
        return failure();
    for (Operation &op : program.getBody().front())
      if (failed(trackAllReduces(&op)) || failed(visit(&op)))
        return failure();
    for (auto &[bucket, start] : inFlight)
      return start.emitError("nothing waits for bucket ") << bucket;
    return success();
  }

private:
  /// Tracks the all-reduces in flight. Reports an error if an operation
  /// accesses the buffers of an all-reduce between its start and its wait.
  LogicalResult trackAllReduces(Operation *op) {
    if (isa<BufferOp>(op))
      return success();
    auto wait = dyn_cast<AllReduceWaitOp>(op);
    if (wait) {
      auto found = inFlight.find(wait.getBucket());
      if (found == inFlight.end())
        return op->emitError("waits for bucket ")
               << wait.getBucket() << ", which was not started";
      if (!llvm::equal(wait.getTargets(), found->second.getTargets(),
                       [](Value x, Value y) {
                         auto a = x.getDefiningOp<BufferOp>();
                         auto b = y.getDefiningOp<BufferOp>();
                         return haveSameAddress(a, b) &&
                                a.getType() == b.getType();
                       }))
        return op->emitError("waits for other buffers than bucket ")
               << wait.getBucket() << " has";
      inFlight.erase(found);
    }
    for (auto &[bucket, start] : inFlight)
      for (Value target : start.getTargets())
        for (Value operand : op->getOperands()) {
          auto buffer = operand.getDefiningOp<BufferOp>();
          if (buffer && overlap(buffer, target.getDefiningOp<BufferOp>()))
            return op->emitError("accesses buffer '")
                   << buffer.getName() << "' while bucket " << bucket
                   << " is in flight";
        }
    if (auto start = dyn_cast<AllReduceStartOp>(op))
      if (!inFlight.try_emplace(start.getBucket(), start).second)
        return op->emitError("starts bucket ")
               << start.getBucket() << ", which is in flight";
    return success();
  }

  /// Checks the range and the alignment of a buffer, and marks it as written if
  /// its value outlives programs.
  LogicalResult addBuffer(BufferOp buffer) {
    auto found = arenas.find(buffer.getArena());
    if (found == arenas.end())
      return buffer.emitError("arena does not exist");
    ArenaOp arena = found->second;
    int64_t extent = extentOf(cast<MemRefType>(buffer.getType()));
    int64_t offset = buffer.getOffset();
    if (extent < 0 || offset < 0 ||
        offset + extent > static_cast<int64_t>(arena.getSize()))
      return buffer.emitError("buffer reaches beyond its arena");
    // A subview may start at any element of an aligned base.
    int64_t alignment = brew::passes::kBufferAlignment;
    if (buffer->hasAttr(brew::passes::kBaseAttr))
      alignment = extentOf(MemRefType::get(
          {}, cast<MemRefType>(buffer.getType()).getElementType()));
    if (offset % alignment)
      return buffer.emitError("buffer is not aligned");
    // Buffers that outlive programs contain a value from the start.
    if (isPersistent(buffer))
      written.insert(buffer);
    return success();
  }

  /// Returns whether a buffer's value outlives the run. Values of a single run
  /// may use the same arenas.
  static bool isPersistent(BufferOp buffer) {
    return buffer.getArena() != ArenaKind::Transient && !buffer.getLive();
  }

  /// Returns whether two buffers denote the same bytes, possibly as different
  /// views.
  static bool haveSameAddress(BufferOp x, BufferOp y) {
    return x.getArena() == y.getArena() && x.getOffset() == y.getOffset() &&
           x->getAttr(brew::passes::kBaseAttr) ==
               y->getAttr(brew::passes::kBaseAttr);
  }
  static bool haveSameBytes(BufferOp x, BufferOp y) {
    return haveSameAddress(x, y) && x.getName() == y.getName();
  }

  LogicalResult read(Operation *step, Value value) {
    auto buffer = value.getDefiningOp<BufferOp>();
    // Written buffers do not overlap except for views of the same bytes. So a
    // base buffer is complete if its subviews together have all its elements.
    int64_t elements = 0;
    for (BufferOp other : written.buffersNear(buffer)) {
      if (other == buffer || haveSameBytes(other, buffer))
        return success();
      elements += brew::passes::commonElements(buffer, other).value_or(0);
    }
    if (elements >= cast<MemRefType>(buffer.getType()).getNumElements())
      return success();
    auto diagnostic = step->emitError("reads buffer '")
                      << buffer.getName() << "', which contains no value here";
    diagnostic.attachNote(buffer.getLoc()) << "the buffer";
    return diagnostic;
  }

  LogicalResult write(Operation *step, Value value) {
    auto buffer = value.getDefiningOp<BufferOp>();
    auto isOverwritten = [&](BufferOp other) {
      return other != buffer && !haveSameBytes(other, buffer) &&
             overlap(other, buffer);
    };
    for (BufferOp other : written.buffersNear(buffer))
      if (isOverwritten(other))
        written.erase(other);
    BufferOp overwritten;
    for (BufferOp other : pinned.buffersNear(buffer))
      if (isOverwritten(other) &&
          (!overwritten || other->isBeforeInBlock(overwritten)))
        overwritten = other;
    if (overwritten)
      return step->emitError("overwrites pinned buffer '")
             << overwritten.getName() << "'";
    written.insert(buffer);
    if (isPersistent(buffer)) {
      stored.insert(buffer);
    } else if (buffer.getArena() != ArenaKind::Transient) {
      for (BufferOp result : stored.buffersNear(buffer))
        if (overlap(result, buffer))
          return step->emitError("overwrites buffer '")
                 << result.getName() << "', which the run has stored";
    }
    if (buffer.getPinned())
      pinned.insert(buffer);
    return success();
  }

  /// Checks that a step declares an effect for every operand. An operand
  /// without an effect could not be verified.
  static LogicalResult
  checkDeclared(StepInterface step,
                ArrayRef<MemoryEffects::EffectInstance> effects) {
    for (OpOperand &operand : step->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()) &&
          llvm::none_of(effects, [&](const auto &effect) {
            return effect.template getEffectValue<OpOperand *>() == &operand;
          }))
        return step.emitError(
                   "does not declare whether it reads or writes operand ")
               << operand.getOperandNumber();
    return success();
  }

  /// Returns the alignment that a step requires. Convolutions accept slices of
  /// concatenated blobs whose pixels are aligned for the widest access.
  static int64_t alignmentOf(StepInterface step, BufferOp buffer) {
    auto call = dyn_cast<ConvolutionOp>(step.getOperation());
    return call && buffer->hasAttr(brew::passes::kBaseAttr) &&
                   (buffer == call.getX().getDefiningOp() ||
                    buffer == call.getY().getDefiningOp())
               ? static_cast<int64_t>(brew::plan::kKernelAccessBytes)
               : brew::passes::kBufferAlignment;
  }

  LogicalResult checkAligned(StepInterface step) {
    llvm::BitVector aligned = step.alignedOperands(symbols);
    for (auto [i, value] : llvm::enumerate(step->getOperands())) {
      auto buffer = value.getDefiningOp<BufferOp>();
      if (aligned[i] && buffer.getOffset() % alignmentOf(step, buffer))
        return step.emitError("needs buffer '")
               << buffer.getName()
               << "' aligned, which is a subview of another";
    }
    return success();
  }

  /// Checks that written buffers overlap no other operand, because a step reads
  /// while it writes. Exception: an operand of exactly the same bytes and type,
  /// if the step declares that it can overwrite this operand.
  LogicalResult checkNoOverlap(StepInterface step,
                               ArrayRef<OpOperand *> writes) {
    BufferIndex index;
    // Use an index: a kernel of many sub-kernels has thousands of operands.
    llvm::DenseMap<Operation *, SmallVector<OpOperand *, 2>> operandsOf;
    for (OpOperand &operand : step->getOpOperands()) {
      auto buffer = operand.get().getDefiningOp<BufferOp>();
      index.insert(buffer);
      operandsOf[buffer].push_back(&operand);
    }
    for (OpOperand *written : writes) {
      SmallVector<OpOperand *> others;
      for (BufferOp nearBuffer :
           index.buffersNear(written->get().getDefiningOp<BufferOp>()))
        llvm::append_range(others, operandsOf[nearBuffer]);
      llvm::sort(others, [](OpOperand *a, OpOperand *b) {
        return a->getOperandNumber() < b->getOperandNumber();
      });
      for (OpOperand *other : others)
        if (failed(checkNoOverlap(step, *written, *other)))
          return failure();
    }
    return success();
  }

  LogicalResult checkNoOverlap(StepInterface step, OpOperand &written,
                               OpOperand &operand) {
    auto out = written.get().getDefiningOp<BufferOp>();
    auto other = operand.get().getDefiningOp<BufferOp>();
    if (&operand == &written || !overlap(out, other))
      return success();
    if (out.getOffset() == other.getOffset() &&
        out.getType() == other.getType() &&
        step.canOverwriteOperand(written.getOperandNumber(),
                                 operand.getOperandNumber(), symbols))
      return success();
    return step.emitError("writes buffer '")
           << out.getName() << "', which overlaps its argument '"
           << other.getName() << "'";
  }

  /// Returns whether the bytes of `buffer`, in all iterations, are bytes of
  /// `full`.
  static bool isWithin(BufferOp buffer, int64_t stride, int64_t iterations,
                       BufferOp full) {
    const int64_t offset = buffer.getOffset(),
                  last = offset + stride * (iterations - 1),
                  begin = full.getOffset();
    return buffer.getArena() == full.getArena() &&
           std::min(offset, last) >= begin &&
           std::max(offset, last) +
                   extentOf(cast<MemRefType>(buffer.getType())) <=
               begin + extentOf(cast<MemRefType>(full.getType()));
  }

  /// Checks the steps of a loop: they access only buffers of the loop.
  LogicalResult checkBody(LoopOp loop) {
    for (Operation &op : loop.getBody().front()) {
      auto step = dyn_cast<StepInterface>(op);
      if (!isa<LaunchOp, ConvolutionOp, InnerProductOp>(op))
        return op.emitError("phase plan: this step is not allowed in a loop");
      SmallVector<MemoryEffects::EffectInstance> effects;
      step.addEffects(symbols, effects);
      SmallVector<OpOperand *> writes;
      llvm::BitVector isWritten(op.getNumOperands());
      for (MemoryEffects::EffectInstance &effect : effects)
        if (auto *operand = effect.getEffectValue<OpOperand *>();
            operand && isa<MemoryEffects::Write>(effect.getEffect())) {
          writes.push_back(operand);
          isWritten.set(operand->getOperandNumber());
        }
      if (failed(checkDeclared(step, effects)) || failed(checkAligned(step)) ||
          failed(checkNoOverlap(step, writes)))
        return failure();
      auto launch = dyn_cast<LaunchOp>(op);
      for (OpOperand &operand : op.getOpOperands()) {
        auto buffer = operand.get().getDefiningOp<BufferOp>();
        const unsigned number = operand.getOperandNumber();
        const int64_t stride =
            launch && launch.getStrides() ? (*launch.getStrides())[number] : 0;
        auto contains = [&](Value full) {
          return isWithin(buffer, stride, loop.getIterations(),
                          full.getDefiningOp<BufferOp>());
        };
        if (llvm::none_of(loop.getWrites(), contains) &&
            llvm::none_of(loop.getCarried(), contains) &&
            (isWritten[number] || llvm::none_of(loop.getReads(), contains)))
          return op.emitError("accesses buffer '")
                 << buffer.getName() << "' beyond the buffers of its loop";
      }
    }
    return success();
  }

  LogicalResult visit(Operation *op) {
    if (isa<BufferOp>(op))
      return success();
    if (auto gradient = dyn_cast<OutputGradientOp>(op))
      return visitOutputGradient(gradient);
    auto effectOp = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effectOp)
      return op->emitError("phase plan: this operation does not declare what "
                           "it reads and writes");
    SmallVector<MemoryEffects::EffectInstance> effects;
    auto step = dyn_cast<StepInterface>(op);
    if (step)
      step.addEffects(symbols, effects);
    else
      effectOp.getEffects(effects);
    SmallVector<OpOperand *> writes;
    for (MemoryEffects::EffectInstance &effect : effects)
      if (auto *operand = effect.getEffectValue<OpOperand *>();
          operand && isa<MemoryEffects::Write>(effect.getEffect()))
        writes.push_back(operand);
    if (step)
      if (failed(checkDeclared(step, effects)) || failed(checkAligned(step)) ||
          failed(checkNoOverlap(step, writes)))
        return failure();
    if (auto loop = dyn_cast<LoopOp>(op); loop && failed(checkBody(loop)))
      return failure();
    for (MemoryEffects::EffectInstance &effect : effects)
      if (auto *operand = effect.getEffectValue<OpOperand *>();
          operand && isa<MemoryEffects::Read>(effect.getEffect()) &&
          failed(read(op, operand->get())))
        return failure();
    for (OpOperand *operand : writes)
      if (failed(write(op, operand->get())))
        return failure();
    return success();
  }

  /// Checks that the forward pass did not overwrite the output gradient, and
  /// that outputs and pinned blobs are readable at this point.
  LogicalResult visitOutputGradient(OutputGradientOp gradient) {
    if (failed(read(gradient, gradient.getBuffer())))
      return failure();
    for (Operation &op : program.getBody().front()) {
      auto pin = dyn_cast<PinOp>(op);
      if (isa<OutputOp>(op) || (pin && pin.getKind() == BlobValue::Data))
        if (failed(read(gradient, op.getOperand(0))))
          return failure();
    }
    return success();
  }

  ProgramOp program;
  const Arenas &arenas;
  SymbolTableCollection &symbols;
  BufferIndex written;
  BufferIndex pinned;
  BufferIndex stored; ///< buffers that outlive the run and were written by it
  std::map<int64_t, AllReduceStartOp> inFlight; ///< by bucket
};

struct VerifyPlan : brew::passes::impl::VerifyPlanBase<VerifyPlan> {
  /// Checks that a generated kernel has the layouts of the call's buffers.
  static LogicalResult checkGenerated(ConvolutionOp call,
                                      SymbolTableCollection &symbols) {
    if (!call.getGenerated())
      return success();
    auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(
        call, call.getGenerated()->getKernel());
    Block &body = kernel.getBody().front();
    SmallVector<Type> types(body.getArgumentTypes());
    llvm::append_range(types, body.getTerminator()->getOperandTypes());
    for (auto [buffer, type] : llvm::zip_equal(call.generatedBuffers(), types))
      if (buffer.getType() !=
          brew::dialects::memrefTypeOf(cast<RankedTensorType>(type)))
        return call.emitError("the generated kernel reads or writes ")
               << type << " where the call has " << buffer.getType();
    return success();
  }

  void runOnOperation() override {
    Arenas arenas;
    for (auto arena : getOperation().getOps<ArenaOp>())
      if (!arenas.try_emplace(arena.getKind(), arena).second) {
        arena.emitError("duplicate arena '")
            << stringifyArenaKind(arena.getKind()) << "'";
        return signalPassFailure();
      }
    SymbolTableCollection symbols;
    WalkResult result = getOperation().walk([&](ConvolutionOp call) {
      return failed(checkGenerated(call, symbols)) ? WalkResult::interrupt()
                                                   : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(Replay(program, arenas, symbols).run()))
        return signalPassFailure();
  }
};

} // namespace
