//===- PassBoundary.cpp - Start of the backward pass ----------------------===//
#include "passes/plan/PassBoundary.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/Origin.h"
#include "dialects/Brew/layers/external/External.h"
#include "passes/analysis/ValueStorage.h"

using namespace mlir;
using namespace brew::dialects;

bool brew::passes::isBackwardStep(Operation *step) {
  auto kernel = dyn_cast<KernelOp>(step);
  return Origin::of(step).isBackward || (kernel && kernel.getBackward());
}

Operation *brew::passes::findBackwardPass(Block &program) {
  auto outputGradients = program.getOps<OutputGradientOp>();
  if (!outputGradients.empty())
    return *outputGradients.begin();
  Operation *first = nullptr;
  for (Operation &op : llvm::reverse(program)) {
    if (!isStep(&op))
      continue;
    if (!isBackwardStep(&op))
      break;
    first = &op;
  }
  return first;
}
