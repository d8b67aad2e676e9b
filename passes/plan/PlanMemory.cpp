//===- PlanMemory.cpp - Ordered steps and places in arenas ----------------===//
#include "dialects/Brew/layers/solver/Solver.h"
#include "dialects/Plan/PlanDialect.h"
#include "passes/Passes.h"
#include "passes/analysis/PrepareProgram.h"
#include "passes/plan/EmitPlan.h"
#include "passes/plan/BufferAssignment.h"

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
  /// Describes the parameters and their arenas.
  void emitParameters(OpBuilder &b,
                      const brew::passes::ParameterOffsets &places) {
    ModuleOp module = getOperation();
    bool learns = places.slots > 0;
    SmallVector<ParamOp> params(module.getOps<ParamOp>());
    SmallVector<NamedAttribute> carried;
    b.setInsertionPointToStart(module.getBody());
    for (ParamOp param : params) {
      // State that programs carry along, and what `prepare` computes, has a
      // place but no other properties.
      if (param->hasAttr(brew::passes::kPersistentAttr))
        carried.push_back(b.getNamedAttr(
            param.getSymName(),
            b.getArrayAttr({TypeAttr::get(memrefTypeOf(
                                cast<RankedTensorType>(param.getType()))),
                            b.getI64IntegerAttr(places.offsets.lookup(
                                param.getSymNameAttr()))})));
      if (param->hasAttr(brew::passes::kPersistentAttr) ||
          param->hasAttr(brew::passes::kDerivedAttr))
        continue;
      brew::dialects::plan::ParamOp::create(
          b, param.getLoc(), param.getSymName(),
          memrefTypeOf(cast<RankedTensorType>(param.getType())),
          places.offsets.lookup(param.getSymNameAttr()), param.getLayer(),
          param.getIndex(), *param.getFileDims(), param.getFillerAttr(),
          param.getLrMultAttr().getValue(), param.getDecayMultAttr().getValue(),
          param.getSharedNameAttr(), param.getSharersAttr(),
          param.getLayerType(),
          // Caffe keeps history for every learnable parameter.
          places.slots);
    }
    if (!carried.empty())
      module->setAttr(brew::passes::kPersistentAttr, b.getDictionaryAttr(carried));
    auto arena = [&](ArenaKind kind, int64_t size) {
      if (size)
        brew::dialects::plan::ArenaOp::create(b, module.getLoc(), kind, size);
    };
    arena(ArenaKind::Parameters, places.size);
    bool gradients = false;
    module.walk([&](StoreGradientOp) { gradients = true; });
    arena(ArenaKind::Gradients, gradients ? places.size : 0);
    bool sums = false;
    module.walk([&](StoreAllGradientsOp store) { sums |= store.getAccumulated(); });
    arena(ArenaKind::State,
          brew::plan::stateOffset(places.slots + sums, places.size, 0));
    arena(ArenaKind::Scalars,
          learns ? brew::plan::scalarOffset(brew::plan::kScalarCount) : 0);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    brew::passes::ParameterOffsets places(module);
    auto b = OpBuilder::atBlockBegin(module.getBody());
    emitParameters(b, places);
    b.setInsertionPointToEnd(module.getBody());
    int64_t transient = 0;
    SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
    // Kernels share the symbol table with programs.
    llvm::StringMap<int> kernelNames;
    for (ProgramOp program : programs)
      kernelNames[program.getSymName()] = 1;
    for (auto offered : module.getOps<brew::dialects::plan::KernelOp>())
      kernelNames[offered.getSymName()] = 1;
    brew::passes::FixedBuffers fixed(places);
    for (ProgramOp program : programs) {
      brew::passes::BufferAssignment roots(program, fixed);
      StringAttr name = program.getSymNameAttr();
      // Two symbols of one name do not verify; the old one goes first.
      program.setSymName((name.getValue() + ".source").str());
      auto plan = brew::passes::emitPlan(program, roots, b, kernelNames);
      if (failed(plan))
        return signalPassFailure();
      plan->setSymName(name.getValue());
      transient = std::max(transient, roots.arenaBytes);
      program.erase();
    }
    for (ParamOp param : llvm::make_early_inc_range(module.getOps<ParamOp>()))
      param.erase();
    b.setInsertionPointToStart(module.getBody());
    if (transient)
      brew::dialects::plan::ArenaOp::create(b, module.getLoc(),
                                            ArenaKind::Transient, transient);
  }
};

} // namespace
