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

/// Sets the window of C3D's layers: depth, height, width.
template <typename Op>
void set3dWindow(Op op, const caffe::ConvolutionParameter &settings) {
  const int64_t size = settings.kernel_size(0);
  const int64_t stride = settings.stride_size() ? settings.stride(0) : 1;
  const int64_t pad = settings.pad_size() ? settings.pad(0) : 0;
  op.setKernel({settings.kernel_depth(), size, size});
  op.setStride({settings.temporal_stride(), stride, stride});
  op.setPad({settings.temporal_pad(), pad, pad});
  op.setDilation({1, 1, 1});
  op.setGroup(1);
  op.setNumOutput(settings.num_output());
}

void buildConvolution3D(LayerBuilder &l) {
  set3dWindow(l.layerOp<ConvolutionOp>(), l.layer.convolution3d_param());
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

/// Builds the deconvolution of each bottom; `setWindow` sets the attributes of
/// the operation.
template <typename SetWindow>
void addDeconvolutions(LayerBuilder &l, bool hasBias, int axis,
                       const SetWindow &setWindow) {
  for (size_t i = 0; i < l.bottoms.size(); ++i) {
    // The bias is a separate operation, whose result is the top.
    auto op = hasBias
                  ? l.firstOp<DeconvolutionOp>(i, {l.bottoms[i], l.params[0]})
                  : l.perBottomOp<DeconvolutionOp>(i);
    setWindow(op);
    if (!hasBias)
      continue;
    auto bias = l.lastOp<BiasOp>(i, {op.getY(), l.params[1]});
    bias.setAxis(axis);
    bias.setNumAxes(1);
  }
}

void buildDeconvolution(LayerBuilder &l) {
  const caffe::ConvolutionParameter &settings = l.layer.convolution_param();
  addDeconvolutions(l, settings.bias_term(), settings.axis(),
                    [&](DeconvolutionOp op) {
                      op.setNumOutput(settings.num_output());
                      op.setGroup(settings.group());
                      setConvolutionWindow(op, settings);
                    });
}

void buildDeconvolution3D(LayerBuilder &l) {
  const caffe::ConvolutionParameter &settings = l.layer.convolution3d_param();
  addDeconvolutions(l, settings.bias_term(), 1,
                    [&](DeconvolutionOp op) { set3dWindow(op, settings); });
}

/// A convolution over the windows that the offsets move.
void buildDeformableConvolution(LayerBuilder &l) {
  const caffe::ConvolutionParameter &settings =
      l.layer.deformable_convolution_param();
  auto windows = l.firstOp<DeformableWindowsOp>(0, l.bottoms);
  windows.setPropagateDownAttr(l.propagateDown());
  setConvolutionWindow(windows, settings);
  windows.setOffsetGroups(settings.deformable_group());
  llvm::SmallVector<mlir::Value> operands = {windows.getY()};
  llvm::append_range(operands, l.params);
  auto op = l.lastOp<ConvolutionOp>(0, operands);
  op.setNumOutput(settings.num_output());
  op.setGroup(settings.group());
  op.setKernel(windows.getKernel());
  op.setStride(windows.getKernel());
  op.setPad({0});
  op.setDilation({1});
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
          {"Convolution3D", buildConvolution3D},
          {"ConvolutionDepthwise", buildConvolutionDepthwise},
          {"DepthwiseConvolution", buildConvolution},
          {"Deconvolution", buildDeconvolution},
          {"DeformableConvolution", buildDeformableConvolution},
          {"Deconvolution3D", buildDeconvolution3D},
          {"Im2col", buildIm2col},
          {"InnerProduct", buildInnerProduct}};
}

} // namespace brew::prototxt
