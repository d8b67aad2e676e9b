//===- Normalization.cpp - Normalization layers ---------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/DefaultFiller.h"

namespace brew::prototxt {

namespace {

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

void checkBN(LayerChecker &c) {
  const caffe::BNParameter &settings = c.layer.bn_param();
  if (c.layer.top_size() > 1 &&
      (isPspNetBN(settings) || settings.bn_mode() != caffe::BNParameter::LEARN))
    c.error(c.layer, "top",
            "gives 1 top, but has " + std::to_string(c.layer.top_size()) +
                "; only SegNet's BN with bn_mode LEARN has the tops mean and "
                "variance");
  if (!isPspNetBN(settings))
    return;
  const char *text = " belongs to SegNet's BN, and this is PSPNet's (it has "
                     "slope_filler, bias_filler, momentum or frozen)";
  for (const char *field : {"scale_filler", "shift_filler", "bn_mode"})
    if (c.locations.find(settings, field))
      c.error(settings, field, field + std::string(text));
}

std::vector<ParamBlob> bnParams(const caffe::LayerParameter &layer) {
  const caffe::BNParameter &settings = layer.bn_param();
  if (!isPspNetBN(settings))
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

void checkGRN(LayerChecker &c) {
  const caffe::GRNParameter &settings = c.layer.grn_param();
  if (!(settings.bias() >= 0))
    c.error(settings, "bias", "bias must be 0 or more");
  if (settings.dummy_backward())
    c.unsupported(settings, "dummy_backward",
                  "dummy_backward is not supported");
}

void checkNormalize(LayerChecker &c) {
  const caffe::UnitNormParameter &settings = c.layer.normalize_param();
  if (isSsdNormalize(c.layer)) {
    if (c.layer.top_size() > 1)
      c.error(c.layer, "top",
              "gives 1 top, but has 2; only caffe-windows' Normalize has the "
              "norms as second top",
              1);
    if (c.layer.has_normalize_param())
      c.error(c.layer, "normalize_param",
              "norm_param belongs to SSD's Normalize and normalize_param to "
              "caffe-windows'; a layer cannot have both");
    return;
  }
  if (settings.normalize_type() != "L2" && settings.normalize_type() != "L1")
    c.error(settings, "normalize_type", "normalize_type must be L1 or L2");
  if (settings.fix_gradient())
    c.unsupported(settings, "fix_gradient", "fix_gradient is not supported");
  if (settings.bp_norm() && c.layer.top_size() == 1)
    c.warn(settings, "bp_norm", "bp_norm has no effect without a second top");
}

std::vector<ParamBlob> normalizeParams(const caffe::LayerParameter &layer) {
  if (!isSsdNormalize(layer))
    return {};
  const caffe::NormalizeParameter &settings = layer.norm_param();
  return {{fillerOr(settings.has_scale_filler(), settings.scale_filler(), 1)}};
}

std::vector<ParamBlob>
normalization2Params(const caffe::LayerParameter &layer) {
  const caffe::Normalization2Parameter &settings = layer.normalization2_param();
  return {{fillerOr(settings.has_scale_filler(), settings.scale_filler(), 1)}};
}

void checkLayerNorm(LayerChecker &c) {
  const caffe::LayerNormParameter &settings = c.layer.layer_norm_param();
  if (isSynopsysLayerNorm(settings))
    c.refuse(settings, {"epsilon"},
             "belongs to MyCaffe's LayerNorm, and this is Synopsys Caffe's (it "
             "has eps or elementwise_affine)");
}

/// Synopsys Caffe's layer has a scale and a bias for each element of an item.
std::vector<ParamBlob> layerNormParams(const caffe::LayerParameter &layer) {
  const caffe::LayerNormParameter &settings = layer.layer_norm_param();
  if (!isSynopsysLayerNorm(settings) || !settings.elementwise_affine())
    return {};
  const caffe::FillerParameter unset;
  return {{fillerOr(false, unset, 1)}, {fillerOr(false, unset, 0)}};
}

} // namespace

LayerRows normalizationLayers() {
  return {
      LayerKind{"BN", 1, 1, 1, 3, "bn_param"}
          .inPlace()
          .checkedBy(checkBN)
          .withParams(bnParams),
      plainKind("BatchNorm", "batch_norm_param")
          .inPlace()
          .checkedBy(checkBatchNorm)
          .withParams(batchNormParams),
      // OpenVINO's training toolbox.
      plainKind("GRN", "grn_param").checkedBy(checkGRN),
      // Several forks, without settings in most of them.
      neuronKind("L2Norm"),
      plainKind("LRN", "lrn_param").checkedBy(checkLRN),
      plainKind("LayerNorm", "layer_norm_param")
          .checkedBy(checkLayerNorm)
          .withParams(layerNormParams),
      plainKind("MVN", "mvn_param"),
      plainKind("Normalization2", "normalization2_param")
          .withParams(normalization2Params),
      LayerKind{"Normalize", 1, 1, 1, 2, "norm_param normalize_param"}
          .checkedBy(checkNormalize)
          .withParams(normalizeParams),
  };
}

} // namespace brew::prototxt
