//===- Sinks.cpp - What a program's values end in -------------------------===//
#include "passes/Sinks.h"

#include "dialects/Brew/layers/external/External.h"

using namespace mlir;
using namespace brew::ir;

void brew::moveSinksToEnd(Block &program) {
  SmallVector<Operation *> sinks;
  auto seeds = program.getOps<SeedOp>();
  Operation *seed = seeds.empty() ? nullptr : (*seeds.begin()).getOperation();
  for (Operation &op : program)
    if (op.hasTrait<IsSink>())
      sinks.push_back(&op);
  for (Operation *sink : sinks)
    if (seed && sink->isBeforeInBlock(seed))
      sink->moveBefore(seed);
    else
      sink->moveBefore(&program, program.end());
}
