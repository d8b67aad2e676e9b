//===- DetectionNests.h - The nests of DetectionOutput ----------*- C++ -*-===//
//
// A DetectionOutput layer is a sequence of nests over candidates: the boxes of
// each class of each image that have the best scores, better ones first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/detection/Detection.h"

namespace brew::dialects {

struct DetectionSizes {
  int64_t images, classes, boxesPerPrior, priors;
  int64_t candidates; ///< of a class of an image, at most
  int64_t perImage;   ///< detections of an image, at most

  explicit DetectionSizes(DetectionOutputOp op);
  /// Rows of the top, at most. One for each image tells of no detections at
  /// all.
  int64_t rows() const { return std::max<int64_t>(images * perImage, images); }
};

/// Builds the nests of one layer.
class DetectionOutputBuilder {
public:
  DetectionOutputBuilder(DetectionOutputOp op, mlir::OpBuilder &b);

  /// The layer's results.
  llvm::SmallVector<mlir::Value> build();

private:
  using Value = mlir::Value;
  using Results = llvm::SmallVector<Value>;

  // Tensors and their elements.
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape,
                                mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// One element for each candidate: images, classes, candidates.
  mlir::RankedTensorType perCandidate(mlir::Type element) const {
    return tensor({sizes.images, sizes.classes, sizes.candidates}, element);
  }
  mlir::RankedTensorType perClass(mlir::Type element) const {
    return tensor({sizes.images, sizes.classes}, element);
  }
  /// A tensor whose elements `element` computes, of their indices.
  Value each(mlir::RankedTensorType type,
             llvm::function_ref<Value(NestBuilder::Body &)> element);
  Value asI32(ScalarBuilder &s, Value index);
  Value asIndex(ScalarBuilder &s, Value integer);
  /// Bit `index` of `word`.
  Value bitOf(ScalarBuilder &s, Value word, Value index);
  /// A word of bit `index` alone.
  Value bit(ScalarBuilder &s, Value index);
  /// The score of what is no candidate.
  Value noCandidateScore(ScalarBuilder &s);
  Value infinity(ScalarBuilder &s);

  // The candidates.
  Value channel(NestBuilder::Body &body, Value x, Value image, Value index);
  Value prior(NestBuilder::Body &body, int64_t which, Value box, Value side);
  Value decode();
  Value scores();
  Value gatherBoxes(Value boxes, Value places);

  // Those that are kept: 1, or 0, for each.
  Value sidesAndAreas(Value boxes);
  Value overlap(NestBuilder::Body &body, Value facts, Value i, Value j);
  Value layerThreshold(ScalarBuilder &s);
  bool shrinks();
  Value exceeds(ScalarBuilder &s, Value share, Value limit);
  Value overlapWithin(Value facts, int64_t first, int64_t count);
  Value overlapBefore(Value values, Value words, Value facts, int64_t first,
                      int64_t count);
  Results suppressBlock(Value facts, Value before, int64_t first, int64_t count,
                 Value &threshold);
  Value suppress(Value values, Value boxes);
  Value keepBest(Value kept, Value values);

  // The top.
  /// Image, label and candidate of number `flat` of all candidates.
  Results positionOf(ScalarBuilder &s, Value flat);
  Value firstRows(Value perLabel);
  Value rowEnds(Value kept, Value firstRows);
  Value candidateOfRow(Value behind);
  Results rows(Value kept, Value values, Value boxes);

  DetectionOutputOp op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  DetectionSizes sizes;
  mlir::Type number, i32;
};

} // namespace brew::dialects
