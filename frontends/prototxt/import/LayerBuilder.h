//===- LayerBuilder.h - Operations of a layer -------------------*- C++ -*-===//
//
// Each layer type has a function in import/layers/*.cpp, which uses the classes
// that ODS generates from dialects/Brew/layers/*/*.td.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "frontends/prototxt/check/LayerSettings.h"
#include "frontends/prototxt/check/NetGraph.h"
#include "frontends/prototxt/import/ShapeImporter.h"

#include "mlir/IR/Builders.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace brew::prototxt {

/// Creates the operations of one layer.
class LayerBuilder {
public:
  LayerBuilder(mlir::OpBuilder &b, mlir::Location loc, mlir::Type elementType,
               const NetGraph &graph, const GraphLayer &entry,
               caffe::Phase phase, const std::string &folder,
               mlir::ArrayRef<mlir::Value> bottoms,
               mlir::ArrayRef<mlir::Value> params, ShapeImporter &shapes,
               SourceLocation where)
      : layer(*entry.layer), graph(graph), entry(entry), phase(phase),
        folder(folder), b(b), loc(loc), bottoms(bottoms), params(params),
        shapes(shapes), where(std::move(where)),
        blobType(mlir::UnrankedTensorType::get(elementType)),
        integerType(mlir::UnrankedTensorType::get(b.getI32Type())),
        tops(entry.tops.size()) {}

  const caffe::LayerParameter &layer;
  const NetGraph &graph;
  const GraphLayer &entry;
  const caffe::Phase phase; ///< the layer's own, or else the net's
  /// Folder of the prototxt, for the lookup of the layer's files.
  const std::string &folder;

  mlir::OpBuilder &b;
  const mlir::Location loc;
  const mlir::ArrayRef<mlir::Value> bottoms, params;
  ShapeImporter &shapes;
  const SourceLocation where;              ///< `loc`, for diagnostics
  const mlir::UnrankedTensorType blobType; ///< tensor of the net's element type
  const mlir::UnrankedTensorType
      integerType; ///< tensor of i32: counts, positions, statuses
  /// The values of the tops, which the operations set.
  llvm::SmallVector<mlir::Value> tops;

  int topCount() const { return static_cast<int>(tops.size()); }
  /// Returns the types of `blobs` blobs, then of `integers` integer tensors.
  llvm::SmallVector<mlir::Type> types(int blobs, int integers = 0) const;

  /// Creates an operation that is the complete layer: its operands are all
  /// bottoms and parameters, then `others`. Its results are all tops, then
  /// results of the types `saved`.
  template <typename Op>
  Op layerOp(mlir::TypeRange saved = {}, mlir::ValueRange others = {}) {
    llvm::SmallVector<mlir::Value> operands(bottoms);
    llvm::append_range(operands, params);
    llvm::append_range(operands, others);
    llvm::SmallVector<mlir::Type> results = types(topCount());
    llvm::append_range(results, saved);
    Op op = Op::create(b, loc, results, operands);
    setTops(op, 0, topCount());
    op.setPropagateDownAttr(propagateDown());
    return op;
  }
  /// Creates the operation of bottom `number` and its top, for layers that
  /// process several bottoms one by one. Its other operands are all parameters.
  template <typename Op> Op perBottomOp(int number) {
    llvm::SmallVector<mlir::Value> operands = {bottoms[number]};
    llvm::append_range(operands, params);
    Op op = lastOp<Op>(number, operands);
    op.setPropagateDownAttr(propagateDown(number));
    return op;
  }
  /// Creates the first of several operations on bottom `number`. It determines
  /// whether a gradient reaches the bottom, and has no top. Its results are a
  /// blob, then results of the types `saved`.
  template <typename Op>
  Op firstOp(int number, mlir::ValueRange operands,
             mlir::TypeRange saved = {}) {
    llvm::SmallVector<mlir::Type> results = {blobType};
    llvm::append_range(results, saved);
    Op op = Op::create(b, loc, results, operands);
    setTops(op, 0, 0);
    op.setPropagateDownAttr(propagateDown(number));
    return op;
  }
  /// Creates one of several operations that reads results of others. Its result
  /// is a blob.
  template <typename Op> Op middleOp(mlir::ValueRange operands) {
    Op op = Op::create(b, loc, mlir::TypeRange(blobType), operands);
    setTops(op, 0, 0);
    return op;
  }
  /// Creates the last of several operations, whose result is top `number`.
  template <typename Op> Op lastOp(int number, mlir::ValueRange operands) {
    Op op = Op::create(b, loc, mlir::TypeRange(blobType), operands);
    setTops(op, number, number + 1);
    return op;
  }
  /// Makes the first results of `op` the tops [from, to) of the layer. Sets the
  /// layer's name, and the names and loss weights of these tops.
  template <typename Op> void setTops(Op op, int from, int to) {
    op.setLayer(layer.name());
    op.setTopsAttr(topNames(from, to));
    op.setLossWeightsAttr(lossWeights(from, to));
    for (int i = from; i < to; ++i)
      tops[i] = op->getResult(i - from);
  }
  /// Creates a data input. The type of `config` selects the source of the data,
  /// whose files are looked up in `folder`. Its results are the tops of
  /// `config`, and have their shapes. The first `topCount` of them are the tops
  /// of the layer.
  mlir::ValueRange dataInput(caffe::LayerParameter config,
                             const std::string &folder, int topCount = 0);
  /// Creates the key of the layer's random numbers
  /// (dialects/Brew/RandomBits.h), or another key if `number` is not 0.
  mlir::Value randomKey(int number = 0);
  /// Creates a constant of the net's element type with these row-major values.
  /// Its buffer is called "LAYER `name`".
  mlir::Value constant(const std::string &name, mlir::ArrayRef<int64_t> dims,
                       mlir::ArrayRef<double> values);

  /// Creates a sink that reports labels (bottom `labels`) outside the classes.
  /// `status` is a result of the layer, the status of its label check.
  void checkLabels(mlir::Value status, int labels = 1);
  /// Stores `value` as the new value of parameter `index`, which the layer
  /// itself maintains (a running statistic).
  void storeParam(int index, mlir::Value value);

  /// Returns for each bottom, or only for bottom `slice`, whether it must get a
  /// gradient. Returns null if neither propagate_down nor force_backward is
  /// set: then it depends on the learnable parameters of earlier layers.
  mlir::DenseBoolArrayAttr propagateDown(std::optional<int> slice = {}) const;

private:
  mlir::ArrayAttr topNames(int from, int to) const;
  /// Returns null if all weights are 0.
  mlir::DenseF32ArrayAttr lossWeights(int from, int to) const;
};

/// Returns the settings of a layer that the runtime computes: the layer in
/// prototxt on one line.
std::string layerText(const caffe::LayerParameter &layer);

/// Builds a checked layer of one type.
using BuildFunction = void (*)(LayerBuilder &);
/// Layer types and their functions.
using BuildFunctions = std::vector<std::pair<const char *, BuildFunction>>;

/// Builds a layer without settings.
template <typename Op> void buildPlain(LayerBuilder &l) { l.layerOp<Op>(); }

// The functions of each file under import/layers/.
BuildFunctions arrayFunctions();
BuildFunctions attentionFunctions();
BuildFunctions convolutionFunctions();
BuildFunctions dataFunctions();
BuildFunctions denseBlockFunctions();
BuildFunctions detectionFunctions();
BuildFunctions elementwiseFunctions();
BuildFunctions functionFunctions();
BuildFunctions hostFunctions();
BuildFunctions indexingFunctions();
BuildFunctions lossFunctions();
BuildFunctions metricLearningFunctions();
BuildFunctions neuronFunctions();
BuildFunctions normalizationFunctions();
BuildFunctions poolingFunctions();
BuildFunctions recurrentFunctions();
BuildFunctions reductionFunctions();
BuildFunctions shapeFunctions();

/// Returns the function of a layer type, or null.
BuildFunction findBuildFunction(const LayerKind &kind);

} // namespace brew::prototxt
