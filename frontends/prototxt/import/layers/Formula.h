//===- Formula.h - Layers that are formulas ---------------------*- C++ -*-===//
//
// Build functions use formulas (docs/expressions.md) for elementwise layers of
// forks.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/layers/elementwise/Expression.h"
#include "frontends/prototxt/import/LayerBuilder.h"

namespace brew::prototxt {

/// Sets the formula of `op`, whose operands have these names, or are
/// parameters along `axes`.
void setFormula(LayerBuilder &l, dialects::ExpressionOp op,
                llvm::StringRef formula, llvm::ArrayRef<llvm::StringRef> names,
                llvm::ArrayRef<int64_t> axes = {});

/// Creates an operation that computes a value by a formula of `x`.
mlir::Value formulaOf(LayerBuilder &l, mlir::Value x, llvm::StringRef formula);

/// Creates an operation that computes top `number` from the first bottom by a
/// formula of bottom(0).
void buildFromFormula(LayerBuilder &l, int number, const std::string &formula);

/// Returns the text of a setting in a formula.
std::string formulaText(float value);

} // namespace brew::prototxt
