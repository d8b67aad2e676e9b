//===- PlanMemory.cpp - Memory assignment and plan emission ---------------===//
#include "dialects/Brew/layers/solver/Solver.h"
#include "dialects/Plan/PlanDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/KnownShapes.h"
#include "passes/analysis/LayerPrograms.h"
#include "passes/analysis/PrepareProgram.h"
#include "passes/plan/BufferAssignment.h"
#include "passes/plan/EmitPlan.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::ArenaKind;

namespace {

struct PlanMemory : brew::passes::impl::PlanMemoryBase<PlanMemory> {
  /// Emits the parameters and the arenas.
  void emitParametersAndArenas(OpBuilder &b,
                               const brew::passes::ParameterOffsets &offsets) {
    ModuleOp module = getOperation();
    bool isTrained = offsets.slots > 0;
    SmallVector<ParamOp> params(module.getOps<ParamOp>());
    SmallVector<NamedAttribute> persistent;
    b.setInsertionPointToStart(module.getBody());
    for (ParamOp param : params) {
      // Persistent state and parameters that `prepare` computes have an offset
      // but no other properties.
      if (param->hasAttr(brew::passes::kPersistentAttr))
        persistent.push_back(b.getNamedAttr(
            param.getSymName(),
            b.getArrayAttr({TypeAttr::get(memrefTypeOf(
                                cast<RankedTensorType>(param.getType()))),
                            b.getI64IntegerAttr(offsets.bySymbol.lookup(
                                param.getSymNameAttr()))})));
      if (param->hasAttr(brew::passes::kPersistentAttr) ||
          param->hasAttr(brew::passes::kDerivedAttr))
        continue;
      brew::dialects::plan::ParamOp::create(
          b, param.getLoc(), param.getSymName(),
          memrefTypeOf(cast<RankedTensorType>(param.getType())),
          offsets.bySymbol.lookup(param.getSymNameAttr()), param.getLayer(),
          param.getIndex(), *param.getFileDims(), param.getFillerAttr(),
          param.getLrMultAttr().getValue(), param.getDecayMultAttr().getValue(),
          param.getSharedNameAttr(), param.getSharersAttr(),
          param.getLayerType(),
          // Caffe allocates history for every learnable parameter.
          offsets.slots, param.getAnyFileShape());
    }
    if (!persistent.empty())
      module->setAttr(brew::passes::kPersistentAttr,
                      b.getDictionaryAttr(persistent));
    emitArena(b, ArenaKind::Parameters, offsets.size);
    bool hasGradients = false;
    module.walk([&](StoreGradientOp) { hasGradients = true; });
    emitArena(b, ArenaKind::Gradients, hasGradients ? offsets.size : 0);
    bool hasGradientSums = false;
    module.walk([&](StoreAllGradientsOp store) {
      hasGradientSums |= store.getAccumulated();
    });
    emitArena(b, ArenaKind::State,
              brew::plan::stateOffset(offsets.slots + hasGradientSums,
                                      offsets.size, 0));
    emitArena(b, ArenaKind::Scalars,
              isTrained ? brew::plan::scalarOffset(brew::plan::kScalarCount)
                        : 0);
  }

  void emitConstants(OpBuilder &b,
                     const brew::passes::ConstantOffsets &constants) {
    emitArena(b, ArenaKind::Constants, constants.size);
    for (auto [value, offset] : constants.byValue)
      brew::dialects::plan::ConstantOp::create(b, getOperation().getLoc(),
                                               offset, value);
  }

  /// Emits an arena, unless it is empty.
  void emitArena(OpBuilder &b, ArenaKind kind, int64_t size) {
    if (size)
      brew::dialects::plan::ArenaOp::create(b, getOperation().getLoc(), kind,
                                            size);
  }

  void runOnOperation() override {
    if (failed(brew::passes::requireShapes(getOperation())))
      return signalPassFailure();
    ModuleOp module = getOperation();
    brew::passes::ParameterOffsets offsets(module);
    auto b = OpBuilder::atBlockBegin(module.getBody());
    const brew::passes::ConstantOffsets constants(module);
    emitParametersAndArenas(b, offsets);
    emitConstants(b, constants);
    b.setInsertionPointToEnd(module.getBody());
    int64_t transientBytes = 0;
    SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
    // Kernels and programs share the symbol table.
    llvm::StringMap<int> symbolUses;
    for (ProgramOp program : programs)
      symbolUses[program.getSymName()] = 1;
    for (auto generatedKernel : module.getOps<brew::dialects::plan::KernelOp>())
      symbolUses[generatedKernel.getSymName()] = 1;
    brew::passes::FixedBuffers fixedBuffers(offsets, constants);
    for (ProgramOp program : programs) {
      brew::passes::BufferAssignment assignment(program, fixedBuffers);
      if (brew::passes::isLayerProgram(program)) {
        assignment.moveInArena(transientBytes);
        transientBytes += assignment.arenaBytes;
      } else {
        transientBytes = std::max(transientBytes, assignment.arenaBytes);
      }
      StringAttr name = program.getSymNameAttr();
      // Rename the old program: symbol names must be unique.
      program.setSymName((name.getValue() + ".source").str());
      auto plan = brew::passes::emitPlan(program, assignment, b, symbolUses);
      if (failed(plan))
        return signalPassFailure();
      plan->setSymName(name.getValue());
      program.erase();
    }
    for (ParamOp param : llvm::make_early_inc_range(module.getOps<ParamOp>()))
      param.erase();
    b.setInsertionPointToStart(module.getBody());
    emitArena(b, ArenaKind::Transient, transientBytes);
  }
};

} // namespace
