//===- Convolution.cpp - Convolution and inner product --------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/ConvolutionChecks.h"

namespace brew::prototxt {

namespace {

/// Checks the window of layers with Caffe's convolution settings.
void checkWindow(LayerChecker &c, const caffe::ConvolutionParameter &settings) {
  c.refuse(settings, {"kernel_depth", "temporal_stride", "temporal_pad"},
           "is a setting of C3D's 3-D types; other types take one kernel_size, "
           "stride and pad for each dimension");
  if (settings.kernel_size_size() == 0 && !settings.has_kernel_h() &&
      !settings.has_kernel_w())
    c.reportMissing(settings, "kernel_size");
  c.perDimension(settings, "kernel_size", "kernel", true);
  c.perDimension(settings, "stride", "stride", true);
  c.perDimension(settings, "pad", "pad", false);
  c.perDimension(settings, "dilation", "", true);
  if (settings.pad_type() > 1)
    c.error(settings, "pad_type",
            "pad_type is " + std::to_string(settings.pad_type()) +
                "; it must be 0 (explicit padding) or 1 (SAME)");
  if (!settings.pad_type() && !hasSidePads(settings))
    return;
  const bool mayBeNegative = c.layer.type() == "Deconvolution";
  const char *conflictingSetting = settings.pad_type() ? "pad_type 1" : nullptr;
  for (const char *side : {"pad_l", "pad_r", "pad_t", "pad_b"}) {
    const auto *field = settings.GetDescriptor()->FindFieldByName(side);
    const auto *reflection = settings.GetReflection();
    if (!reflection->HasField(settings, field))
      continue;
    if (settings.pad_type())
      c.error(settings, side,
              std::string(side) + " cannot be given together with pad_type 1");
    else if (!mayBeNegative && reflection->GetInt32(settings, field) < 0)
      c.error(settings, side,
              std::string(side) +
                  " is negative, which only a Deconvolution can have");
    conflictingSetting = conflictingSetting ? conflictingSetting : side;
  }
  for (const char *field : {"pad", "pad_h", "pad_w"})
    if (c.locations.find(settings, field))
      c.error(settings, field,
              std::string(field) + " cannot be given together with " +
                  conflictingSetting);
}

void checkPlainWindow(LayerChecker &c) {
  c.refuse(c.layer.convolution_param(), {"deformable_group"},
           "is a setting of DeformableConvolution");
  checkWindow(c, c.layer.convolution_param());
}

void checkConvolutionDepthwise(LayerChecker &c) {
  if (c.layer.convolution_param().has_num_output())
    c.count(c.layer.convolution_param(), "num_output");
  checkPlainWindow(c);
}

void checkConvolution(LayerChecker &c) {
  checkPlainWindow(c);
  checkOutputs(c, c.layer.convolution_param());
}

void checkDeformableConvolution(LayerChecker &c) {
  const caffe::ConvolutionParameter &settings =
      c.layer.deformable_convolution_param();
  c.refuse(settings, {"pad_type", "pad_l", "pad_r", "pad_t", "pad_b"},
           "is not a setting of DeformableConvolution");
  checkWindow(c, settings);
  checkOutputs(c, settings);
  if (settings.deformable_group() == 0 ||
      settings.deformable_group() > kMaxWindowSetting)
    c.error(settings, "deformable_group",
            "deformable_group is " +
                std::to_string(settings.deformable_group()) +
                "; it must be at least 1");
  if (settings.axis() != 1)
    c.unsupported(settings, "axis", "axis must be 1");
}

template <typename Settings>
std::vector<ParamBlob> weightAndBias(const Settings &settings) {
  std::vector<ParamBlob> params = {{&settings.weight_filler()}};
  if (settings.bias_term())
    params.push_back({&settings.bias_filler()});
  return params;
}

std::vector<ParamBlob> convolutionParams(const caffe::LayerParameter &layer) {
  return weightAndBias(layer.convolution_param());
}

std::vector<ParamBlob> deformableParams(const caffe::LayerParameter &layer) {
  return weightAndBias(layer.deformable_convolution_param());
}

void checkConvolution3D(LayerChecker &c) {
  const caffe::ConvolutionParameter &settings = c.layer.convolution3d_param();
  c.refuse(settings,
           {"kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w",
            "pad_l", "pad_r", "pad_t", "pad_b", "pad_type", "dilation", "axis",
            "deformable_group"},
           "is not a setting of C3D's 3-D types");
  c.count(settings, "num_output");
  c.count(settings, "kernel_depth");
  if (settings.kernel_size_size() == 0)
    c.reportMissing(settings, "kernel_size");
  for (const char *field : {"kernel_size", "stride", "pad"}) {
    c.perDimension(settings, field, "", std::string(field) != "pad");
    if (c.locations.find(settings, field, 1))
      c.error(
          settings, field,
          std::string(field) +
              " has one value, for height and width; that of the depth is " +
              (std::string(field) == "kernel_size"
                   ? "kernel_depth"
                   : "temporal_" + std::string(field)),
          1);
  }
  for (const char *field : {"kernel_depth", "temporal_stride", "temporal_pad"})
    c.perDimension(settings, field, "", std::string(field) != "temporal_pad");
  if (settings.group() != 1)
    c.unsupported(settings, "group",
                  "a 3-D convolution with groups is not supported: C3D ignores "
                  "group");
}

std::vector<ParamBlob> convolution3dParams(const caffe::LayerParameter &layer) {
  return weightAndBias(layer.convolution3d_param());
}

void checkInnerProduct(LayerChecker &c) {
  c.count(c.layer.inner_product_param(), "num_output");
}

std::vector<ParamBlob> innerProductParams(const caffe::LayerParameter &layer) {
  return weightAndBias(layer.inner_product_param());
}

} // namespace

/// `engine` has no effect in any type: the library is chosen for the complete
/// net.
LayerRows convolutionLayers() {
  return {
      LayerKind{"Convolution", 1, -1, 1, -1, "convolution_param", true}
          .checkedBy(checkConvolution)
          .withParams(convolutionParams),
      // A layer of a fork: as many groups as channels, regardless of the
      // settings.
      plainKind("ConvolutionDepthwise", "convolution_param")
          .checkedBy(checkConvolutionDepthwise)
          .withParams(convolutionParams),
      // A layer of another fork, optimised for `group` equal to num_output.
      LayerKind{"DepthwiseConvolution", 1, -1, 1, -1, "convolution_param", true}
          .checkedBy(checkConvolution)
          .withParams(convolutionParams),
      LayerKind{"Deconvolution", 1, -1, 1, -1, "convolution_param", true}
          .checkedBy(checkConvolution)
          .withParams(convolutionParams),
      plainKind("Convolution3D", "convolution3d_param")
          .checkedBy(checkConvolution3D)
          .withParams(convolution3dParams),
      plainKind("Deconvolution3D", "convolution3d_param")
          .checkedBy(checkConvolution3D)
          .withParams(convolution3dParams),
      LayerKind{"DeformableConvolution", 2, 2, 1, 1,
                "deformable_convolution_param"}
          .checkedBy(checkDeformableConvolution)
          .withParams(deformableParams),
      plainKind("Im2col", "convolution_param").checkedBy(checkPlainWindow),
      plainKind("InnerProduct", "inner_product_param")
          .checkedBy(checkInnerProduct)
          .withParams(innerProductParams),
  };
}

} // namespace brew::prototxt
