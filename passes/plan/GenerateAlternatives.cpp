//===- GenerateAlternatives.cpp - Generated code beside weak library calls --------===//
//
// Libraries are made for convolutions that compute much for what they move.
// Where a call does not, a kernel that does the same on the same buffers goes
// into the plan beside it, and whoever measures (brew-run tune; every session
// on a GPU) takes the faster one.
//
// The kernel is made by the passes that make all others, from a module with
// nothing but the call in it: it is that of a net without library calls.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/analysis/LibraryCalls.h"
#include "passes/fused/OutlineKernel.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/external/External.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Target/TargetDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <optional>

namespace brew::passes {
#define GEN_PASS_DEF_GENERATEALTERNATIVES
#include "passes/Passes.h.inc"
} // namespace brew::passes

using namespace mlir;
using namespace brew::dialects;
namespace targetir = brew::dialects::target;
using brew::dialects::plan::CallOperand;

namespace {

/// Pixels of a result up to which what surrounds its products weighs.
constexpr int64_t kFewPixels = 16;

/// What the operands and results of a call are in the plan.
struct Roles {
  SmallVector<CallOperand> operands, results;
};

Roles rolesOf(Operation *op) {
  constexpr auto x = CallOperand::X, w = CallOperand::W, bias = CallOperand::B,
                 sum = CallOperand::Sum, y = CallOperand::Y;
  Roles roles;
  if (isa<ConvolutionOp>(op))
    roles = {{x, w, bias}, {y}};
  else if (isa<ConvolutionSumOp>(op))
    roles = {{x, w, sum, bias}, {y}};
  else if (isa<ConvolutionBackwardDataOp>(op))
    roles = {{y, w, sum}, {x}};
  else if (isa<ConvolutionBackwardWeightsOp>(op))
    roles = {{x, y}, {w, bias}};
  roles.operands.resize(
      std::min<size_t>(roles.operands.size(), op->getNumOperands()));
  roles.results.resize(
      std::min<size_t>(roles.results.size(), op->getNumResults()));
  return roles;
}

/// Shapes of the weights and of the result forward, in whatever direction.
std::optional<std::pair<RankedTensorType, RankedTensorType>>
weightsAndTop(Operation *op) {
  RankedTensorType weights, top;
  const Roles roles = rolesOf(op);
  auto note = [&](CallOperand role, Value value) {
    if (role == CallOperand::W)
      weights = tensorTypeOf(value);
    if (role == CallOperand::Y)
      top = tensorTypeOf(value);
  };
  for (auto [role, value] : llvm::zip(roles.operands, op->getOperands()))
    note(role, value);
  for (auto [role, value] : llvm::zip(roles.results, op->getResults()))
    note(role, value);
  if (!weights || !top)
    return std::nullopt;
  return std::pair(weights, top);
}

/// Whether a library may do worse than generated code: it computes on few
/// channels at a time, or on few pixels.
bool isWeak(Operation *op) {
  auto types = weightsAndTop(op);
  if (!types)
    return false;
  auto [weights, top] = *types;
  const bool isThin = weights.getDimSize(1) <= brew::passes::kFewChannels;
  // First layers have engines of their own there, or channels that pad them.
  if (brew::dialects::target::isForGpu(op))
    return isThin && op->getAttrOfType<IntegerAttr>("group").getInt() > 1;
  // Taps of one pixel are a product of matrices.
  const int64_t taps = countOf(weights.getShape().drop_front(2));
  const int64_t pixels = countOf(top.getShape().drop_front(2));
  return isThin || (taps > 1 && pixels <= kFewPixels);
}

class Offering {
public:
  using Run = std::function<LogicalResult(ModuleOp)>;
  Offering(ModuleOp module, Run run) : module(module), run(std::move(run)) {
    for (auto kernel : module.getOps<brew::dialects::plan::KernelOp>())
      names.insert(kernel.getSymName());
    for (auto program : module.getOps<ProgramOp>())
      names.insert(program.getSymName());
  }

  LogicalResult offer(Operation *call) {
    ModuleOp inside = aloneIn(call);
    LogicalResult result = run(inside);
    if (succeeded(result))
      take(call, inside);
    inside.erase();
    return result;
  }

private:
  /// A module with one program, in which seeds are the call's operands; within
  /// the pass's own, where dynamic pipelines may run and the machine is known.
  ModuleOp aloneIn(Operation *call) {
    auto b = OpBuilder::atBlockEnd(module.getBody());
    auto result = ModuleOp::create(b, call->getLoc());
    b.setInsertionPointToEnd(result.getBody());
    auto program =
        ProgramOp::create(b, call->getLoc(), "alone", NetPhase::Train,
                          ProgramRole::Main, nullptr, nullptr, nullptr);
    b.createBlock(&program.getBody());
    // The caller writes seeds, so they are kept whether or not a nest reads
    // them.
    SmallVector<Value> operands;
    for (auto [number, type] : llvm::enumerate(call->getOperandTypes()))
      operands.push_back(
          OutputGradientOp::create(b, call->getLoc(), type, std::to_string(number)));
    IRMapping map;
    Operation *copy = b.clone(*call, map);
    copy->setOperands(operands);
    Origin::of(call).mark(copy);
    for (auto [number, result] : llvm::enumerate(copy->getResults()))
      PinOp::create(b, call->getLoc(), result,
                     brew::dialects::plan::BlobValue::Data,
                     b.getStringAttr(std::to_string(number)));
    return result;
  }

  /// Adds the kernel to the plan if all is one, which reads and writes nothing
  /// but the call's operands and results.
  void take(Operation *call, ModuleOp inside) {
    auto program = *inside.getOps<ProgramOp>().begin();
    auto kernels =
        llvm::to_vector(program.getBody().front().getOps<KernelOp>());
    if (kernels.size() != 1)
      return;
    KernelOp kernel = kernels.front();
    const Roles roles = rolesOf(call);
    SmallVector<CallOperand> buffers;
    SmallVector<int64_t> inPlace;
    std::optional<int64_t> sum;
    for (auto [number, input] : llvm::enumerate(kernel.getInputs())) {
      unsigned which = 0;
      auto seed = input.getDefiningOp<OutputGradientOp>();
      if (!seed || seed.getBlob().getAsInteger(10, which))
        return;
      buffers.push_back(roles.operands[which]);
      if (buffers.back() == CallOperand::Sum)
        sum = number;
    }
    for (auto [number, result] : llvm::enumerate(kernel.getOutputs())) {
      auto keep = result.hasOneUse() ? dyn_cast<PinOp>(*result.user_begin())
                                     : PinOp();
      unsigned which = 0;
      if (!keep || keep.getBlob().getAsInteger(10, which) ||
          result.getType() != call->getResult(which).getType())
        return;
      buffers.push_back(roles.results[which]);
      // A call adds to what lies where its result does; where that is a copy of
      // another layout, the kernel would look for it elsewhere.
      if (sum && kernel.getInputs()[*sum].getType() != result.getType())
        return;
      inPlace.push_back(sum.value_or(-1));
    }
    if (inPlace.size() != roles.results.size())
      return;
    auto b = OpBuilder::atBlockBegin(module.getBody());
    auto outlined = brew::dialects::plan::KernelOp::create(
        b, call->getLoc(), nameOf(call), b.getDenseI64ArrayAttr(inPlace),
        kernel.getLayersAttr(), nullptr);
    IRMapping map;
    kernel.getBody().cloneInto(&outlined.getBody(), map);
    call->setAttr(brew::passes::kGeneratedAttr,
                  brew::dialects::plan::GeneratedAttr::get(
                      call->getContext(),
                      FlatSymbolRefAttr::get(outlined.getSymNameAttr()),
                      buffers));
  }

  std::string nameOf(Operation *call) {
    const Origin origin = Origin::of(call);
    const std::string base = brew::passes::kernelName(
        (origin.layer ? origin.layer.str() : "call") +
        (origin.isBackward ? "_backward" : "") + "_generated");
    std::string name = base;
    for (int number = 1; !names.insert(name).second; ++number)
      name = base + "_" + std::to_string(number);
    return name;
  }

  ModuleOp module;
  Run run;
  llvm::StringSet<> names;
};

struct GenerateAlternatives : brew::passes::impl::GenerateAlternativesBase<GenerateAlternatives> {
  using GenerateAlternativesBase::GenerateAlternativesBase;

  void runOnOperation() override {
    OpPassManager generate(ModuleOp::getOperationName());
    brew::passes::LowerToNestsOptions lower;
    lower.noLibrary = {"all"};
    generate.addPass(brew::passes::createLowerToNests(lower));
    generate.addPass(brew::passes::createFoldCasts());
    generate.addPass(createCSEPass());
    generate.addPass(brew::passes::createFormKernels());
    Offering offering(getOperation(), [&](ModuleOp inside) {
      return runPipeline(generate, inside);
    });
    SmallVector<Operation *> calls;
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (isWeak(&op))
          calls.push_back(&op);
    for (Operation *call : calls)
      if (failed(offering.offer(call)))
        return signalPassFailure();
  }
};

} // namespace
