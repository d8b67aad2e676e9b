//===- Origin.cpp - Layer and position of an operation --------------------===//
#include "dialects/Brew/Origin.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace brew::dialects;

static constexpr llvm::StringLiteral kOwnLayer = "layer";
static constexpr llvm::StringLiteral kLayer = "brew.layer";
static constexpr llvm::StringLiteral kBackward = "brew.backward";
static constexpr llvm::StringLiteral kRematerialized = "brew.rematerialized";
static constexpr llvm::StringLiteral kSubKernel = "brew.sub_kernel";
static constexpr llvm::StringLiteral kGridLoops = "brew.grid_loops";
static constexpr llvm::StringLiteral kLastBlock = "brew.last_block";
static constexpr llvm::StringLiteral kStage = "brew.stage";

Origin Origin::of(Operation *op) {
  auto layer = op->getAttrOfType<StringAttr>(kOwnLayer);
  if (!layer)
    layer = op->getAttrOfType<StringAttr>(kLayer);
  return {layer, op->hasAttr(kBackward), op->hasAttr(kRematerialized)};
}

Origin Origin::with(const Origin &other) const {
  if (!layer || !other.layer || layer == other.layer ||
      isBackward != other.isBackward)
    return other;
  std::string names = layer.str();
  SmallVector<StringRef> ownNames, otherNames;
  layer.getValue().split(ownNames, '+');
  other.layer.getValue().split(otherNames, '+');
  for (StringRef name : otherNames)
    if (!llvm::is_contained(ownNames, name))
      names += "+" + name.str();
  return {StringAttr::get(layer.getContext(), names), isBackward,
          isRematerialized && other.isRematerialized};
}

void Origin::mark(Operation *op) const {
  if (layer && !op->hasAttr(kOwnLayer))
    op->setAttr(kLayer, layer);
  if (isBackward)
    op->setAttr(kBackward, UnitAttr::get(op->getContext()));
  if (isRematerialized)
    op->setAttr(kRematerialized, UnitAttr::get(op->getContext()));
}

void Origin::clear(Operation *op) {
  op->removeAttr(kLayer);
  op->removeAttr(kBackward);
  op->removeAttr(kRematerialized);
}

std::optional<NestGrid> NestGrid::of(Operation *nest) {
  auto subKernel = nest->getAttrOfType<IntegerAttr>(kSubKernel);
  auto gridLoops = nest->getAttrOfType<IntegerAttr>(kGridLoops);
  if (!subKernel || !gridLoops)
    return std::nullopt;
  auto stage = nest->getAttrOfType<IntegerAttr>(kStage);
  return NestGrid{subKernel.getInt(), gridLoops.getInt(),
                  nest->hasAttr(kLastBlock), stage ? stage.getInt() : 0};
}

void NestGrid::mark(Operation *nest) const {
  Builder b(nest->getContext());
  nest->setAttr(kSubKernel, b.getI64IntegerAttr(subKernel));
  nest->setAttr(kGridLoops, b.getI64IntegerAttr(gridLoops));
  if (inLastBlock)
    nest->setAttr(kLastBlock, b.getUnitAttr());
  if (stage != 0)
    nest->setAttr(kStage, b.getI64IntegerAttr(stage));
}
