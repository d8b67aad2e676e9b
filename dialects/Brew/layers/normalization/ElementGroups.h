//===- ElementGroups.h - Statistics of groups of elements -------*- C++ -*-===//
//
// Layers that normalise compute sums over groups of elements (a channel, a
// sample, a position) and continue with one number per group. The groups are
// the outermost loops of all nests, so that the nests can form one kernel.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"

namespace brew::dialects {

/// Groups of a tensor's elements, with the nests over them.
class ElementGroups {
public:
  using Body =
      std::function<llvm::SmallVector<mlir::Value>(NestBuilder::Body &)>;

  using Term = std::function<mlir::Value(NestBuilder::Body &, mlir::Value)>;

  /// Groups the elements of `tensor` by their indices in the dimensions `kept`.
  ElementGroups(mlir::OpBuilder &b, mlir::Location loc,
                mlir::RankedTensorType tensor, llvm::ArrayRef<int64_t> kept);

  /// Returns the type of one element per group, with the kept dimensions.
  mlir::RankedTensorType type() const { return perGroup; }
  /// Returns the number of elements of a group.
  int64_t size() const { return elements; }

  /// Returns the loop of a sum that iterates over dimension `dim` of the
  /// tensor.
  unsigned loopOf(int64_t dim) const { return dims[dim]; }

  /// Builds `results` sums over each group. `terms` computes their terms from
  /// the elements of `tensors`, followed by those of `perGroup` (or scalars).
  llvm::SmallVector<mlir::Value> sum(mlir::ValueRange tensors,
                                     mlir::ValueRange perGroup,
                                     unsigned results, const Body &terms) const;
  /// Builds the sums over each group of x - shift and of its square, where
  /// `shift` is the result of `medianSample`. Mean and variance follow from
  /// them, in one pass over `x`. `term` can modify both terms; it may read
  /// `scalars`.
  llvm::SmallVector<mlir::Value> moments(mlir::Value x, mlir::Value shift,
                                         mlir::ValueRange scalars = {},
                                         const Term &term = {}) const;
  /// Builds the median of three elements of each group of `x`. The median is
  /// close to most elements, so that sums of differences from it lose few
  /// digits, whatever the mean is. With `first`, only elements at index 0 of
  /// dimension 0 are read.
  mlir::Value medianSample(mlir::Value x, bool first = false) const;
  /// Builds `results` tensors of one element per group. `body` reads the
  /// elements of `perGroup` (or scalars).
  llvm::SmallVector<mlir::Value> map(mlir::ValueRange perGroup,
                                     unsigned results, const Body &body) const;
  /// Builds a tensor of type `result`. `body` reads the elements of `tensors`,
  /// of `perGroup` (or scalars), and of `along`, whose only dimension is
  /// `dimension`.
  mlir::Value apply(mlir::RankedTensorType result, mlir::ValueRange tensors,
                    mlir::ValueRange perGroup, const Body &body,
                    mlir::ValueRange along = {}, int64_t dimension = 0) const;

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::SmallVector<int64_t> kept;
  /// Extents of the loops of a sum: the kept dimensions, then the others.
  /// `dims` maps each dimension of the tensor to its loop.
  llvm::SmallVector<int64_t> extents, dims;
  llvm::SmallVector<bool> reduction;
  mlir::RankedTensorType perGroup;
  int64_t elements;
};

} // namespace brew::dialects
