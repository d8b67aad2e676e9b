//===- BuildUpdate.cpp - The solver's update program ----------------------===//
#include "dialects/Brew/layers/solver/Solver.h"
#include "passes/Passes.h"
#include "passes/graph/LossScale.h"
#include "plan/Contract.h"

#include "mlir/IR/Builders.h"

namespace brew::passes {
#define GEN_PASS_DEF_BUILDUPDATE
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;

namespace {

/// The update operation of a solver type, its state slots and its scalar
/// operands.
struct UpdateRule {
  StringRef operation;
  unsigned states;
  ArrayRef<SolverScalar> scalars;
};

template <typename... Ops> ArrayRef<UpdateRule> rulesOf() {
  static const UpdateRule rules[] = {
      {Ops::getOperationName(), Ops::stateCount, Ops::scalarOperands()}...};
  static_assert(sizeof...(Ops) == brew::plan::kSolverTypeCount,
                "each type of solver has its rule");
  return rules;
}

/// Returns the rules in the order of plan::kSolverTypes.
ArrayRef<UpdateRule> allRules() {
  return rulesOf<SGDUpdateOp, NesterovUpdateOp, AdaGradUpdateOp,
                 RMSPropUpdateOp, AdaDeltaUpdateOp, AdamUpdateOp>();
}

struct BuildUpdate : brew::passes::impl::BuildUpdateBase<BuildUpdate> {
  using BuildUpdateBase::BuildUpdateBase;

  /// Number of non-finite gradients; null without loss scaling.
  Value nonFinite;

  const UpdateRule *findRule() {
    std::string knownTypes;
    for (auto [type, rule] :
         llvm::zip_equal(brew::plan::kSolverTypes, allRules())) {
      if (type == StringRef(solverType))
        return &rule;
      knownTypes += (knownTypes.empty() ? "" : ", ") + std::string(type);
    }
    getOperation().emitError() << "unknown solver type '" << solverType
                               << "' (known: " << knownTypes << ")";
    return nullptr;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const UpdateRule *rule = findRule();
    if (!rule)
      return signalPassFailure();
    auto kind = symbolizeRegularization(regularization);
    if (!kind) {
      module.emitError() << "unknown regularization_type '" << regularization
                         << "' (L1 and L2 are known)";
      return signalPassFailure();
    }
    std::optional<LocalRate> localKind;
    if (!localRate.empty()) {
      localKind = symbolizeLocalRate(localRate);
      if (!localKind || rule->operation != SGDUpdateOp::getOperationName()) {
        module.emitError() << "unknown local rate '" << localRate
                           << "' of solver type '" << solverType
                           << "' (SGD has lars, larc_scale and larc_clip)";
        return signalPassFailure();
      }
    }
    llvm::SetVector<StringAttr> stored;
    module.walk([&](StoreGradientOp store) {
      stored.insert(store.getParamAttr().getAttr());
    });

    auto b = OpBuilder::atBlockEnd(module.getBody());
    auto program = ProgramOp::create(
        b, module.getLoc(), programName(ProgramRole::Update), NetPhase::Train,
        ProgramRole::Update, nullptr, nullptr, nullptr, false);
    b.createBlock(&program.getBody());
    SymbolTable symbols(module);
    llvm::DenseMap<SolverScalar, Value> scalars;
    if (lossScale != 0) {
      for (auto trainingProgram : module.getOps<ProgramOp>())
        brew::passes::countNonFiniteGradients(trainingProgram);
      nonFinite = brew::passes::buildNonFiniteCount(b, module.getLoc());
    }
    for (StringAttr name : stored)
      updateParameter(b, symbols.lookup<ParamOp>(name), *rule, *kind, localKind,
                      scalars);
    if (lossScale != 0)
      brew::passes::buildScaleUpdate(b, module.getLoc(), lossScale,
                                     lossScaleWindow);
  }

  void updateParameter(OpBuilder &b, ParamOp param, const UpdateRule &rule,
                       Regularization kind, std::optional<LocalRate> localKind,
                       llvm::DenseMap<SolverScalar, Value> &scalars) {
    auto type = cast<RankedTensorType>(param.getType());
    Location loc = param.getLoc();
    auto symbol = FlatSymbolRefAttr::get(param.getSymNameAttr());
    OperationState update(loc, rule.operation);
    // All parameters share the scalars: each is read once.
    SmallVector<Value> scalarValues;
    for (SolverScalar scalar : rule.scalars) {
      Value &value = scalars[scalar];
      if (!value)
        value = SolverScalarOp::create(
            b, getOperation().getLoc(),
            RankedTensorType::get({}, type.getElementType()), scalar);
      scalarValues.push_back(value);
    }
    Value currentValue = ParamValueOp::create(b, loc, type, symbol);
    update.addOperands(currentValue);
    update.addOperands(
        ParamGradientOp::create(b, loc, type, symbol).getResult());
    SmallVector<Value> history;
    for (unsigned slot = 0; slot < rule.states; ++slot)
      history.push_back(ParamStateOp::create(b, loc, type, symbol,
                                             b.getI64IntegerAttr(slot)));
    update.addOperands(history);
    update.addOperands(scalarValues);
    update.addAttribute("lr_mult", param.getLrMultAttr());
    update.addAttribute("decay_mult", param.getDecayMultAttr());
    update.addAttribute("regularization",
                        RegularizationAttr::get(b.getContext(), kind));
    if (localKind) {
      update.addAttribute("local_rate",
                          LocalRateAttr::get(b.getContext(), *localKind));
      update.addAttribute("local_factor", b.getF32FloatAttr(localFactor));
    }
    update.addTypes(SmallVector<Type>(2 + rule.states, type));
    Operation *op = b.create(update);

    // If a gradient is not finite, parameter and state keep their values.
    auto selectIfFinite = [&](Value updated, Value previous) {
      return nonFinite ? brew::passes::buildSelectIfFinite(b, loc, nonFinite,
                                                           updated, previous,
                                                           param.getLayerAttr())
                       : updated;
    };
    StoreParamOp::create(b, loc, selectIfFinite(op->getResult(0), currentValue),
                         symbol);
    for (unsigned slot = 0; slot < rule.states; ++slot)
      StoreStateOp::create(
          b, loc, selectIfFinite(op->getResult(1 + slot), history[slot]),
          symbol, b.getI64IntegerAttr(slot));
    if (keepUpdate)
      StoreGradientOp::create(b, loc, op->getResult(1 + rule.states), symbol);
  }
};
} // namespace
