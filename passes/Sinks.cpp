//===- Sinks.cpp - What a program's values end in -------------------------===//
#include "passes/Sinks.h"

#include "dialects/Brew/BrewDialect.h"
#include "dialects/Brew/layers/Solver.h"

using namespace mlir;
using namespace brew::ir;

void brew::moveSinksToEnd(Block &program) {
  SmallVector<Operation *> sinks;
  for (Operation &op : program)
    if (isa<StoreParamOp, StoreStateOp, StoreGradientOp, StoreAllGradientsOp,
            KeepOp, OutputOp, CheckLabelsOp>(op))
      sinks.push_back(&op);
  for (Operation *sink : sinks)
    sink->moveBefore(&program, program.end());
}
