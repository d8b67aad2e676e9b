//===- Opaque.cpp - Layers without code -----------------------------------===//
#include "dialects/Brew/layers/LayerGroup.h"

#define GET_OP_CLASSES
#include "dialects/Brew/layers/opaque/Opaque.h.inc"

using namespace mlir;
using namespace brew::ir;

LogicalResult OpaqueOp::inferShapes(Shapes &, Shapes &) {
  return layerError(*this) << "type " << getKind() << " is not supported yet";
}

#define GET_OP_CLASSES
#include "dialects/Brew/layers/opaque/Opaque.cpp.inc"

void brew::ir::registerOpaqueLayers(BrewDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "dialects/Brew/layers/opaque/Opaque.cpp.inc"
      >();
}
