//===- Normalization.cpp - Normalization layers ---------------------------===//

#include "dialects/Brew/layers/normalization/Normalization.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/shape/Arrays.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "frontends/prototxt/import/layers/Formula.h"

#include <algorithm>

using namespace brew::dialects;
using llvm::APFloat;
using mlir::Value;

namespace brew::prototxt {

namespace {

/// Creates a normalization as the first of several operations: by the running
/// `statistics` (`isGlobal`), or by the batch's, which also update
/// `statistics`.
mlir::Operation *addNorm(LayerBuilder &l, llvm::ArrayRef<Value> statistics,
                         bool isGlobal, float eps, float fraction) {
  llvm::SmallVector<Value> operands = {l.bottoms[0]};
  llvm::append_range(operands, statistics);
  if (isGlobal) {
    auto op = l.firstOp<BatchNormGlobalOp>(0, operands);
    op.setEps(APFloat(eps));
    return op;
  }
  auto op = l.firstOp<BatchNormOp>(
      0, operands, l.types(1 + static_cast<int>(statistics.size())));
  op.setEps(APFloat(eps));
  op.setFraction(APFloat(fraction));
  op.setBlend(!statistics.empty());
  return op;
}

/// Makes the scale and the bias of `op` ones of channels.
void setChannelAxis(ScaleOp op) {
  op.setAxis(1);
  op.setNumAxes(1);
}

bool usesGlobalStats(const LayerBuilder &l) {
  const caffe::BatchNormParameter &settings = l.layer.batch_norm_param();
  return settings.has_use_global_stats() ? settings.use_global_stats()
                                         : l.phase != caffe::TRAIN;
}

void buildNvidiaBatchNorm(LayerBuilder &l) {
  const caffe::BatchNormParameter &settings = l.layer.batch_norm_param();
  mlir::Operation *norm = addNorm(l, l.params.take_front(3), usesGlobalStats(l),
                                  std::max(settings.eps(), 1e-5f),
                                  settings.moving_average_fraction());
  setChannelAxis(
      l.lastOp<ScaleOp>(0, {norm->getResult(0), l.params[3], l.params[4]}));
  if (auto op = llvm::dyn_cast<BatchNormOp>(norm)) {
    op.setFromFirst(true);
    for (int i = 0; i < 2; ++i)
      l.storeParam(i, op.getNext()[i]);
  }
}

void buildBatchNorm(LayerBuilder &l) {
  const caffe::BatchNormParameter &settings = l.layer.batch_norm_param();
  if (isNvidiaBatchNorm(settings))
    return buildNvidiaBatchNorm(l);
  const APFloat eps(settings.eps());
  if (usesGlobalStats(l))
    return l.layerOp<BatchNormGlobalOp>().setEps(eps);
  auto op = l.layerOp<BatchNormOp>(l.types(4));
  op.setEps(eps);
  op.setFraction(APFloat(settings.moving_average_fraction()));
  for (int i = 0; i < 3; ++i)
    l.storeParam(i, op.getNext()[i]);
}

/// Makes mean and variance, of shape (1, channels, 1, 1), tops of the layer.
void addStatisticTops(LayerBuilder &l, BatchNormOp norm) {
  for (int top = 1; top < l.topCount(); ++top) {
    auto op = l.lastOp<ReshapeOp>(top, {norm.getNext()[top - 1]});
    op.setDims({1, -1, 1, 1});
    op.setAxis(0);
    op.setNumAxes(-1);
  }
}

void buildBN(LayerBuilder &l) {
  const caffe::BNParameter &settings = l.layer.bn_param();
  const bool keepsStatistics = isPspNetBN(settings);
  auto setFileRank = [&](mlir::Operation *op, int rank) {
    op->setAttr(kFileRankAttr, l.b.getI64IntegerAttr(rank));
  };
  if (!keepsStatistics && settings.bn_mode() != caffe::BNParameter::LEARN) {
    auto scale = l.layerOp<ScaleOp>();
    setChannelAxis(scale);
    setFileRank(scale, 4);
    return;
  }
  const bool isGlobal =
      keepsStatistics && (settings.frozen() || l.phase != caffe::TRAIN);
  // SegNet's further tops are the batch's statistics: moving averages in which
  // past values, here any values of that shape, have the weight 0.
  const bool hasTops = l.topCount() > 1;
  const float eps =
      keepsStatistics || settings.has_eps() ? settings.eps() : 1e-9F;
  mlir::Operation *norm =
      addNorm(l, hasTops ? l.params.take_front(2) : l.params.drop_front(2),
              isGlobal, eps, hasTops ? 0 : settings.momentum());
  auto scale =
      l.lastOp<ScaleOp>(0, {norm->getResult(0), l.params[0], l.params[1]});
  setChannelAxis(scale);
  setFileRank(scale, keepsStatistics ? 2 : 4);
  if (hasTops) {
    setFileRank(norm, 4);
    addStatisticTops(l, llvm::cast<BatchNormOp>(norm));
  }
  if (!keepsStatistics)
    return;
  setFileRank(norm, 2);
  if (auto op = llvm::dyn_cast<BatchNormOp>(norm))
    for (int i = 0; i < 2; ++i)
      l.storeParam(2 + i, op.getNext()[i]);
}

void buildLRN(LayerBuilder &l) {
  const caffe::LRNParameter &settings = l.layer.lrn_param();
  const bool isWithinChannel =
      settings.norm_region() == caffe::LRNParameter::WITHIN_CHANNEL;
  auto op = l.layerOp<LRNOp>();
  op.setSize(settings.local_size());
  op.setAlpha(APFloat(settings.alpha()));
  op.setBeta(APFloat(settings.beta()));
  op.setK(APFloat(isWithinChannel ? 1 : settings.k()));
  op.setWithinChannel(isWithinChannel);
}

void buildMVN(LayerBuilder &l) {
  const caffe::MVNParameter &settings = l.layer.mvn_param();
  auto op = l.layerOp<MVNOp>(l.blobType);
  op.setNormalizeVariance(settings.normalize_variance());
  op.setAcrossChannels(settings.across_channels());
  op.setEps(APFloat(settings.eps()));
}

/// Synopsys Caffe's layer normalizes complete items, and has a scale and a bias
/// unless elementwise_affine is false. MyCaffe's normalizes each channel, or a
/// vector.
void buildLayerNorm(LayerBuilder &l) {
  const caffe::LayerNormParameter &settings = l.layer.layer_norm_param();
  const bool isSynopsys = isSynopsysLayerNorm(settings);
  auto op = l.params.empty() ? l.layerOp<MVNOp>(l.blobType)
                             : l.firstOp<MVNOp>(0, l.bottoms[0], l.blobType);
  op.setNormalizeVariance(true);
  op.setAcrossChannels(isSynopsys);
  op.setAcrossVectors(!isSynopsys);
  op.setEps(APFloat(isSynopsys ? settings.eps()
                               : static_cast<float>(settings.epsilon())));
  op.setEpsInRoot(true);
  if (l.params.empty())
    return;
  auto scale = l.lastOp<ScaleOp>(0, {op.getY(), l.params[0], l.params[1]});
  scale.setAxis(1);
  scale.setNumAxes(-1);
}

template <typename Settings>
void setNormalize(NormalizeOp op, const Settings &settings) {
  op.setAcrossSpatial(settings.across_spatial());
  op.setChannelShared(settings.channel_shared());
  op.setEps(APFloat(settings.eps()));
}

/// Builds x / sqrt(eps + sum of squares over the channels).
void buildUnitNorm(LayerBuilder &l, float eps) {
  auto op = l.layerOp<NormalizeOp>(l.blobType, l.constant("scale", {}, {1.0}));
  op.setChannelShared(true);
  op.setEps(APFloat(eps));
}

/// Builds x / sqrt(sum of squares over all elements of the item).
void buildL2Norm(LayerBuilder &l) {
  auto op = l.layerOp<NormalizeOp>(l.blobType, l.constant("scale", {}, {1.0}));
  op.setAcrossSpatial(true);
  op.setChannelShared(true);
  op.setEps(APFloat(0.0F));
}

void buildGRN(LayerBuilder &l) { buildUnitNorm(l, l.layer.grn_param().bias()); }

/// Builds caffe-windows' layer with L1 norms, or with the norms as second top,
/// whose gradient counts with bp_norm only.
void buildNormalizeWithNorms(LayerBuilder &l) {
  const caffe::UnitNormParameter &settings = l.layer.normalize_param();
  const bool isL1 = settings.normalize_type() == "L1";
  const Value x = l.firstOp<SplitOp>(0, l.bottoms[0]).getYs()[0];
  auto sums = l.middleOp<AxisSumOp>(formulaOf(l, x, isL1 ? "abs(x)" : "x ^ 2"));
  sums.setAxis(1);
  const Value norms =
      formulaOf(l, sums.getY(), isL1 ? "x + 1e-6" : "sqrt(x + 1e-6)");
  const Value divisors = l.middleOp<BroadcastOp>({norms, x}).getY();
  setFormula(l, l.lastOp<ExpressionOp>(0, {x, divisors}), "x / n", {"x", "n"});
  if (l.topCount() == 1)
    return;
  auto top = l.lastOp<SplitOp>(1, norms);
  if (!settings.bp_norm())
    top.setPropagateDownAttr(l.b.getDenseBoolArrayAttr({false}));
}

void buildNormalize(LayerBuilder &l) {
  if (isSsdNormalize(l.layer))
    return setNormalize(l.layerOp<NormalizeOp>(l.blobType),
                        l.layer.norm_param());
  if (l.topCount() > 1 || l.layer.normalize_param().normalize_type() == "L1")
    return buildNormalizeWithNorms(l);
  buildUnitNorm(l, 1e-6F);
}

void buildNormalization2(LayerBuilder &l) {
  setNormalize(l.layerOp<NormalizeOp>(l.blobType),
               l.layer.normalization2_param());
}

} // namespace

BuildFunctions normalizationFunctions() {
  return {{"BN", buildBN},
          {"BatchNorm", buildBatchNorm},
          {"GRN", buildGRN},
          {"L2Norm", buildL2Norm},
          {"LRN", buildLRN},
          {"LayerNorm", buildLayerNorm},
          {"MVN", buildMVN},
          {"Normalization2", buildNormalization2},
          {"Normalize", buildNormalize}};
}

} // namespace brew::prototxt
