//===- DenseBlock.cpp - Dense blocks of forks for DenseNet ----------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/DefaultFiller.h"

#include <algorithm>

namespace brew::prototxt {

namespace {

/// Reports a field that the fork reads nowhere, unless it has the value that
/// the fork uses.
void checkFixed(LayerChecker &c, const char *field, int value) {
  const caffe::DenseBlockParameter &settings = c.layer.denseblock_param();
  const auto *descriptor = settings.GetDescriptor()->FindFieldByName(field);
  if (settings.GetReflection()->GetInt32(settings, descriptor) != value)
    c.unsupported(settings, field,
                  std::string(field) + " must be " + std::to_string(value) +
                      ": the convolutions are 3 x 3, with stride 1 and pad 1");
}

void checkDenseBlock(LayerChecker &c) {
  // Each transition becomes several operations.
  constexpr int kMaxTransitions = 1024;
  const caffe::DenseBlockParameter &settings = c.layer.denseblock_param();
  if (settings.numtransition() < 1 ||
      settings.numtransition() > kMaxTransitions)
    c.error(settings, "numTransition", "numTransition must be from 1 to 1024");
  constexpr int kMaxChannels = 1 << 20;
  if (settings.growthrate() < 1 || settings.growthrate() > kMaxChannels)
    c.error(settings, "growthRate", "growthRate must be from 1 to 1048576");
  for (const char *field : {"filter_H", "filter_W"})
    checkFixed(c, field, 3);
  for (const char *field :
       {"pad_h", "pad_w", "conv_verticalStride", "conv_horizentalStride"})
    checkFixed(c, field, 1);
  if (settings.use_dropout() &&
      !(settings.dropout_amount() >= 0 && settings.dropout_amount() < 1))
    c.error(settings, "dropout_amount",
            "dropout_amount must be at least 0 and below 1");
  if (!(settings.moving_average_fraction() >= 0 &&
        settings.moving_average_fraction() <= 1))
    c.error(settings, "moving_average_fraction",
            "moving_average_fraction must be from 0 to 1");
  if (settings.has_initchannel())
    c.warn(settings, "initChannel",
           "initChannel has no effect: the block starts with the channels of "
           "its bottom, as in caffe_ocr");
}

/// Returns the parameters in the fork's order: those of the same kind for all
/// transitions, one kind after the other, then the divisor of Caffe's
/// BatchNorm, which the fork's GPU code does not read.
std::vector<ParamBlob> denseBlockParams(const caffe::LayerParameter &layer) {
  const caffe::DenseBlockParameter &settings = layer.denseblock_param();
  std::vector<ParamBlob> params;
  auto add = [&](const caffe::FillerParameter *filler, bool isStatistic) {
    params.insert(
        params.end(),
        static_cast<std::size_t>(std::max(settings.numtransition(), 0)),
        {filler, isStatistic, /*setsMultipliers=*/true});
  };
  const caffe::FillerParameter unset;
  for (int part = 0; part < (settings.use_bc() ? 2 : 1); ++part) {
    add(&settings.filter_filler(), false);
    add(&settings.bn_scaler_filler(), false);
    add(&settings.bn_bias_filler(), false);
    add(nullptr, true);
    add(fillerOr(false, unset, 1), true);
  }
  params.push_back({nullptr, true, true});
  return params;
}

} // namespace

LayerRows denseBlockLayers() {
  return {plainKind("DenseBlock", "denseblock_param")
              .checkedBy(checkDenseBlock)
              .withParams(denseBlockParams)};
}

} // namespace brew::prototxt
