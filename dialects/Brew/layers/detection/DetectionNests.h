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
  int64_t candidates; ///< maximal number of candidates of a class of an image
  int64_t perImage;   ///< maximal number of detections of an image

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
  /// Builds a tensor. `element` computes each element from its indices.
  Value buildTensor(mlir::RankedTensorType type,
                    llvm::function_ref<Value(NestBuilder::Body &)> element);
  Value asI32(ScalarBuilder &s, Value index);
  Value asIndex(ScalarBuilder &s, Value integer);
  /// Builds bit `index` of `word`.
  Value buildBitOf(ScalarBuilder &s, Value word, Value index);
  /// Builds a word in which only bit `index` is set.
  Value buildBit(ScalarBuilder &s, Value index);
  /// Builds the score of a box that is not a candidate.
  Value noCandidateScore(ScalarBuilder &s);
  Value infinity(ScalarBuilder &s);

  // Candidates.
  Value readElement(NestBuilder::Body &body, Value x, Value image, Value index);
  Value readPrior(NestBuilder::Body &body, int64_t row, Value box, Value side);
  Value decodeBoxes();
  Value buildScores();
  Value gatherBoxes(Value boxes, Value positions);

  // Suppression. The results are 1 for kept candidates and 0 for others.
  Value buildGeometry(Value boxes);
  Value buildOverlap(NestBuilder::Body &body, Value geometry, Value i, Value j);
  Value layerThreshold(ScalarBuilder &s);
  bool thresholdShrinks();
  Value exceeds(ScalarBuilder &s, Value iou, Value limit);
  Value buildOverlapWithin(Value geometry, int64_t first, int64_t count);
  Value buildOverlapBefore(Value values, Value words, Value geometry,
                           int64_t first, int64_t count);
  Results suppressBlock(Value geometry, Value earlierOverlap, int64_t first,
                        int64_t count, Value &threshold);
  Value suppress(Value values, Value boxes);
  Value keepBest(Value kept, Value values);

  // Rows of the top.
  /// Builds image, label and candidate of candidate number `flat`.
  Results candidateIndices(ScalarBuilder &s, Value flat);
  Value buildFirstRows(Value perLabel);
  Value buildRowEnds(Value kept, Value firstRows);
  Value buildCandidateOfRow(Value rowEnds);
  Results buildRows(Value kept, Value values, Value boxes, Value positions);

  DetectionOutputOp op;
  mlir::OpBuilder &b;
  mlir::Location loc;
  DetectionSizes sizes;
  mlir::Type floatType, i32;
};

} // namespace brew::dialects
