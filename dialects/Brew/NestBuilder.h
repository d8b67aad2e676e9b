//===- NestBuilder.h - Construction of loop nests ---------------*- C++ -*-===//
//
// A nest is a linalg.generic, defined by the extents of its loops. It reads
// operands through affine maps of the loop indices or, if an access is not
// affine (window edges, labels), with `read`, which extracts single elements.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/Builders.h"

#include <functional>
#include <optional>

namespace brew::dialects {

/// Builds scalar arithmetic in one floating-point or index type, so that bodies
/// read like formulas. Sums and products may be contracted to fused
/// multiply-adds.
class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  mlir::Value constant(mlir::Type type, double value);
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value neg(mlir::Value x);
  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  /// Builds 1 / (1 + exp(-x)).
  mlir::Value sigmoid(mlir::Value x);
  /// Adds to the accumulator of a reduction, which may be reassociated.
  mlir::Value accumulate(mlir::Value sum, mlir::Value x);
  /// Updates the maximum of a reduction. Requires numbers other than NaN.
  mlir::Value maximize(mlir::Value largest, mlir::Value x);
  mlir::Value greater(mlir::Value x, mlir::Value y);
  mlir::Value greaterEqual(mlir::Value x, mlir::Value y);
  mlir::Value equal(mlir::Value x, mlir::Value y);
  mlir::Value both(mlir::Value x, mlir::Value y);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value maximum(mlir::Value x, mlir::Value y);

  // Index arithmetic.
  mlir::Value addi(mlir::Value x, mlir::Value y);
  mlir::Value subi(mlir::Value x, mlir::Value y);
  mlir::Value muli(mlir::Value x, int64_t y);
  /// Quotient and remainder. Require a non-negative index.
  mlir::Value divi(mlir::Value x, int64_t y);
  mlir::Value remi(mlir::Value x, int64_t y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value atLeast(mlir::Value x, mlir::Value y);
  mlir::Value equali(mlir::Value x, mlir::Value y);
  /// Clamps x to [0, extent).
  mlir::Value clamp(mlir::Value x, int64_t extent);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// One nest under construction.
class NestBuilder {
public:
  /// Creates a nest of loops of these extents. The loops flagged in `reduction`
  /// are reductions, all others parallel.
  NestBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              llvm::ArrayRef<int64_t> extents,
              llvm::ArrayRef<bool> reduction = {});

  /// Adds an operand. The body gets its element at `map` of the loop indices,
  /// or at the indices of the loops `dims`. Returns the operand's index among
  /// the body's inputs.
  unsigned input(mlir::Value tensor, mlir::AffineMap map);
  unsigned input(mlir::Value tensor, llvm::ArrayRef<int64_t> dims);
  /// Adds a result, written at the indices of the loops `dims`, with an initial
  /// value if loops reduce into it. Returns its index among the body's outputs.
  unsigned output(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims,
                  std::optional<double> initial = std::nullopt);

  struct Body {
    ScalarBuilder s;
    mlir::ValueRange in;  ///< one scalar per input
    mlir::ValueRange out; ///< current value of each output (reductions)
    /// Returns the index of loop `i`.
    mlir::Value loop(unsigned i) const;
    /// Reads an element of a tensor from outside of the nest.
    mlir::Value read(mlir::Value tensor, mlir::ValueRange indices) const;
  };
  /// Builds the nest and returns its results. `body` returns one scalar per
  /// output.
  llvm::SmallVector<mlir::Value>
  build(const std::function<llvm::SmallVector<mlir::Value>(Body &)> &body);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<bool> reduction;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::SmallVector<mlir::AffineMap> inputMaps;
  struct Out {
    mlir::RankedTensorType type;
    mlir::AffineMap map;
    std::optional<double> initial;
  };
  llvm::SmallVector<Out> outputs;
};

/// Returns 0, 1, ..., n-1.
llvm::SmallVector<int64_t> iota(int64_t n);

} // namespace brew::dialects
