//===- BuildUpdate.cpp - The solver's update program -----------------------===//
#include "dialects/Brew/layers/Solver.h"
#include "passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace brew {
#define GEN_PASS_DEF_BUILDUPDATE
#include "passes/Passes.h.inc"
} // namespace brew

using namespace mlir;
using namespace brew::ir;

namespace {
struct BuildUpdate : brew::impl::BuildUpdateBase<BuildUpdate> {
  using BuildUpdateBase::BuildUpdateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (solverType != "SGD") {
      module.emitError() << "solver type '" << solverType
                         << "' is not supported yet (SGD is)";
      return signalPassFailure();
    }
    auto kind = symbolizeRegularization(regularization);
    if (!kind) {
      module.emitError() << "unknown regularization_type '" << regularization
                         << "' (L1 and L2 are known)";
      return signalPassFailure();
    }
    llvm::SetVector<StringAttr> stored;
    module.walk([&](StoreGradientOp store) {
      stored.insert(store.getParamAttr().getAttr());
    });

    auto b = OpBuilder::atBlockEnd(module.getBody());
    auto program = ProgramOp::create(b, module.getLoc(), "update", Phase::Train,
                                     nullptr, nullptr, nullptr, false);
    b.createBlock(&program.getBody());
    SymbolTable symbols(module);
    llvm::DenseMap<SolverScalar, Value> scalars;
    auto scalar = [&](SolverScalar which, Type element) {
      Value &value = scalars[which];
      if (!value)
        value = SolverScalarOp::create(b, module.getLoc(),
                                       RankedTensorType::get({}, element), which);
      return value;
    };
    for (StringAttr name : stored) {
      auto param = symbols.lookup<ParamOp>(name);
      auto type = cast<RankedTensorType>(param.getType());
      Type element = type.getElementType();
      Location loc = param.getLoc();
      auto symbol = FlatSymbolRefAttr::get(name);
      Value rate = scalar(SolverScalar::LearningRate, element),
            momentum = scalar(SolverScalar::Momentum, element),
            decay = scalar(SolverScalar::WeightDecay, element),
            scale = scalar(SolverScalar::GradientScale, element);
      Value w = ParamValueOp::create(b, loc, type, symbol),
            gradient = ParamGradientOp::create(b, loc, type, symbol),
            history = ParamStateOp::create(b, loc, type, symbol, b.getI64IntegerAttr(0));
      auto update = SGDUpdateOp::create(
          b, loc, type, type, w, gradient, history, rate, momentum, decay,
          scale, param.getLrMult(), param.getDecayMult(), *kind);
      StoreParamOp::create(b, loc, update.getNewW(), symbol);
      StoreStateOp::create(b, loc, update.getNewHistory(), symbol, b.getI64IntegerAttr(0));
    }
  }
};
} // namespace
