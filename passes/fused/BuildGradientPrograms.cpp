//===- BuildGradientPrograms.cpp - Accumulation and clipping programs -----===//
#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/solver/Solver.h"
#include "dialects/Target/TargetDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/ParameterOffsets.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/bit.h"

namespace brew::passes {
#define GEN_PASS_DEF_BUILDGRADIENTPROGRAMS
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// Minimal number of squares in a partial sum.
constexpr int64_t kMinChunk = 4096;

struct BuildGradientPrograms
    : brew::passes::impl::BuildGradientProgramsBase<BuildGradientPrograms> {
  using BuildGradientProgramsBase::BuildGradientProgramsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Type element;
    module.walk([&](StoreGradientOp store) {
      element =
          cast<RankedTensorType>(store.getValue().getType()).getElementType();
    });
    if (!element)
      return;
    int64_t bytes = brew::passes::ParameterOffsets(module).size;
    type = RankedTensorType::get({bytes * 8 / element.getIntOrFloatBitWidth()},
                                 element);
    if (accumulate) {
      buildAccumulate();
      buildCollect();
    }
    if (clip)
      buildClip();
  }

private:
  OpBuilder beginProgram(ProgramRole role) {
    auto b = OpBuilder::atBlockEnd(getOperation().getBody());
    auto program = ProgramOp::create(b, getOperation().getLoc(),
                                     programName(role), NetPhase::Train, role,
                                     nullptr, nullptr, nullptr, false);
    b.createBlock(&program.getBody());
    return b;
  }

  void buildAccumulate() {
    OpBuilder b = beginProgram(ProgramRole::Accumulate);
    Location loc = getOperation().getLoc();
    NestBuilder nest(b, loc, type.getShape());
    nest.input(AllGradientsOp::create(b, loc, type, true), {0});
    nest.input(AllGradientsOp::create(b, loc, type, false), {0});
    nest.output(type, {0});
    Value sums = nest.build([](NestBuilder::Body &body) -> SmallVector<Value> {
      return {body.s.add(body.in[0], body.in[1])};
    })[0];
    StoreAllGradientsOp::create(b, loc, sums, true);
  }

  void buildCollect() {
    OpBuilder b = beginProgram(ProgramRole::Collect);
    Location loc = getOperation().getLoc();
    NestBuilder nest(b, loc, type.getShape());
    nest.input(AllGradientsOp::create(b, loc, type, true), {0});
    nest.input(AllGradientsOp::create(b, loc, type, false), {0});
    nest.output(type, {0});
    nest.output(type, {0});
    auto results =
        nest.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          return {body.s.constant(type.getElementType(), 0),
                  body.s.add(body.in[0], body.in[1])};
        });
    StoreAllGradientsOp::create(b, loc, results[0], true);
    StoreAllGradientsOp::create(b, loc, results[1], false);
  }

  void buildClip() {
    OpBuilder b = beginProgram(ProgramRole::Clip);
    Location loc = getOperation().getLoc();
    Value gradients = AllGradientsOp::create(b, loc, type, false);
    int64_t count = type.getDimSize(0);
    int64_t chunk =
        std::max(kMinChunk, int64_t(llvm::divideCeil(count, maxChunks())));
    int64_t chunks = llvm::divideCeil(count, chunk);
    auto partialType = RankedTensorType::get({chunks}, type.getElementType());
    auto scalar = RankedTensorType::get({}, type.getElementType());

    NestBuilder squares(b, loc, {chunks, chunk}, {false, true});
    squares.output(partialType, {0}, 0.0);
    Value partial =
        squares.build([&](NestBuilder::Body &body) -> SmallVector<Value> {
          ScalarBuilder &s = body.s;
          Value index = s.addi(s.muli(body.loop(0), chunk), body.loop(1));
          Value value = body.read(gradients, s.clamp(index, count));
          // The last chunk may be shorter.
          Value square =
              s.select(s.less(index, s.index(count)), s.mul(value, value),
                       s.constant(type.getElementType(), 0));
          return {s.accumulate(body.out[0], square)};
        })[0];

    NestBuilder sum(b, loc, {chunks}, {true});
    sum.input(partial, {0});
    sum.output(scalar, {}, 0.0);
    Value total = sum.build([](NestBuilder::Body &body) -> SmallVector<Value> {
      return {body.s.accumulate(body.out[0], body.in[0])};
    })[0];
    OutputOp::create(b, loc, total, "sum_of_squares", APFloat(0.0f), false);
  }

  /// Returns the maximal number of partial sums: enough to occupy the device.
  int64_t maxChunks() {
    if (!brew::dialects::target::isForGpu(getOperation()))
      return 256 * brew::dialects::target::cpuOf(getOperation()).getCores();
    auto gpu = brew::dialects::target::gpuOf(getOperation());
    return llvm::bit_floor<uint64_t>(8 * gpu.getMultiprocessors());
  }

  RankedTensorType type; ///< the full gradient arena
};
} // namespace
