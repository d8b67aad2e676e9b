//===- Loss.cpp - Losses and accuracy -------------------------------------===//

#include "dialects/Brew/layers/loss/Loss.h"
#include "caffe/DataLayerKinds.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/loss/ElementLoss.h"
#include "dialects/Brew/layers/loss/LabelLoss.h"
#include "dialects/Brew/layers/loss/MetricLearning.h"
#include "dialects/Brew/layers/reduction/Reduction.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "formats/BinaryProto.h"
#include "formats/PathLookup.h"
#include "frontends/prototxt/import/layers/Formula.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace brew::dialects;
using llvm::APFloat;
using mlir::Value;

namespace brew::prototxt {

namespace {

bool isFixed(const caffe::LossParameter &settings) {
  return normalizationOf(settings) == caffe::LossParameter::PRE_FIXED;
}

/// Sets the normalization. divideByFixed() divides by pre_fixed_normalizer.
template <typename Op>
void setNormalization(Op op, const caffe::LossParameter &settings) {
  op.setNormalization(isFixed(settings) ? Normalization::None
                                        : static_cast<Normalization>(
                                              normalizationOf(settings)));
}

template <typename Op, typename Settings>
void setIgnoreLabel(Op op, const Settings &settings) {
  if (settings.has_ignore_label())
    op.setIgnoreLabel(settings.ignore_label());
}

/// Divides the loss by pre_fixed_normalizer, or 1 if that is larger, if the
/// normalization is PRE_FIXED, as in R-FCN.
template <typename Op> void divideByFixed(LayerBuilder &l, Op op) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  if (!isFixed(settings))
    return;
  // The name and the loss weight move to the quotient.
  auto tops = llvm::to_vector(op.getTops());
  tops[0] = l.b.getStringAttr("");
  op.setTopsAttr(l.b.getArrayAttr(tops));
  if (auto weights = op.getLossWeights()) {
    auto others = llvm::to_vector(*weights);
    others[0] = 0;
    op.setLossWeights(others);
  }
  auto quotient = l.lastOp<PowerOp>(0, op.getLoss());
  quotient.setPower(APFloat(1.0F));
  quotient.setScale(
      APFloat(1 / std::max(1.0F, settings.pre_fixed_normalizer())));
  quotient.setShift(APFloat(0.0F));
}

/// Returns a constant with one weight for each class.
Value classWeights(LayerBuilder &l) {
  const auto &weights = l.layer.loss_param().class_weighting();
  return l.constant("class weights", weights.size(),
                    llvm::SmallVector<double>(weights.begin(), weights.end()));
}

void buildSoftmaxLoss(LayerBuilder &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  llvm::SmallVector<Value> weights;
  if (settings.class_weighting_size() && settings.weight_by_label_freqs())
    weights.push_back(classWeights(l));
  auto op = l.layerOp<SoftmaxLossOp>(l.types(3 - l.topCount(), 1), weights);
  op.setAxis(l.layer.softmax_param().axis());
  setNormalization(op, settings);
  setIgnoreLabel(op, settings);
  l.checkLabels(op.getStatus());
  divideByFixed(l, op);
}

/// MyCaffe's loss: the mean of the bottom's negative elements at the labels.
void buildNllLoss(LayerBuilder &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  auto op = l.layerOp<SoftmaxLossOp>(l.types(2, 1));
  op.setLogarithms(true);
  op.setAxis(l.layer.nll_loss_param().axis());
  setNormalization(op, settings);
  setIgnoreLabel(op, settings);
  l.checkLabels(op.getStatus());
  divideByFixed(l, op);
}

/// R-FCN's loss, whose third top are the losses of the labels.
void buildSoftmaxLossOHEM(LayerBuilder &l) {
  auto op = SoftmaxLossOp::create(l.b, l.loc, l.types(3, 1), l.bottoms);
  l.setTops(op, 0, std::min(l.topCount(), 2));
  op.setPropagateDownAttr(l.propagateDown());
  op.setAxis(l.layer.softmax_param().axis());
  setNormalization(op, l.layer.loss_param());
  setIgnoreLabel(op, l.layer.loss_param());
  l.checkLabels(op.getStatus());
  if (l.topCount() == 3) {
    auto losses = l.lastOp<LabelLossesOp>(2, {op.getProb(), op.getLabel()});
    losses.setAxis(op.getAxis());
    setIgnoreLabel(losses, l.layer.loss_param());
  }
  divideByFixed(l, op);
}

void buildAccuracy(LayerBuilder &l) {
  const caffe::AccuracyParameter &settings = l.layer.accuracy_param();
  auto op = l.layerOp<AccuracyOp>(l.types(2 - l.topCount(), 1));
  op.setAxis(settings.axis());
  op.setTopK(settings.top_k());
  setIgnoreLabel(op, settings);
  l.checkLabels(op.getStatus());
}

void buildSmoothL1Loss(LayerBuilder &l) {
  l.layerOp<SmoothL1LossOp>().setSigma(
      APFloat(l.layer.smooth_l1_loss_param().sigma()));
}

/// R-FCN's loss, whose second top are the losses of the items.
void buildSmoothL1LossOHEM(LayerBuilder &l) {
  auto op = SmoothL1LossOp::create(l.b, l.loc, l.blobType, l.bottoms);
  l.setTops(op, 0, 1);
  op.setPropagateDownAttr(l.propagateDown());
  op.setSigma(APFloat(1.0F));
  setNormalization(op, l.layer.loss_param());
  if (l.topCount() == 2)
    l.lastOp<SmoothL1ItemsOp>(1, l.bottoms);
  divideByFixed(l, op);
}

/// Unlike other losses, this one divides by the number of items by default.
void setSigmoidNormalization(LayerBuilder &l, SigmoidCrossEntropyLossOp op) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  if (settings.has_normalization() || settings.has_normalize())
    setNormalization(op, settings);
  else
    op.setNormalization(Normalization::BatchSize);
  divideByFixed(l, op);
}

void buildSigmoidCrossEntropyLoss(LayerBuilder &l) {
  auto op = l.layerOp<SigmoidCrossEntropyLossOp>(l.blobType);
  setIgnoreLabel(op, l.layer.loss_param());
  setSigmoidNormalization(l, op);
}

void buildContrastiveLoss(LayerBuilder &l) {
  const caffe::ContrastiveLossParameter &settings =
      l.layer.contrastive_loss_param();
  auto op = l.layerOp<ContrastiveLossOp>(l.blobType);
  op.setMargin(APFloat(settings.margin()));
  op.setLegacy(settings.legacy_version());
}

void buildHingeLoss(LayerBuilder &l) {
  auto op = l.layerOp<HingeLossOp>(l.integerType);
  op.setSquared(l.layer.hinge_loss_param().norm() ==
                caffe::HingeLossParameter::L2);
  l.checkLabels(op.getStatus());
}

void buildMultinomialLogisticLoss(LayerBuilder &l) {
  l.checkLabels(
      l.layerOp<MultinomialLogisticLossOp>(l.integerType).getStatus());
}

/// Returns the matrix of a file, or an empty one if it cannot be read.
Value infogainMatrix(LayerBuilder &l) {
  formats::Blob matrix;
  matrix.dims = {0};
  l.shapes.readFiles(
      l.layer, l.folder, l.where, [&](const std::vector<std::string> &folders) {
        matrix = formats::readBinaryProto(
            formats::requirePath(l.layer.infogain_loss_param().source(),
                                 folders, "infogain matrix"));
      });
  return l.constant("infogain matrix", matrix.dims, matrix.toDoubles());
}

void buildInfogainLoss(LayerBuilder &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  llvm::SmallVector<Value> matrix;
  if (l.bottoms.size() == 2)
    matrix.push_back(infogainMatrix(l));
  auto op = l.layerOp<InfogainLossOp>(l.types(3 - l.topCount(), 1), matrix);
  op.setAxis(l.layer.infogain_loss_param().axis());
  setNormalization(op, settings);
  setIgnoreLabel(op, settings);
  l.checkLabels(op.getStatus());
  divideByFixed(l, op);
}

/// The loss is a data input, which the caller writes like the values of an
/// Input layer.
void buildMemoryLoss(LayerBuilder &l) {
  const std::string &top = l.graph.blobs[l.entry.tops[0]].name;
  caffe::LayerParameter config;
  config.mutable_input_param()->add_shape();
  config.set_name(l.layer.name());
  config.set_type(caffe::dataLayerType(caffe::DataLayerSource::Input));
  config.add_top(top.empty() ? l.layer.name() : top);
  const Value value = l.dataInput(std::move(config), "").front();
  llvm::SmallVector<llvm::StringRef> blobs;
  for (int bottom : l.entry.bottoms)
    blobs.push_back(l.graph.blobs[bottom].name);
  auto op = l.layerOp<MemoryLossOp>({}, value);
  op.setBlobsAttr(l.b.getStrArrayAttr(blobs));
  setNormalization(op, l.layer.loss_param());
  divideByFixed(l, op);
}

void setReduction(ReductionOp op, ReductionKind kind, int64_t axis,
                  float coeff) {
  op.setKind(kind);
  op.setAxis(axis);
  op.setCoeff(APFloat(coeff));
}

/// Creates the sums of the elements of each item.
Value sumOfItems(LayerBuilder &l, Value x) {
  auto op = l.middleOp<ReductionOp>(x);
  setReduction(op, ReductionKind::Sum, 1, 1);
  return op.getY();
}

/// Makes the mean of the items' losses, times `coeff`, the layer's top.
void buildMeanOfItems(LayerBuilder &l, Value losses, float coeff) {
  setReduction(l.lastOp<ReductionOp>(0, losses), ReductionKind::Mean, 0, coeff);
}

/// Creates the items of a bottom as rows.
Value rowsOf(LayerBuilder &l, int bottom) {
  auto op = l.firstOp<ReshapeOp>(bottom, l.bottoms[bottom]);
  op.setDims({0, -1});
  op.setAxis(0);
  op.setNumAxes(-1);
  return op.getY();
}

/// Builds NVIDIA Caffe's layer: the sum of the absolute differences, divided by
/// the number of items. The shapes of the items may differ.
void buildL1Loss(LayerBuilder &l) {
  auto distance = l.middleOp<ExpressionOp>({rowsOf(l, 0), rowsOf(l, 1)});
  setFormula(l, distance, "abs(x - t)", {"x", "t"});
  buildMeanOfItems(l, sumOfItems(l, distance.getY()), 1);
}

/// Creates the squared distances of the items of two values.
Value squaredDistances(LayerBuilder &l, Value x, Value y) {
  auto op = l.middleOp<ExpressionOp>({x, y});
  setFormula(l, op, "(x - y) ^ 2", {"x", "y"});
  return sumOfItems(l, op.getY());
}

/// Returns the formula of the loss of one negative. `negative` is its squared
/// distance from the anchor, and p is the positive's.
std::string tripletFormula(const caffe::TripletLossParameter &settings,
                           const std::string &negative) {
  const std::string margin = formulaText(settings.margin());
  if (settings.losstype() == 0)
    return "relu(p - " + negative + " + " + margin + ")";
  if (settings.losstype() == 1)
    return "relu(1 - " + negative + " / (p + " + margin + "))";
  return "relu(1 - exp(" + negative + ") / (exp(p) + " + margin + "))";
}

/// Builds the mean over sets, whose members are consecutive items of the first
/// bottom: an anchor, a positive and negatives. The loss of a set is half of
/// the sum over its negatives, plus the positive's squared distance if pairs
/// are used.
void buildTripletSets(LayerBuilder &l) {
  const caffe::TripletLossParameter &settings = l.layer.triplet_loss_param();
  const bool isOld = settings.has_num_triplets();
  const int64_t negatives =
      isOld ? settings.num_triplets() : settings.num_negatives();
  auto sets = l.firstOp<ReshapeOp>(0, l.bottoms[0]);
  sets.setDims({-1, 2 + negatives});
  sets.setAxis(0);
  sets.setNumAxes(1);
  auto members = SliceOp::create(
      l.b, l.loc, l.types(static_cast<int>(2 + negatives)), sets.getY());
  l.setTops(members, 0, 0);
  members.setAxis(1);
  members.setPoints({});
  const mlir::ValueRange ys = members.getYs();

  llvm::SmallVector<Value> distances = {squaredDistances(l, ys[0], ys[1])};
  std::vector<std::string> names = {"p"};
  std::string formula = isOld || settings.use_pair() ? "p" : "0";
  for (int64_t i = 0; i < negatives; ++i) {
    distances.push_back(squaredDistances(l, ys[0], ys[2 + i]));
    names.push_back("n" + std::to_string(i));
    formula += " + " + tripletFormula(settings, names.back());
  }
  auto losses = l.middleOp<ExpressionOp>(distances);
  setFormula(l, losses, formula,
             llvm::SmallVector<llvm::StringRef>(names.begin(), names.end()));
  buildMeanOfItems(l, losses.getY(), 0.5F);
}

/// Builds the mean over the items of half of
/// max(margin + |anchor - positive|^2 - |anchor - negative|^2, 0).
void buildTripletLoss(LayerBuilder &l) {
  if (l.bottoms.size() == 2)
    return buildTripletSets(l);
  auto distances = l.middleOp<ExpressionOp>(l.bottoms.take_front(3));
  if (auto down = l.propagateDown())
    distances.setPropagateDownAttr(
        l.b.getDenseBoolArrayAttr(down.asArrayRef().take_front(3)));
  setFormula(l, distances, "(a - p) ^ 2 - (a - n) ^ 2", {"a", "p", "n"});
  const Value difference = sumOfItems(l, distances.getY());
  const std::string margin = formulaText(l.layer.triplet_loss_param().margin());
  auto hinge = l.middleOp<ExpressionOp>(difference);
  setFormula(l, hinge, "relu(d + " + margin + ")", {"d"});
  buildMeanOfItems(l, hinge.getY(), 0.5F);
}

/// Builds MyCaffe's layer: the loss of SigmoidCrossEntropyLoss, with targets or
/// labels and with the gradient of SoftmaxWithLoss.
void buildSoftmaxCrossEntropyLoss(LayerBuilder &l) {
  auto targets = ClassTargetsOp::create(l.b, l.loc, l.types(1, 1), l.bottoms);
  l.setTops(targets, 0, 0);
  targets.setPropagateDownAttr(l.b.getDenseBoolArrayAttr({false, false}));
  l.checkLabels(targets.getStatus());
  auto op = SigmoidCrossEntropyLossOp::create(l.b, l.loc, l.types(2),
                                              {l.bottoms[0], targets.getY()});
  l.setTops(op, 0, 1);
  op.setPropagateDownAttr(l.propagateDown());
  setSigmoidNormalization(l, op);
  op.setSoftmaxAxis(l.layer.softmax_param().axis());
}

} // namespace

BuildFunctions lossFunctions() {
  return {{"Accuracy", buildAccuracy},
          {"ContrastiveLoss", buildContrastiveLoss},
          {"EuclideanLoss", buildPlain<EuclideanLossOp>},
          {"HingeLoss", buildHingeLoss},
          {"InfogainLoss", buildInfogainLoss},
          {"L1Loss", buildL1Loss},
          {"MemoryLoss", buildMemoryLoss},
          {"MultinomialLogisticLoss", buildMultinomialLogisticLoss},
          {"NLLLoss", buildNllLoss},
          {"SigmoidCrossEntropyLoss", buildSigmoidCrossEntropyLoss},
          {"SmoothL1Loss", buildSmoothL1Loss},
          {"SmoothL1LossOHEM", buildSmoothL1LossOHEM},
          {"SoftmaxCrossEntropy2Loss", buildSoftmaxLoss},
          {"SoftmaxCrossEntropyLoss", buildSoftmaxCrossEntropyLoss},
          {"SoftmaxWithLoss", buildSoftmaxLoss},
          {"SoftmaxWithLossOHEM", buildSoftmaxLossOHEM},
          {"TripletLoss", buildTripletLoss}};
}

} // namespace brew::prototxt
