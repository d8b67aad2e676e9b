//===- Labels.h - Labels, normalizers and scalars of losses -----*- C++ -*-===//
#pragma once

#include "dialects/Brew/CommonNests.h"
#include "dialects/Brew/ItemCounts.h"

#include <optional>

namespace brew::dialects {

/// Emits an error at `op` unless there is one label for each row of the scores
/// `x` along `axis`, which is not negative.
mlir::LogicalResult checkLabelCount(mlir::Operation *op,
                                    llvm::ArrayRef<int64_t> x,
                                    llvm::ArrayRef<int64_t> label,
                                    int64_t axis);

/// Reshapes labels to one element per row of the scores.
mlir::Value labelsByRow(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value label, const AxisRows &rows);

/// A label in a nest's body.
struct Label {
  mlir::Value index;   ///< in [0, classes); 0 if out of range or ignored
  mlir::Value inRange; ///< i1
  mlir::Value ignored; ///< i1, null without ignore_label

  Label(ScalarBuilder &s, mlir::Value value, int64_t classes,
        std::optional<int64_t> ignoreLabel);
};

/// Builds the label check's result: 1 + the position of the first label that is
/// neither in range nor ignored, or 0.
mlir::Value buildStatus(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value labels, int64_t classes,
                        std::optional<int64_t> ignoreLabel,
                        mlir::RankedTensorType type);

/// Builds the number of rows whose label is not ignored.
mlir::Value buildValidCount(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value labels, int64_t classes,
                            int64_t ignoreLabel, mlir::RankedTensorType type);

/// Builds the divisor of a summed loss (Caffe's get_normalizer): the number of
/// `rows` (FULL), `outer` (BATCH_SIZE), 1 (NONE) or `validCount` (VALID; null:
/// all rows); at least 1.
mlir::Value buildNormalizer(mlir::OpBuilder &b, mlir::Location loc,
                            Normalization mode, int64_t outer, int64_t rows,
                            mlir::Value validCount,
                            mlir::RankedTensorType type);

/// Builds the sum of all elements.
mlir::Value buildTotal(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                       mlir::RankedTensorType type);

/// Builds the scalar x * factor.
mlir::Value buildScaled(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                        double factor);

/// Builds the scalar x / y.
mlir::Value buildQuotient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                          mlir::Value y);

/// Sets the labels of padding items (see ItemCounts.h) to an ignored label.
/// Returns the item count of `bottoms`, scores and labels, or null if they have
/// none.
template <typename Op>
mlir::FailureOr<mlir::Value> ignorePaddingLabels(Op op, ItemCounts &counts,
                                                 mlir::OpOperand &labels,
                                                 mlir::ValueRange bottoms) {
  mlir::FailureOr<mlir::Value> count = counts.commonCount(op, bottoms);
  if (failed(count) || !*count)
    return count;
  if (auto axis = op->template getAttrOfType<mlir::IntegerAttr>("axis"))
    if (axis.getInt() == 0)
      return counts.reject(
          op, bottoms[0],
          "axis 0 is the item dimension, and not all items are valid");
  if (!op.getIgnoreLabel())
    op.setIgnoreLabel(kPaddingLabel);
  counts.maskPadding(
      labels, *count,
      static_cast<double>(static_cast<int64_t>(*op.getIgnoreLabel())));
  return count;
}

/// Does the same for a loss. Rescales the loss if its divisor is the number of
/// all items, and sets the item counts of its further tops.
template <typename Op>
mlir::LogicalResult propagateCountsOfLoss(Op op, ItemCounts &counts,
                                          mlir::OpOperand &labels,
                                          mlir::ValueRange bottoms) {
  mlir::FailureOr<mlir::Value> count =
      ignorePaddingLabels(op, counts, labels, bottoms);
  if (failed(count))
    return mlir::failure();
  if (!*count)
    return mlir::success();
  for (size_t i = 1; i < op.getTops().size(); ++i)
    counts.set(op->getResult(i), *count);
  if (op.getNormalization() == Normalization::Full ||
      op.getNormalization() == Normalization::BatchSize)
    counts.rescaleMean(op, *count);
  return mlir::success();
}

/// Converts an optional unsigned attribute to a signed number.
inline std::optional<int64_t> asOptional(std::optional<uint64_t> value) {
  if (!value)
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

} // namespace brew::dialects
