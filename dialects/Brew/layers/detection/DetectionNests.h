//===- DetectionNests.h - Loop nests of DetectionOutput ---------*- C++ -*-===//
//
// A DetectionOutput layer is a sequence of nests over candidates: the boxes
// with the best scores of each class of each image, best first.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/NestBuilder.h"
#include "dialects/Brew/layers/detection/Detection.h"

namespace brew::dialects {

/// Extents of the tensors of a DetectionOutput layer.
struct DetectionSizes {
  int64_t images, classes, boxesPerPrior, priors;
  int64_t candidates; ///< most candidates of a class of an image
  int64_t perImage;   ///< most detections of an image

  explicit DetectionSizes(DetectionOutputOp op);
  /// Returns the maximal number of rows of the top. Without any detection,
  /// there is one row per image.
  int64_t rows() const { return std::max<int64_t>(images * perImage, images); }
};

/// Builds the nests of one DetectionOutput layer.
class DetectionOutputBuilder {
public:
  DetectionOutputBuilder(DetectionOutputOp op, mlir::OpBuilder &b);

  /// Returns the layer's results.
  llvm::SmallVector<mlir::Value> build();

private:
  using Value = mlir::Value;
  using Results = llvm::SmallVector<Value>;

  // Types of tensors, and scalar arithmetic.
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape,
                                mlir::Type element) const {
    return mlir::RankedTensorType::get(shape, element);
  }
  /// Type of one element per candidate: images, classes, candidates.
  mlir::RankedTensorType perCandidate(mlir::Type element) const {
    return tensor({sizes.images, sizes.classes, sizes.candidates}, element);
  }
  mlir::RankedTensorType perClass(mlir::Type element) const {
    return tensor({sizes.images, sizes.classes}, element);
  }
  /// Builds a tensor whose elements `element` computes from their indices.
  Value each(mlir::RankedTensorType type,
             llvm::function_ref<Value(NestBuilder::Body &)> element);
  Value asI32(ScalarBuilder &s, Value index);
  Value asIndex(ScalarBuilder &s, Value integer);
  /// Builds bit `index` of `word`.
  Value bitOf(ScalarBuilder &s, Value word, Value index);
  /// Builds a word in which only bit `index` is set.
  Value bit(ScalarBuilder &s, Value index);
  /// Builds the score of a box that is not a candidate.
  Value noCandidateScore(ScalarBuilder &s);
  Value infinity(ScalarBuilder &s);

  // Candidates.
  Value channel(NestBuilder::Body &body, Value x, Value image, Value index);
  Value prior(NestBuilder::Body &body, int64_t which, Value box, Value side);
  Value decode();
  Value scores();
  Value gatherBoxes(Value boxes, Value places);

  // Suppression: 1 for each kept candidate, 0 for each other one.
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

  // Rows of the top.
  /// Builds image, label and candidate of candidate number `flat`.
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
