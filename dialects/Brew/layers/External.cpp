//===- External.cpp - What the caller of a program computes ---------------===//
#include "dialects/Brew/layers/External.h"

#include "dialects/Brew/layers/LayerGroup.h"

using namespace mlir;
using namespace brew::ir;

#define GET_OP_CLASSES
#include "dialects/Brew/layers/External.cpp.inc"

void brew::ir::registerExternalLayers(BrewDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "dialects/Brew/layers/External.cpp.inc"
      >();
}
