//===- Sinks.cpp - What a program's values end in -------------------------===//
#include "passes/Sinks.h"

#include "dialects/Brew/BrewDialect.h"

using namespace mlir;
using namespace brew::ir;

void brew::moveSinksToEnd(Block &program) {
  SmallVector<Operation *> sinks;
  for (Operation &op : program)
    if (op.hasTrait<IsSink>())
      sinks.push_back(&op);
  for (Operation *sink : sinks)
    sink->moveBefore(&program, program.end());
}
