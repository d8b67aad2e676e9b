//===- GenerateAlternatives.cpp - Alternatives to library calls -----------===//
//
// Libraries are optimized for convolutions with high arithmetic intensity. For
// other calls the plan also contains a generated kernel with the same buffers,
// and the runtime selects the faster one by measurement (brew-run tune; every
// session on a GPU).
//
// The kernel comes from the same passes as all other kernels, run on a module
// that contains only the call: it is the kernel of a net without library calls.
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
using brew::dialects::plan::CallOperand;

namespace {

/// For results with at most this many pixels, the overhead of a library call
/// dominates its time.
constexpr int64_t kMaxFewPixels = 16;

/// The roles of a call's operands and results in the plan.
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

/// Returns the types of the weights and of the forward result, for a call in
/// any direction.
std::optional<std::pair<RankedTensorType, RankedTensorType>>
weightAndTopTypes(Operation *op) {
  RankedTensorType weights, top;
  const Roles roles = rolesOf(op);
  auto assignType = [&](CallOperand role, Value value) {
    if (role == CallOperand::W)
      weights = tensorTypeOf(value);
    if (role == CallOperand::Y)
      top = tensorTypeOf(value);
  };
  for (auto [role, value] : llvm::zip(roles.operands, op->getOperands()))
    assignType(role, value);
  for (auto [role, value] : llvm::zip(roles.results, op->getResults()))
    assignType(role, value);
  if (!weights || !top)
    return std::nullopt;
  return std::pair(weights, top);
}

/// Returns whether a library may be slower than generated code, because the
/// call has few channels per group or few pixels.
bool mayBeSlow(Operation *op) {
  auto types = weightAndTopTypes(op);
  if (!types)
    return false;
  auto [weights, top] = *types;
  const bool isThin = weights.getDimSize(1) <= brew::passes::kFewChannels;
  // Calls with few channels in one group, as in first layers, are fast on GPUs:
  // the libraries have special engines for them, or the channels are padded.
  if (brew::dialects::target::isForGpu(op))
    return isThin && op->getAttrOfType<IntegerAttr>("group").getInt() > 1;
  // A 1x1 window is a matrix product.
  const int64_t windowSize = countOf(weights.getShape().drop_front(2));
  const int64_t pixels = countOf(top.getShape().drop_front(2));
  return isThin || (windowSize > 1 && pixels <= kMaxFewPixels);
}

class AlternativeGenerator {
public:
  using RunPipeline = std::function<LogicalResult(ModuleOp)>;
  AlternativeGenerator(ModuleOp module, RunPipeline runPipeline)
      : module(module), runPipeline(std::move(runPipeline)) {
    for (auto kernel : module.getOps<brew::dialects::plan::KernelOp>())
      names.insert(kernel.getSymName());
    for (auto program : module.getOps<ProgramOp>())
      names.insert(program.getSymName());
  }

  LogicalResult generate(Operation *call) {
    ModuleOp isolated = isolate(call);
    LogicalResult result = runPipeline(isolated);
    if (succeeded(result))
      addKernel(call, isolated);
    isolated.erase();
    return result;
  }

private:
  /// Creates a module with a clone of the call whose operands are output
  /// gradients. The new module is nested in the module of the pass: dynamic
  /// pipelines require that, and the outer module has the target attribute.
  ModuleOp isolate(Operation *call) {
    auto b = OpBuilder::atBlockEnd(module.getBody());
    auto result = ModuleOp::create(b, call->getLoc());
    b.setInsertionPointToEnd(result.getBody());
    auto program =
        ProgramOp::create(b, call->getLoc(), "isolated", NetPhase::Train,
                          ProgramRole::Main, nullptr, nullptr, nullptr);
    b.createBlock(&program.getBody());
    // Use output gradients, because they are not erased if no nest reads them.
    SmallVector<Value> operands;
    for (auto [number, type] : llvm::enumerate(call->getOperandTypes()))
      operands.push_back(OutputGradientOp::create(b, call->getLoc(), type,
                                                  std::to_string(number)));
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

  /// Adds the generated kernel to the plan, if there is exactly one and it
  /// accesses only the call's operands and results.
  void addKernel(Operation *call, ModuleOp isolated) {
    auto program = *isolated.getOps<ProgramOp>().begin();
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
      unsigned index = 0;
      auto gradient = input.getDefiningOp<OutputGradientOp>();
      if (!gradient || gradient.getBlob().getAsInteger(10, index))
        return;
      buffers.push_back(roles.operands[index]);
      if (buffers.back() == CallOperand::Sum)
        sum = number;
    }
    for (auto [number, result] : llvm::enumerate(kernel.getOutputs())) {
      auto pin =
          result.hasOneUse() ? dyn_cast<PinOp>(*result.user_begin()) : PinOp();
      unsigned index = 0;
      if (!pin || pin.getBlob().getAsInteger(10, index) ||
          result.getType() != call->getResult(index).getType())
        return;
      buffers.push_back(roles.results[index]);
      // A call accumulates into the sum in place. If the sum of the kernel has
      // another layout, it is a copy of the call's operand, and the kernel
      // would read the wrong buffer.
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
    const std::string base = brew::passes::toIdentifier(
        (origin.layer ? origin.layer.str() : "call") +
        (origin.isBackward ? "_backward" : "") + "_generated");
    std::string name = base;
    for (int number = 1; !names.insert(name).second; ++number)
      name = base + "_" + std::to_string(number);
    return name;
  }

  ModuleOp module;
  RunPipeline runPipeline;
  llvm::StringSet<> names;
};

struct GenerateAlternatives
    : brew::passes::impl::GenerateAlternativesBase<GenerateAlternatives> {
  using GenerateAlternativesBase::GenerateAlternativesBase;

  void runOnOperation() override {
    OpPassManager passes(ModuleOp::getOperationName(),
                         OpPassManager::Nesting::Implicit);
    brew::passes::LowerToNestsOptions lower;
    lower.noLibrary = {"all"};
    passes.addPass(brew::passes::createLowerToNests(lower));
    passes.addPass(brew::passes::createFoldCasts());
    passes.addNestedPass<ProgramOp>(createCSEPass());
    passes.addPass(brew::passes::createFormKernels());
    AlternativeGenerator generator(getOperation(), [&](ModuleOp isolated) {
      return runPipeline(passes, isolated);
    });
    SmallVector<Operation *> calls;
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front())
        if (mayBeSlow(&op))
          calls.push_back(&op);
    for (Operation *call : calls)
      if (failed(generator.generate(call)))
        return signalPassFailure();
  }
};

} // namespace
