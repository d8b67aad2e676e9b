//===- ElementGroups.h - Statistics of groups of a tensor's elements ---*- C++ -*-===//
//
// Layers that normalise compute sums over groups of elements (a channel, a
// sample, a place) and go on with one number for each group. All nests have the
// groups as their outermost loops, so that they can become one kernel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

class ElementGroups {
public:
  using Body =
      std::function<llvm::SmallVector<mlir::Value>(NestBuilder::Body &)>;

  using Term = std::function<mlir::Value(NestBuilder::Body &, mlir::Value)>;

  /// Elements of `tensor` that agree in the dimensions `kept` are a group.
  ElementGroups(mlir::OpBuilder &b, mlir::Location loc, mlir::RankedTensorType tensor,
         llvm::ArrayRef<int64_t> kept);

  /// Type of one element for each group: the kept dimensions.
  mlir::RankedTensorType type() const { return perGroup; }
  /// Elements of a group.
  int64_t size() const { return elements; }

  /// The loop of a sum that is the tensor's dimension `dim`.
  unsigned loopOf(int64_t dim) const { return dims[dim]; }

  /// `results` sums over each group of what `terms` makes of the elements of
  /// `tensors`, followed by those of `perGroup`, and scalars.
  llvm::SmallVector<mlir::Value> sum(mlir::ValueRange tensors,
                                     mlir::ValueRange perGroup,
                                     unsigned results, const Body &terms) const;
  /// Sums over each group of x - shift and of its square, where `shift` is what
  /// `medianSample` gives: from them follow mean and variance in one pass over `x`.
  /// With `term` only what it leaves of both counts; it may read `scalars`.
  llvm::SmallVector<mlir::Value> moments(mlir::Value x, mlir::Value shift,
                                         mlir::ValueRange scalars = {},
                                         const Term &term = {}) const;
  /// The medianSample one of three elements of each group of `x`, one of its values
  /// that is no outlier. Sums of differences from it lose about as many digits
  /// as the mean is deviations away, which is few, whatever the mean itself is.
  /// `first` says that only a group's elements at index 0 of dimension 0 may be
  /// read.
  mlir::Value medianSample(mlir::Value x, bool first = false) const;
  /// `results` tensors of one element for each group; `body` reads those of
  /// `perGroup`, and scalars.
  llvm::SmallVector<mlir::Value> map(mlir::ValueRange perGroup,
                                     unsigned results, const Body &body) const;
  /// A tensor of type `result`; `body` reads the elements of `tensors`, those
  /// of `perGroup`, scalars, and what `along` has at index `dimension`.
  mlir::Value apply(mlir::RankedTensorType result, mlir::ValueRange tensors,
                    mlir::ValueRange perGroup, const Body &body,
                    mlir::ValueRange along = {}, int64_t dimension = 0) const;

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SmallVector<int64_t> kept;
  /// Loops of a sum: the kept dimensions, then the others; `dims` says which
  /// loop each dimension of the tensor is.
  llvm::SmallVector<int64_t> extents, dims;
  llvm::SmallVector<bool> reduction;
  mlir::RankedTensorType perGroup;
  int64_t elements;
};

} // namespace brew::dialects
