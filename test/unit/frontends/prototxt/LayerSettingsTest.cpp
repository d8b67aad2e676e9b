//===- LayerSettingsTest.cpp - Settings of single layers ------------------===//

#include "frontends/prototxt/check/LayerSettings.h"
#include "Parse.h"

#include <gtest/gtest.h>

namespace brew::prototxt {
namespace {

/// Returns the diagnostics about a layer, without locations and notes.
std::string layerDiagnostics(const std::string &layer) {
  Diagnostics diagnostics;
  auto net = netOf("layer { name: 'l' " + layer + " }", diagnostics);
  const caffe::LayerParameter &checked = net->net().layer(0);
  checkSettings(checked, *findLayerKind(checked.type()), net->locations(),
                diagnostics);
  std::string text = diagnostics.str(), messages;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.find(": note: ") == std::string::npos)
      messages += line.substr(line.find("): ") + 3) + "\n";
  }
  return messages;
}

std::string convolutionDiagnostics(const std::string &settings) {
  return layerDiagnostics("type: 'Convolution' bottom: 'x' top: 'y' "
                          "convolution_param { " +
                          settings + " }");
}

std::string poolingDiagnostics(const std::string &settings) {
  return layerDiagnostics(
      "type: 'Pooling' bottom: 'x' top: 'y' pooling_param { " + settings +
      " }");
}

TEST(LayerSettings, checksConvolution) {
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3"), "");
  EXPECT_EQ(
      convolutionDiagnostics("num_output: 4 kernel_h: 3 kernel_w: 1 pad_h: 1 "
                             "stride: 2 dilation: 2 dilation: 1"),
      "");
  EXPECT_EQ(convolutionDiagnostics("kernel_size: 3"),
            "num_output is missing\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 0 kernel_size: 3"),
            "num_output is 0; it must be at least 1\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4294967295 kernel_size: 3"),
            "num_output is 4294967295, which is too large\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4"),
            "kernel_size is missing\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3 kernel_h: 3"),
            "give either kernel_size or kernel_h and kernel_w, not both\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_h: 3"),
            "kernel_h is given without kernel_w\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 0"),
            "kernel_size is 0; it must be at least 1\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3 stride: 0"),
            "stride is 0; it must be at least 1\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3 stride_w: 2"),
            "stride_w is given without stride_h\n");
  EXPECT_EQ(
      convolutionDiagnostics("num_output: 4 kernel_size: 3 pad: 1 pad_w: 2"),
      "give either pad or pad_h and pad_w, not both\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3 dilation: 0"),
            "dilation is 0; it must be at least 1\n");
  EXPECT_EQ(
      convolutionDiagnostics("num_output: 4 kernel_size: 3 kernel_size: 3 "
                             "kernel_size: 3 axis: -4"),
      "");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3 group: 3"),
            "num_output 4 is not a multiple of group 3\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3 group: 0"),
            "group is 0; it must be at least 1\n");
  EXPECT_EQ(convolutionDiagnostics("num_output: 4 kernel_size: 3 pad_type: 1"),
            "");
  EXPECT_EQ(convolutionDiagnostics(
                "num_output: 4 kernel_size: 3 pad_type: 1 pad_h: 1 "
                "pad_w: 1"),
            "pad_h cannot be given together with pad_type 1\n"
            "pad_w cannot be given together with pad_type 1\n");
}

TEST(LayerSettings, readsConvolutionWindow) {
  caffe::ConvolutionParameter settings;
  settings.add_kernel_size(3);
  settings.add_stride(1);
  settings.add_stride(2);
  settings.set_pad_w(4);
  const ConvolutionWindow window = convolutionWindow(settings);
  EXPECT_EQ(window.kernel, (std::vector<int64_t>{3}));
  EXPECT_EQ(window.stride, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(window.pad, (std::vector<int64_t>{0, 4}));
  EXPECT_TRUE(window.dilation.empty());
  EXPECT_TRUE(window.padEnd.empty());
}

TEST(LayerSettings, readsPaddingOfSides) {
  caffe::ConvolutionParameter settings;
  settings.set_pad_l(1);
  settings.set_pad_r(2);
  settings.set_pad_b(3);
  const ConvolutionWindow window = convolutionWindow(settings);
  EXPECT_EQ(window.pad, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(window.padEnd, (std::vector<int64_t>{3, 2}));
}

TEST(LayerSettings, checksPooling) {
  EXPECT_EQ(poolingDiagnostics("kernel_size: 2 stride: 2"), "");
  EXPECT_EQ(poolingDiagnostics("global_pooling: true"), "");
  EXPECT_EQ(poolingDiagnostics(""), "kernel_size is missing\n");
  EXPECT_EQ(poolingDiagnostics("kernel_h: 2"),
            "kernel_h is given without kernel_w\n");
  EXPECT_EQ(poolingDiagnostics("kernel_size: 2 pad_h: 1"),
            "pad_h is given without pad_w\n");
  EXPECT_EQ(poolingDiagnostics("kernel_size: 2 kernel_w: 2"),
            "give either kernel_size or kernel_h and kernel_w, not both\n");
  EXPECT_EQ(poolingDiagnostics("kernel_size: 2 stride: 0"),
            "stride is 0; it must be at least 1\n");
  EXPECT_EQ(poolingDiagnostics("kernel_size: 2 pad: 2"),
            "pad 2 must be smaller than the kernel, 2\n");
  EXPECT_EQ(poolingDiagnostics("global_pooling: true kernel_size: 2"),
            "kernel_size cannot be given together with global_pooling\n");
  EXPECT_EQ(poolingDiagnostics("global_pooling: true stride: 2"),
            "global_pooling requires pad 0 and stride 1\n");
  EXPECT_EQ(poolingDiagnostics("kernel_size: 2 pool: STOCHASTIC"), "");
  EXPECT_EQ(layerDiagnostics("type: 'Pooling' bottom: 'x' top: 'y' top: 'mask' "
                             "pooling_param { kernel_size: 2 }"),
            "");
  EXPECT_EQ(layerDiagnostics("type: 'Pooling' bottom: 'x' top: 'y' top: 'mask' "
                             "pooling_param { pool: AVE kernel_size: 2 }"),
            "only MAX pooling has a second top\n");
}

TEST(LayerSettings, checksEltwise) {
  auto eltwise = [](const std::string &settings) {
    return layerDiagnostics("type: 'Eltwise' bottom: 'a' bottom: 'b' top: 'y' "
                            "eltwise_param { " +
                            settings + " }");
  };
  EXPECT_EQ(eltwise("coeff: 1 coeff: -1"), "");
  EXPECT_EQ(eltwise("coeff: 1"), "coeff is given 1 times for 2 bottoms; it "
                                 "takes one for each\n");
  EXPECT_EQ(eltwise("operation: PROD coeff: 1 coeff: 1"),
            "coeff requires operation SUM\n");
  EXPECT_EQ(eltwise("operation: MAX coeff: 1 coeff: 1"),
            "coeff has no effect with operation MAX\n");
}

TEST(LayerSettings, checksFillers) {
  auto filler = [](const std::string &settings) {
    return layerDiagnostics(
        "type: 'InnerProduct' bottom: 'x' top: 'y' "
        "inner_product_param { num_output: 2 weight_filler { " +
        settings + " } }");
  };
  EXPECT_EQ(filler("type: 'xavier'"), "");
  EXPECT_EQ(filler("type: 'xaver'"),
            "unknown filler type 'xaver'; did you mean 'xavier'?\n");
  EXPECT_EQ(filler("type: 'uniform' min: 1 max: 0"),
            "the filler has min above max\n");
  EXPECT_EQ(filler("type: 'msra' sparse: 1"),
            "only a gaussian filler can be sparse, not 'msra'\n");
  EXPECT_EQ(filler("type: 'gaussian' sparse: -2"),
            "sparse must not be negative\n");
}

TEST(LayerSettings, checksDataLayers) {
  EXPECT_EQ(layerDiagnostics("type: 'Data' top: 'd' data_param { source: 's' "
                             "batch_size: 1 }"),
            "");
  EXPECT_EQ(layerDiagnostics("type: 'Data' top: 'd'"),
            "batch_size is missing\nsource is missing\n");
  EXPECT_EQ(layerDiagnostics("type: 'Data' top: 'd' data_param { source: 's' "
                             "batch_size: 1 } transform_param { mean_file: 'm' "
                             "mean_value: 1 }"),
            "give either mean_file or mean_value, not both\n");
  EXPECT_EQ(
      layerDiagnostics("type: 'Data' top: 'd' data_param { source: 's' "
                       "batch_size: 1 } transform_param { force_color: true "
                       "force_gray: true }"),
      "force_color and force_gray exclude each other\n");
  EXPECT_EQ(
      layerDiagnostics("type: 'HDF5Data' top: 'd' hdf5_data_param { source: "
                       "'s' batch_size: 1 } transform_param { scale: 2 }"),
      "HDF5 data cannot be transformed\n");
}

TEST(LayerSettings, checksShapesOfInputs) {
  auto input = [](const std::string &settings) {
    return layerDiagnostics(
        "type: 'Input' top: 'a' top: 'b' top: 'c' input_param "
        "{ " +
        settings + " }");
  };
  EXPECT_EQ(input("shape { dim: 2 }"), "");
  EXPECT_EQ(input("shape { }"), "");
  EXPECT_EQ(input("shape { dim: 2 } shape { dim: 3 }"),
            "shape is given 2 times for 3 tops; it takes one, or one for "
            "each\n");
  EXPECT_EQ(input("shape { dim: 0 }"), "dim is 0; it must be at least 1\n");
  EXPECT_EQ(input("shape { dim: 65536 dim: 32768 }"),
            "the blob has more than 2147483647 elements\n");
}

TEST(LayerSettings, checksDummyData) {
  auto dummy = [](const std::string &settings) {
    return layerDiagnostics(
        "type: 'DummyData' top: 'a' top: 'b' dummy_data_param "
        "{ " +
        settings + " }");
  };
  EXPECT_EQ(dummy("shape { dim: 2 }"), "");
  EXPECT_EQ(dummy("num: 1 num: 2 channels: 1 height: 1 width: 1"), "");
  EXPECT_EQ(dummy(""), "shape is missing\n");
  EXPECT_EQ(dummy("num: 1 channels: 1 height: 1"), "width is missing\n");
  EXPECT_EQ(dummy("num: 1 channels: 0 height: 1 width: 1"),
            "channels is 0; it must be at least 1\n");
  EXPECT_EQ(dummy("num: 1 channels: 1 height: 1 width: 1 shape { dim: 1 }"),
            "give either shape or num, channels, height and width, not both\n");
  EXPECT_EQ(dummy("shape { dim: 2 } data_filler { type: 'gausian' }"),
            "unknown filler type 'gausian'; did you mean 'gaussian'?\n");
}

TEST(LayerSettings, checksOtherLayers) {
  EXPECT_EQ(layerDiagnostics("type: 'InnerProduct' bottom: 'x' top: 'y'"),
            "num_output is missing\n");
  EXPECT_EQ(
      layerDiagnostics("type: 'Accuracy' bottom: 'x' bottom: 'l' top: 'y' "
                       "accuracy_param { top_k: 0 }"),
      "top_k must be at least 1\n");
  EXPECT_EQ(layerDiagnostics("type: 'Bias' bottom: 'x' top: 'y' bias_param { "
                             "num_axes: -2 }"),
            "num_axes must be -1 (all the rest), 0 or more\n");
  EXPECT_EQ(layerDiagnostics("type: 'Split' bottom: 'x' top: 'x'"),
            "a Split layer cannot be in-place\n");
}

TEST(LayerSettings, locatesErrorsAtTheirFields) {
  Diagnostics diagnostics;
  auto net =
      netOf("layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y'\n"
            "  convolution_param { num_output: 4\n"
            "    kernel_size: 3\n"
            "    stride: 0 } }",
            diagnostics);
  const caffe::LayerParameter &checked = net->net().layer(0);
  checkSettings(checked, *findLayerKind(checked.type()), net->locations(),
                diagnostics);
  EXPECT_EQ(diagnostics.str(), "f.prototxt:4:5: error: layer 'c' "
                               "(Convolution): stride is 0; it must be at "
                               "least 1\n");
}

TEST(LayerSettings, normalizesLikeCaffe) {
  caffe::LossParameter settings;
  EXPECT_EQ(normalizationOf(settings), caffe::LossParameter::VALID);
  settings.set_normalize(false);
  EXPECT_EQ(normalizationOf(settings), caffe::LossParameter::BATCH_SIZE);
  settings.set_normalize(true);
  EXPECT_EQ(normalizationOf(settings), caffe::LossParameter::VALID);
  settings.set_normalization(caffe::LossParameter::FULL);
  EXPECT_EQ(normalizationOf(settings), caffe::LossParameter::FULL);
}

} // namespace
} // namespace brew::prototxt
