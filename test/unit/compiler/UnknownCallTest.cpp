//===- UnknownCallTest.cpp - Errors for unknown library calls -------------===//
//
// Operations of a dialect unknown to Brew pass through the compiler like a
// library call, from phase fused to the plan file. If any part of their support
// is missing, the compiler must report an error instead of dropping the call.
//
//===----------------------------------------------------------------------===//
#include "compiler/Pipeline.h"
#include "compiler/manifest/BuildManifest.h"
#include "dialects/Brew/BrewDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "passes/Passes.h"
#include "support/Error.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace brew;

namespace {

/// A step without information about its operands.
template <typename Concrete, template <typename> class... Traits>
class StepBase : public Op<Concrete, OpTrait::ZeroRegions, OpTrait::ZeroResults,
                           OpTrait::ZeroSuccessors, OpTrait::VariadicOperands,
                           dialects::plan::StepInterface::Trait, Traits...> {
public:
  using StepBase::Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  ArrayAttr getLayersAttr() {
    return (*this)->template getAttrOfType<ArrayAttr>("layers");
  }
  void setLayersAttr(ArrayAttr layers) { (*this)->setAttr("layers", layers); }
  bool getBackward() { return (*this)->hasAttr("backward"); }
  void setBackward(bool) {}
  bool getRematerialized() { return false; }
  void setRematerialized(bool) {}
  IntegerAttr getFlopsAttr() {
    return (*this)->template getAttrOfType<IntegerAttr>("flops");
  }
  void setFlopsAttr(IntegerAttr flops) { (*this)->setAttr("flops", flops); }
};

/// A step that does not declare its memory effects.
class SilentStep : public StepBase<SilentStep> {
public:
  using StepBase::StepBase;
  static StringRef getOperationName() { return "test.silent_step"; }
};

/// A step that declares that it reads its first operand and writes its second.
class DeclaredStep
    : public StepBase<DeclaredStep, MemoryEffectOpInterface::Trait> {
public:
  using StepBase::StepBase;
  static StringRef getOperationName() { return "test.declared_step"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
    effects.emplace_back(MemoryEffects::Read::get(),
                         &getOperation()->getOpOperand(0));
    effects.emplace_back(MemoryEffects::Write::get(),
                         &getOperation()->getOpOperand(1));
  }
};

/// A call whose attribute `step` names the step that it builds. If the name is
/// empty, the call builds nothing.
class TestCall : public Op<TestCall, OpTrait::ZeroRegions, OpTrait::OneResult,
                           OpTrait::OneTypedResult<TensorType>::Impl,
                           OpTrait::ZeroSuccessors, OpTrait::OneOperand,
                           dialects::PlanStepInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "test.call"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  Operation *buildPlanStep(OpBuilder &b,
                           llvm::function_ref<Value(Value)> buffer) {
    auto step = (*this)->getAttrOfType<StringAttr>("step");
    if (step.empty())
      return nullptr;
    OperationState state(getLoc(), step.getValue());
    state.addOperands({buffer((*this)->getOperand(0)), buffer(getResult())});
    return b.create(state);
  }
};

class TestDialect : public Dialect {
public:
  explicit TestDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
    addOperations<TestCall, SilentStep, DeclaredStep>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

/// A module with one TestCall. Methods return the first error, "" without one.
class CallModule {
public:
  explicit CallModule(const std::string &step) {
    DialectRegistry registry;
    compiler::registerDialects(registry);
    registry.insert<TestDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(
        "brew.program @main test {\n"
        "  %x = brew.data_input \"in\" \"Input\" {config = \"\", folder = "
        "\"\", "
        "tops = [\"x\"]} : tensor<16xf32>\n"
        "  %y = \"test.call\"(%x) {step = \"" +
            step +
            "\"} : (tensor<16xf32>) -> tensor<16xf32>\n"
            "  brew.output %y \"y\" loss_weight 0.0 : tensor<16xf32>\n"
            "}\n",
        &context);
    if (!module)
      throw std::logic_error("the test's MLIR does not parse");
  }

  std::string runPhase(compiler::Phase phase) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (text.empty())
        text = diagnostic.str();
      return success();
    });
    PassManager pm(&context, ModuleOp::getOperationName());
    compiler::buildPhase(pm, phase, {});
    if (succeeded(pm.run(*module)))
      return "";
    return text.empty() ? "failed without an error" : text;
  }

  std::string writeManifest() {
    try {
      compiler::buildManifest(*module, {}, {});
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), ExitStatus::Bug);
      return error.what();
    }
    return "";
  }

  ModuleOp operator*() { return *module; }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST(UnknownCall, ThatBuildsNothingIsAnError) {
  EXPECT_EQ(CallModule("").runPhase(compiler::Phase::Plan),
            "phase plan: this call has no step");
}

TEST(UnknownCall, ThatBuildsNoStepIsAnError) {
  EXPECT_EQ(
      CallModule("plan.no_such_operation").runPhase(compiler::Phase::Plan),
      "phase plan: this call has no step");
}

TEST(UnknownCall, StepWithoutEffectsIsAnError) {
  EXPECT_EQ(
      CallModule("test.silent_step").runPhase(compiler::Phase::Plan),
      "phase plan: this operation does not declare what it reads and writes");
}

TEST(UnknownCall, StepWithoutAPlanEntryIsAnError) {
  CallModule module("test.declared_step");
  ASSERT_EQ(module.runPhase(compiler::Phase::Plan), "");
  unsigned steps = 0;
  (*module)->walk([&](DeclaredStep) { ++steps; });
  EXPECT_EQ(steps, 1u);
  EXPECT_EQ(module.writeManifest(),
            "operation test.declared_step has no entry in a plan file");
}

} // namespace
