//===- NestBuilder.h - Building loop nests for generic forms ----*- C++ -*-===//
//
// A generic form is a sequence of nests. A nest is a linalg.generic whose loops
// are given by their extents; operands are read through affine maps of the loop
// indices or, where an access is not affine (window edges, labels), with
// `read`, which extracts single elements.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"

#include "mlir/IR/Builders.h"

#include <functional>
#include <optional>

namespace brew::dialects {

/// Scalar arithmetic in one floating-point or index type, so that bodies read
/// like formulas. Sums and products may be contracted to fused multiply-adds.
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
  /// The accumulating sum of a reduction: its order is free.
  mlir::Value accumulate(mlir::Value sum, mlir::Value x);
  /// The accumulating maximum of a reduction (of numbers, not NaN).
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
  /// Quotient and remainder of a non-negative index.
  mlir::Value divi(mlir::Value x, int64_t y);
  mlir::Value remi(mlir::Value x, int64_t y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value atLeast(mlir::Value x, mlir::Value y);
  mlir::Value equali(mlir::Value x, mlir::Value y);
  /// x clamped to [0, extent).
  mlir::Value clamp(mlir::Value x, int64_t extent);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// One nest under construction.
class NestBuilder {
public:
  /// `extents` of the loops; loops flagged in `reduction` are reductions.
  NestBuilder(mlir::OpBuilder &builder, mlir::Location loc,
              llvm::ArrayRef<int64_t> extents,
              llvm::ArrayRef<bool> reduction = {});

  /// An operand read at `map` of the loop indices; returns its position among
  /// the body's inputs. Row-major order of `dims` is the loops it uses.
  unsigned input(mlir::Value tensor, mlir::AffineMap map);
  unsigned input(mlir::Value tensor, llvm::ArrayRef<int64_t> dims);
  /// A result written at `dims`, with an initial value if loops reduce into it.
  unsigned output(mlir::RankedTensorType type, llvm::ArrayRef<int64_t> dims,
                  std::optional<double> initial = std::nullopt);

  struct Body {
    ScalarBuilder s;
    mlir::ValueRange in;  ///< one scalar per input
    mlir::ValueRange out; ///< present value of each output (reductions)
    /// Index of loop `i`.
    mlir::Value loop(unsigned i) const;
    /// Element of a tensor from outside the nest.
    mlir::Value read(mlir::Value tensor, mlir::ValueRange indices) const;
  };
  /// Builds the nest; `body` returns one scalar per output.
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

/// 0, 1, ..., n-1.
llvm::SmallVector<int64_t> iota(int64_t n);

} // namespace brew::dialects
