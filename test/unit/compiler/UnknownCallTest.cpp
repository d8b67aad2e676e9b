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

class SilentStep : public StepBase<SilentStep> {
public:
  using StepBase::StepBase;
  static StringRef getOperationName() { return "test.silent_step"; }
};

/// Reads its first operand and writes its second.
class FrankStep : public StepBase<FrankStep, MemoryEffectOpInterface::Trait> {
public:
  using StepBase::StepBase;
  static StringRef getOperationName() { return "test.frank_step"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
    effects.emplace_back(MemoryEffects::Read::get(),
                         &getOperation()->getOpOperand(0));
    effects.emplace_back(MemoryEffects::Write::get(),
                         &getOperation()->getOpOperand(1));
  }
};

/// Its attribute `step` names the operation that it builds.
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
    addOperations<TestCall, SilentStep, FrankStep>();
  }
  static StringRef getDialectNamespace() { return "test"; }
};

/// Lowers one call; returns the first error, or "".
class Way {
public:
  explicit Way(const std::string &step) {
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

  std::string run(compiler::Phase phase) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (text.empty())
        text = diagnostic.str();
      return success();
    });
    PassManager pm(&context);
    compiler::buildPhase(pm, phase, {});
    if (succeeded(pm.run(*module)))
      return "";
    return text.empty() ? "failed without an error" : text;
  }

  std::string write() {
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

TEST(UnknownCall, BuildsNothing) {
  EXPECT_EQ(Way("").run(compiler::Phase::Plan),
            "phase plan: this call has no step");
}

TEST(UnknownCall, BuildsNoStep) {
  EXPECT_EQ(Way("plan.no_such_operation").run(compiler::Phase::Plan),
            "phase plan: this call has no step");
}

TEST(UnknownCall, StepDescribesNoOperands) {
  EXPECT_EQ(
      Way("test.silent_step").run(compiler::Phase::Plan),
      "phase plan: this operation does not declare what it reads and writes");
}

TEST(UnknownCall, StepHasNoEntryInPlanFiles) {
  Way way("test.frank_step");
  ASSERT_EQ(way.run(compiler::Phase::Plan), "");
  unsigned steps = 0;
  (*way)->walk([&](FrankStep) { ++steps; });
  EXPECT_EQ(steps, 1u);
  EXPECT_EQ(way.write(),
            "operation test.frank_step has no entry in a plan file");
}

} // namespace
