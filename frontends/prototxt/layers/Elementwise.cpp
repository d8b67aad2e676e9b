//===- Elementwise.cpp - Elementwise layers -------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/DefaultFiller.h"

namespace brew::prototxt {

namespace {

/// Checks num_axes, which has no effect with a second bottom.
template <typename Settings>
void checkNumAxes(LayerChecker &c, const Settings &settings) {
  if (c.layer.bottom_size() == 1 && settings.num_axes() < -1)
    c.error(settings, "num_axes",
            "num_axes must be -1 (all the rest), 0 or more");
}

void checkBias(LayerChecker &c) { checkNumAxes(c, c.layer.bias_param()); }

/// Returns the bias, unless a second bottom replaces it.
std::vector<ParamBlob> biasParams(const caffe::LayerParameter &layer) {
  if (layer.bottom_size() != 1)
    return {};
  return {{&layer.bias_param().filler()}};
}

void checkScale(LayerChecker &c) {
  const caffe::ScaleParameter &settings = c.layer.scale_param();
  checkNumAxes(c, settings);
  if (settings.has_bias_filler() && !settings.bias_term())
    c.warn(settings, "bias_filler",
           "bias_filler has no effect without "
           "bias_term");
}

/// Returns the scale, unless a second bottom replaces it, and the bias. The
/// default of the scale is 1.
std::vector<ParamBlob> scaleParams(const caffe::LayerParameter &layer) {
  const caffe::ScaleParameter &settings = layer.scale_param();
  std::vector<ParamBlob> blobs;
  if (layer.bottom_size() == 1)
    blobs.push_back({fillerOr(settings.has_filler(), settings.filler(), 1)});
  if (settings.bias_term())
    blobs.push_back({&settings.bias_filler()});
  return blobs;
}

void checkEltwise(LayerChecker &c) {
  const caffe::EltwiseParameter &settings = c.layer.eltwise_param();
  if (settings.allow_single_batch_input() && c.layer.bottom_size() != 2)
    c.error(settings, "allow_single_batch_input",
            "allow_single_batch_input takes 2 bottoms, but the layer has " +
                std::to_string(c.layer.bottom_size()));
  if (settings.coeff_size() == 0)
    return;
  if (settings.coeff_size() != c.layer.bottom_size())
    c.error(settings, "coeff",
            "coeff is given " + std::to_string(settings.coeff_size()) +
                " times for " + std::to_string(c.layer.bottom_size()) +
                " bottoms; it takes one for each");
  if (settings.operation() == caffe::EltwiseParameter::PROD)
    c.error(settings, "coeff", "coeff requires operation SUM");
  else if (settings.operation() == caffe::EltwiseParameter::MAX)
    c.warn(settings, "coeff", "coeff has no effect with operation MAX");
}

void checkRescale(LayerChecker &c) { c.count(c.layer.rescale_param(), "rf"); }

} // namespace

LayerRows elementwiseLayers() {
  return {
      LayerKind{"Bias", 1, 2, 1, 1, "bias_param"}
          .inPlace()
          .checkedBy(checkBias)
          .withParams(biasParams),
      LayerKind{"Eltwise", 2, -1, 1, 1, "eltwise_param"}.inPlace().checkedBy(
          checkEltwise),
      neuronKind("Power", "power_param"),
      // The layers of DeepSkeleton convert the scale of each pixel of a
      // skeleton to labels. In other forks, layers named Quantize are
      // different, and have settings.
      plainKind("Quantize"),
      LayerKind{"Rescale", 1, 1, 1, 2, "rescale_param"}.checkedBy(checkRescale),
      LayerKind{"Scale", 1, 2, 1, 1, "scale_param"}
          .inPlace()
          .checkedBy(checkScale)
          .withParams(scaleParams)
          .alsoTakingBlobs(1), // the scale without the bias
  };
}

} // namespace brew::prototxt
