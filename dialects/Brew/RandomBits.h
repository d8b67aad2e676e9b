//===- RandomBits.h - Random numbers in kernels -----------------*- C++ -*-===//
//
// A layer that draws random numbers reads a *key*: a tensor<2xi32> that a
// `brew.data_input` of kind "Random" delivers. The importer gives a layer its key
// with `LayerBuilder::randomKey()`. Before every run of the program the host
// writes a fresh one, a function of the seed (the solver's `random_seed`),
// program and layer, and the number of runs so far (runtime/data/DataPipeline.cpp).
// Solver states record that number, so that a run that resumes goes on with the
// same stream.
//
// In a kernel, the bits of an element are a function of key and element number,
// computed with 32-bit integer arithmetic alone. They are therefore the same
// whichever thread or target computes them, in whatever order and layout; and a
// backward pass computes them again instead of reading a saved mask. What has
// to draw more than one number for each element numbers them apart.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// 32 random bits (i32) for element `number` (i32) under `key`
/// (tensor<2xi32>). Different numbers under one key give different bits.
mlir::Value randomBits(const NestBuilder::Body &body, mlir::Value key,
                       mlir::Value number);

/// A number of type f32 or f64 in [0, 1), of 24 random bits and so the same in
/// both, for element `number` (i32) under `key`.
mlir::Value randomUniform(const NestBuilder::Body &body, mlir::Value key,
                          mlir::Value number, mlir::Type type);

/// Number (i32) of the element at the nest's first loops, one for each entry of
/// `shape`: its place in row-major order, whatever the layout.
mlir::Value elementNumber(const NestBuilder::Body &body,
                          llvm::ArrayRef<int64_t> shape);

} // namespace brew::dialects
