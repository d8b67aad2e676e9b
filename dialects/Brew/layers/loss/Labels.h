//===- Labels.h - What layers that compare with labels share ----*- C++ -*-===//
#pragma once

#include "dialects/Brew/CommonNests.h"
#include "dialects/Brew/ItemCounts.h"

#include <optional>

namespace brew::dialects {

/// An error at `op` unless there is one label for each row of scores `x` along
/// `axis` (canonical).
mlir::LogicalResult checkLabelCount(mlir::Operation *op,
                                    llvm::ArrayRef<int64_t> x,
                                    llvm::ArrayRef<int64_t> label,
                                    int64_t axis);

/// Labels as one element per row of the scores.
mlir::Value labelsByRow(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value label, const AxisRows &rows);

/// A label in a body: its index (0 if unusable) and whether it counts.
struct Label {
  mlir::Value index;   ///< in [0, classes)
  mlir::Value inRange; ///< i1
  mlir::Value ignored; ///< i1, null without ignore_label

  Label(ScalarBuilder &s, mlir::Value value, int64_t classes,
        std::optional<int64_t> ignoreLabel);
};

/// 1 + the position of the first label that is neither in range nor ignored.
mlir::Value buildStatus(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value labels, int64_t classes,
                        std::optional<int64_t> ignoreLabel,
                        mlir::RankedTensorType type);

/// Number of rows whose label is not ignored.
mlir::Value buildValidCount(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value labels, int64_t classes,
                            int64_t ignoreLabel, mlir::RankedTensorType type);

/// What a summed loss is divided by (Caffe's get_normalizer): the number of
/// rows, of outer rows, 1, or for VALID `validCount` (null: all rows count);
/// never less than one.
mlir::Value buildNormalizer(mlir::OpBuilder &b, mlir::Location loc,
                            Normalization mode, int64_t outer, int64_t rows,
                            mlir::Value validCount,
                            mlir::RankedTensorType type);

/// Sum of all elements.
mlir::Value buildTotal(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                       mlir::RankedTensorType type);

/// The scalar x * factor.
mlir::Value buildScaled(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                        double factor);

/// The scalar x / y.
mlir::Value buildQuotient(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                          mlir::Value y);

/// Lets items that are not there (see ItemCounts.h) have a label that is ignored.
/// Returns the count of `bottoms`, scores and labels; null if they are not
/// counted.
template <typename Op>
mlir::FailureOr<mlir::Value> ignorePaddingLabels(Op op, ItemCounts &counts,
                                        mlir::OpOperand &labels,
                                        mlir::ValueRange bottoms) {
  mlir::FailureOr<mlir::Value> count = counts.commonCount(op, bottoms);
  if (failed(count) || !*count)
    return count;
  if (auto axis = op->template getAttrOfType<mlir::IntegerAttr>("axis"))
    if (axis.getInt() == 0)
      return counts.reject(op, bottoms[0],
                           "axis 0 is the items, of which only some are there");
  if (!op.getIgnoreLabel())
    op.setIgnoreLabel(kPaddingLabel);
  counts.maskPadding(labels, *count,
              static_cast<double>(static_cast<int64_t>(*op.getIgnoreLabel())));
  return count;
}

/// Likewise for a loss, whose value it corrects where all items' number divides
/// it. Its further tops are counted.
template <typename Op>
mlir::LogicalResult propagateCountsOfLoss(Op op, ItemCounts &counts,
                                      mlir::OpOperand &labels,
                                      mlir::ValueRange bottoms) {
  mlir::FailureOr<mlir::Value> count = ignorePaddingLabels(op, counts, labels, bottoms);
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

inline std::optional<int64_t> asOptional(std::optional<uint64_t> value) {
  if (!value)
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

} // namespace brew::dialects
