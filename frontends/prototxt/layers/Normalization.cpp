//===- Normalization.cpp - Normalization layers ---------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/DefaultFiller.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

#include <algorithm>

namespace brew::prototxt {

namespace {

/// Returns whether the layer is NVIDIA Caffe's BatchNorm, which has a scale and
/// a bias.
bool isNvidiaBatchNorm(const caffe::BatchNormParameter &settings) {
  return settings.scale_bias() || settings.has_scale_filler() ||
         settings.has_bias_filler();
}

/// Returns mean, variance and the sum of weights that both are divided by.
/// NVIDIA's layer stores averages, 1 instead of the divisor, then scale and
/// bias.
std::vector<ParamBlob> batchNormParams(const caffe::LayerParameter &layer) {
  const caffe::BatchNormParameter &settings = layer.batch_norm_param();
  if (!isNvidiaBatchNorm(settings))
    return std::vector<ParamBlob>(3, {nullptr, /*isStatistic=*/true});
  return {{nullptr, true, true},
          {nullptr, true, true},
          {fillerOr(false, settings.scale_filler(), 1), true, true},
          {fillerOr(settings.has_scale_filler(), settings.scale_filler(), 1),
           false, true},
          {fillerOr(settings.has_bias_filler(), settings.bias_filler(), 0),
           false, true}};
}

void checkBatchNorm(LayerChecker &c) {
  const caffe::BatchNormParameter &settings = c.layer.batch_norm_param();
  for (const char *field : {"scale_filler", "bias_filler"})
    if (c.locations.find(settings, field) && settings.has_scale_bias() &&
        !settings.scale_bias())
      c.warn(settings, field,
             std::string(field) + " implies scale_bias, as in NVIDIA Caffe");
}

bool usesGlobalStats(const LayerBuilder &l) {
  const caffe::BatchNormParameter &settings = l.layer.batch_norm_param();
  return settings.has_use_global_stats() ? settings.use_global_stats()
                                         : l.phase == caffe::TEST;
}

void buildNvidiaBatchNorm(LayerBuilder &l) {
  const caffe::BatchNormParameter &settings = l.layer.batch_norm_param();
  const bool isGlobal = usesGlobalStats(l);
  OperationSpec &norm =
      l.firstOp(isGlobal ? "batch_norm_global" : "batch_norm", 0);
  norm.real("eps", std::max(settings.eps(), 1e-5f));
  norm.setOperands({LayerBuilder::bottom(0), LayerBuilder::param(0),
                    LayerBuilder::param(1), LayerBuilder::param(2)});
  if (!isGlobal) {
    norm.real("fraction", settings.moving_average_fraction()).addResults(4);
    norm.flag("blend", true).flag("from_first", true);
    l.storeParam(0, norm.result(2));
    l.storeParam(1, norm.result(3));
  }
  const ValueRef normalized = norm.result(0);
  l.lastOp("scale", 0)
      .setOperands({normalized, LayerBuilder::param(3), LayerBuilder::param(4)})
      .integer("axis", 1)
      .integer("num_axes", 1);
}

void buildBatchNorm(LayerBuilder &l) {
  const caffe::BatchNormParameter &settings = l.layer.batch_norm_param();
  if (isNvidiaBatchNorm(settings))
    return buildNvidiaBatchNorm(l);
  const bool isGlobal = usesGlobalStats(l);
  OperationSpec &op = l.layerOp(isGlobal ? "batch_norm_global" : "batch_norm");
  op.real("eps", settings.eps());
  if (isGlobal)
    return;
  op.real("fraction", settings.moving_average_fraction()).addResults(4);
  for (int i = 0; i < 3; ++i)
    l.storeParam(i, op.result(2 + i));
}

/// Returns whether the layer is PSPNet's BN. Two forks have a layer of this
/// name: SegNet's normalizes by the batch, in training and testing, or not at
/// all; PSPNet's has running statistics.
bool isPspNet(const caffe::BNParameter &settings) {
  return settings.has_slope_filler() || settings.has_bias_filler() ||
         settings.has_momentum() || settings.has_frozen();
}

void checkBN(LayerChecker &c) {
  const caffe::BNParameter &settings = c.layer.bn_param();
  if (!isPspNet(settings))
    return;
  const char *text = " belongs to SegNet's BN, and this is PSPNet's (it has "
                     "slope_filler, bias_filler, momentum or frozen)";
  for (const char *field : {"scale_filler", "shift_filler", "bn_mode"})
    if (c.locations.find(settings, field))
      c.error(settings, field, field + std::string(text));
}

std::vector<ParamBlob> bnParams(const caffe::LayerParameter &layer) {
  const caffe::BNParameter &settings = layer.bn_param();
  if (!isPspNet(settings))
    return {
        {fillerOr(settings.has_scale_filler(), settings.scale_filler(), 1)},
        {fillerOr(settings.has_shift_filler(), settings.shift_filler(), 0)}};
  // The fork sets the multipliers of statistics, and of all parameters of a
  // frozen layer, to 0.
  const bool isFrozen = settings.frozen();
  return {{fillerOr(settings.has_slope_filler(), settings.slope_filler(), 1),
           isFrozen, isFrozen},
          {fillerOr(settings.has_bias_filler(), settings.bias_filler(), 0),
           isFrozen, isFrozen},
          {nullptr, true, true},
          // The initial variance of a frozen layer is 1.
          {isFrozen ? fillerOr(false, settings.slope_filler(), 1) : nullptr,
           true, true}};
}

void buildBN(LayerBuilder &l) {
  const caffe::BNParameter &settings = l.layer.bn_param();
  const bool keepsStatistics = isPspNet(settings);
  const bool isGlobal =
      keepsStatistics && (settings.frozen() || l.phase == caffe::TEST);
  OperationSpec *scale = nullptr;
  if (keepsStatistics || settings.bn_mode() == caffe::BNParameter::LEARN) {
    OperationSpec &norm =
        l.firstOp(isGlobal ? "batch_norm_global" : "batch_norm", 0);
    norm.real("eps", settings.eps());
    norm.setOperands({LayerBuilder::bottom(0)});
    if (keepsStatistics) {
      norm.operands.push_back(LayerBuilder::param(2));
      norm.operands.push_back(LayerBuilder::param(3));
      norm.integer("brew.file_rank", 2);
    }
    if (!isGlobal)
      norm.real("fraction", settings.momentum()).addResults(1);
    if (keepsStatistics && !isGlobal) {
      norm.flag("blend", true).addResults(2);
      l.storeParam(2, norm.result(2));
      l.storeParam(3, norm.result(3));
    }
    scale = &l.lastOp("scale", 0);
    scale->setOperands(
        {norm.result(0), LayerBuilder::param(0), LayerBuilder::param(1)});
  } else {
    scale = &l.layerOp("scale");
  }
  scale->integer("axis", 1)
      .integer("num_axes", 1)
      .integer("brew.file_rank", keepsStatistics ? 2 : 4);
}

void checkLRN(LayerChecker &c) {
  const caffe::LRNParameter &settings = c.layer.lrn_param();
  if (settings.local_size() % 2 == 0)
    c.error(settings, "local_size",
            "local_size " + std::to_string(settings.local_size()) +
                " is even; a window needs a middle");
  else if (settings.local_size() > kMaxWindowSetting)
    c.error(settings, "local_size", "local_size is too large");
  if (settings.norm_region() == caffe::LRNParameter::WITHIN_CHANNEL &&
      settings.has_k() && settings.k() != 1)
    c.warn(settings, "k", "k has no effect with WITHIN_CHANNEL: it is 1");
}

void buildLRN(LayerBuilder &l) {
  const caffe::LRNParameter &settings = l.layer.lrn_param();
  const bool isWithinChannel =
      settings.norm_region() == caffe::LRNParameter::WITHIN_CHANNEL;
  l.layerOp("lrn")
      .integer("size", settings.local_size())
      .real("alpha", settings.alpha())
      .real("beta", settings.beta())
      .real("k", isWithinChannel ? 1 : settings.k())
      .flag("within_channel", isWithinChannel);
}

void buildMVN(LayerBuilder &l) {
  const caffe::MVNParameter &settings = l.layer.mvn_param();
  l.layerOp("mvn")
      .flag("normalize_variance", settings.normalize_variance())
      .flag("across_channels", settings.across_channels())
      .real("eps", settings.eps())
      .addResults(1);
}

std::vector<ParamBlob> normalizeParams(const caffe::LayerParameter &layer) {
  const caffe::NormalizeParameter &settings = layer.norm_param();
  return {{fillerOr(settings.has_scale_filler(), settings.scale_filler(), 1)}};
}

void buildNormalize(LayerBuilder &l) {
  const caffe::NormalizeParameter &settings = l.layer.norm_param();
  l.layerOp("normalize")
      .flag("across_spatial", settings.across_spatial())
      .flag("channel_shared", settings.channel_shared())
      .real("eps", settings.eps())
      .addResults(1);
}

} // namespace

LayerRows normalizationLayers() {
  return {
      plainKind("BN", "bn_param")
          .inPlace()
          .checkedBy(checkBN)
          .withParams(bnParams)
          .builtBy(buildBN),
      plainKind("BatchNorm", "batch_norm_param")
          .inPlace()
          .checkedBy(checkBatchNorm)
          .withParams(batchNormParams)
          .builtBy(buildBatchNorm),
      plainKind("LRN", "lrn_param").checkedBy(checkLRN).builtBy(buildLRN),
      plainKind("MVN", "mvn_param").builtBy(buildMVN),
      plainKind("Normalize", "norm_param")
          .withParams(normalizeParams)
          .builtBy(buildNormalize),
  };
}

} // namespace brew::prototxt
