//===- Convolution.cpp - Convolution and inner product --------------------===//

#include "frontends/prototxt/LayerBuild.h"
#include "frontends/prototxt/LayerCheck.h"

#include <climits>

namespace brew::prototxt {

namespace {

void checkConvolution(LayerCheck &c) {
  const caffe::ConvolutionParameter &settings = c.layer.convolution_param();
  c.count(settings, "num_output");
  if (settings.axis() != 1)
    c.error(settings, "axis",
            "axis " + std::to_string(settings.axis()) +
                " is not supported yet; channels must be dimension 1");
  if (settings.kernel_size_size() == 0 && !settings.has_kernel_h() &&
      !settings.has_kernel_w())
    c.missing(settings, "kernel_size");
  c.pairs(settings, "kernel_size", "kernel", true);
  c.pairs(settings, "stride", "stride", true);
  c.pairs(settings, "pad", "pad", false);
  c.pairs(settings, "dilation", "", true);
  if (settings.group() == 0 || settings.group() > INT_MAX)
    c.error(settings, "group",
            "group is " + std::to_string(settings.group()) +
                "; it must be at least 1");
  else if (settings.num_output() % settings.group())
    c.error(settings, "num_output",
            "num_output " + std::to_string(settings.num_output()) +
                " is not a multiple of group " +
                std::to_string(settings.group()));
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

void buildConvolution(LayerBuild &l) {
  const caffe::ConvolutionParameter &settings = l.layer.convolution_param();
  const Window window = convolutionWindow(settings);
  for (int i = 0; i < l.bottoms(); ++i)
    l.slice("convolution", i)
        .integer("num_output", settings.num_output())
        .integers("kernel", listOf(window.kernel))
        .integers("stride", listOf(window.stride))
        .integers("pad", listOf(window.pad))
        .integers("dilation", listOf(window.dilation))
        .integer("group", settings.group());
}

void checkInnerProduct(LayerCheck &c) {
  c.count(c.layer.inner_product_param(), "num_output");
}

std::vector<ParamBlob> innerProductParams(const caffe::LayerParameter &layer) {
  return weightAndBias(layer.inner_product_param());
}

void buildInnerProduct(LayerBuild &l) {
  const caffe::InnerProductParameter &settings = l.layer.inner_product_param();
  l.whole("inner_product")
      .integer("num_output", settings.num_output())
      .integer("axis", settings.axis())
      .flag("transpose", settings.transpose());
}

} // namespace

/// `engine` is a hint in every type that has it: which library computes a
/// layer is decided for the whole net.
LayerRows convolutionLayers() {
  return {
      LayerKind{"Convolution", 1, -1, 1, -1, "convolution_param", true}
          .checkedBy(checkConvolution)
          .withParams(convolutionParams)
          .builtBy(buildConvolution),
      plainKind("InnerProduct", "inner_product_param")
          .checkedBy(checkInnerProduct)
          .withParams(innerProductParams)
          .builtBy(buildInnerProduct),
  };
}

} // namespace brew::prototxt
