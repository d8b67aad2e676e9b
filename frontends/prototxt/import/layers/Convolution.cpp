//===- Convolution.cpp - Convolution and inner product --------------------===//

#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;

namespace brew::prototxt {

namespace {

template <typename Op>
void setConvolutionWindow(Op op, const caffe::ConvolutionParameter &settings) {
  const ConvolutionWindow window = convolutionWindow(settings);
  op.setKernel(window.kernel);
  op.setStride(window.stride);
  op.setPad(window.pad);
  op.setDilation(window.dilation);
  op.setAxis(settings.axis());
  op.setSame(settings.pad_type() == 1);
  if (!window.padEnd.empty())
    op.setPadEnd(window.padEnd);
}

void buildConvolution(LayerBuilder &l) {
  const caffe::ConvolutionParameter &settings = l.layer.convolution_param();
  for (size_t i = 0; i < l.bottoms.size(); ++i) {
    auto op = l.perBottomOp<ConvolutionOp>(i);
    op.setNumOutput(settings.num_output());
    op.setGroup(settings.group());
    setConvolutionWindow(op, settings);
  }
}

void buildConvolutionDepthwise(LayerBuilder &l) {
  const caffe::ConvolutionParameter &settings = l.layer.convolution_param();
  auto op = l.layerOp<ConvolutionOp>();
  op.setNumOutput(settings.num_output());
  op.setGroup(1);
  op.setDepthwise(true);
  setConvolutionWindow(op, settings);
}

void buildDeconvolution(LayerBuilder &l) {
  const caffe::ConvolutionParameter &settings = l.layer.convolution_param();
  for (size_t i = 0; i < l.bottoms.size(); ++i) {
    // The bias is a separate operation, whose result is the top.
    auto op = settings.bias_term()
                  ? l.firstOp<DeconvolutionOp>(i, {l.bottoms[i], l.params[0]})
                  : l.perBottomOp<DeconvolutionOp>(i);
    op.setNumOutput(settings.num_output());
    op.setGroup(settings.group());
    setConvolutionWindow(op, settings);
    if (!settings.bias_term())
      continue;
    auto bias = l.lastOp<BiasOp>(i, {op.getY(), l.params[1]});
    bias.setAxis(settings.axis());
    bias.setNumAxes(1);
  }
}

void buildIm2col(LayerBuilder &l) {
  setConvolutionWindow(l.layerOp<Im2colOp>(), l.layer.convolution_param());
}

void buildInnerProduct(LayerBuilder &l) {
  const caffe::InnerProductParameter &settings = l.layer.inner_product_param();
  auto op = l.layerOp<InnerProductOp>();
  op.setNumOutput(settings.num_output());
  op.setAxis(settings.axis());
  op.setTranspose(settings.transpose());
}

} // namespace

BuildFunctions convolutionFunctions() {
  return {{"Convolution", buildConvolution},
          {"ConvolutionDepthwise", buildConvolutionDepthwise},
          {"DepthwiseConvolution", buildConvolution},
          {"Deconvolution", buildDeconvolution},
          {"Im2col", buildIm2col},
          {"InnerProduct", buildInnerProduct}};
}

} // namespace brew::prototxt
