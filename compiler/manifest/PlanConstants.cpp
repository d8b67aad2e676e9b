//===- PlanConstants.cpp - Constants inside a plan ------------------------===//
#include "compiler/manifest/PlanConstants.h"

#include "dialects/Plan/PlanDialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cstring>

using namespace mlir;
using namespace brew;

/// Writes values row-major, as little-endian machines store them.
static void store(ElementsAttr values, char *memory) {
  const size_t size = values.getElementType().getIntOrFloatBitWidth() / 8;
  for (const APFloat &value : values.getValues<APFloat>()) {
    std::memcpy(memory, value.bitcastToAPInt().getRawData(), size);
    memory += size;
  }
}

void compiler::addConstants(ModuleOp module, plan::Manifest &manifest,
                            std::vector<std::string> &segments) {
  for (plan::Arena &arena : *manifest.mutable_arenas()) {
    if (arena.kind() != plan::CONSTANTS)
      continue;
    std::string bytes(arena.size(), '\0');
    for (auto constant : module.getOps<dialects::plan::ConstantOp>())
      store(constant.getValue(), bytes.data() + constant.getOffset());
    arena.set_initial_segment_index(segments.size());
    manifest.add_segments()->set_kind(plan::Segment::CONSTANT_DATA);
    segments.push_back(std::move(bytes));
  }
}
