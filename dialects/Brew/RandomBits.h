//===- RandomBits.h - Random numbers in kernels -----------------*- C++ -*-===//
//
// A layer that draws random numbers reads a *key*: a tensor<2xi32>, the result
// of a `brew.random_key`, which the importer adds to the layer
// (`LayerBuilder::randomKey()`). Before every run of the program the host
// writes a new key, a function of the seed (the solver's `random_seed`), the
// program, the layer and the number of previous runs
// (runtime/session/RandomKeys.h). Solver states contain that number, so that a
// resumed run continues the same stream.
//
// In a kernel, the bits of an element are a function of key and element number,
// computed with 32-bit integer arithmetic alone. They are therefore the same on
// every thread and target, in every order and layout, and a backward pass
// recomputes them instead of reading a saved mask. A layer that draws several
// numbers per element uses different element numbers for them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// Attribute of a `brew.random_key`: its number, from 1, among further keys of a
/// layer that consists of several random layers.
inline constexpr llvm::StringLiteral kKeyNumberAttr = "brew.key_number";

/// Returns 32 random bits (i32) for element `number` (i32) and `key`
/// (tensor<2xi32>). Different numbers with the same key yield different bits.
mlir::Value randomBits(const NestBuilder::Body &body, mlir::Value key,
                       mlir::Value number);

/// Returns a number of type f32 or f64 in [0, 1) for element `number` (i32) and
/// `key`. It consists of 24 random bits and is thus the same in both types.
mlir::Value randomUniform(const NestBuilder::Body &body, mlir::Value key,
                          mlir::Value number, mlir::Type type);

/// Returns the number (i32) of the element indexed by the nest's first loops,
/// one for each entry of `shape`: its position in row-major order, independent
/// of the layout.
mlir::Value elementNumber(const NestBuilder::Body &body,
                          llvm::ArrayRef<int64_t> shape);

} // namespace brew::dialects
