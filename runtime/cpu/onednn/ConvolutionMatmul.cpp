//===- ConvolutionMatmul.cpp - 1x1 convolutions as matrix products --------===//
#include "runtime/cpu/onednn/ConvolutionBuilder.h"

#include <algorithm>

namespace brew::runtime::convolution {

/// Returns the gradient of 1x1 weights as a matrix product: dw = dy^T x, where
/// dy and x have a row per pixel. Returns nullopt for other convolutions and
/// on processors without AMX. With AMX, the kernels for convolutions take up to
/// twice as long and write dw in another layout.
std::optional<Candidate> ConvolutionBuilder::weightGradientMatmul() const {
  constexpr memory::dim kMinChannels = 64;
  const memory::dim channels = x.buffer->dims(1), outputs = y.buffer->dims(1);
  if (call.direction() != plan::BACKWARD_WEIGHTS || !isPointwise() ||
      !allEqual(geometry.strides, 1) || b.buffer ||
      x.buffer->type() != plan::BF16 ||
      std::min(channels, outputs) < kMinChannels ||
      plain.x != channelsLast(plain.x) || plain.y != channelsLast(plain.y) ||
      w.buffer->strides(0) != channels || w.buffer->strides(1) != 1)
    return std::nullopt;
  const memory::dim pixels = elementCount(*x.buffer) / channels;
  const memory::desc
      dy = {{outputs, pixels}, typeOf(*y.buffer), memory::dims{1, outputs}},
      in = {{pixels, channels}, typeOf(*x.buffer), memory::dims{channels, 1}},
      dw = {{outputs, channels}, typeOf(*w.buffer), memory::dims{channels, 1}};
  Candidate result;
  result.name = "product";
  result.description = dnnl::matmul::primitive_desc(
      context.engine, dy, in, dw, attributesFor(call.epilogue(), false, false),
      true);
  if (!result.description.get(true) ||
      std::string(result.description.impl_info_str()).find("amx") ==
          std::string::npos)
    return std::nullopt;
  auto addOperand = [&](int argument, BoundBuffer bound,
                        const memory::desc &layout, const memory::desc &view) {
    DnnlOperand operand;
    operand.argument = argument;
    operand.data = bound.data;
    operand.layout = operand.staged = layout;
    operand.view = view;
    operand.written = argument == DNNL_ARG_DST;
    operand.accumulate = operand.written && call.epilogue().accumulate();
    result.operands.push_back(operand);
  };
  addOperand(DNNL_ARG_SRC, y, plain.y, dy);
  addOperand(DNNL_ARG_WEIGHTS, x, plain.x, in);
  addOperand(DNNL_ARG_DST, w, plain.w, dw);
  return result;
}

/// Returns the distance between adjacent pixels of images whose channels are
/// contiguous and whose pixels are evenly spaced: the number of channels of
/// the buffer or, if it is a slice, of the concatenated blob. Returns 0 for
/// other layouts.
static std::int64_t pixelStride(const plan::Buffer &buffer) {
  const int rank = buffer.dims_size();
  if (rank < 3 || (buffer.dims(1) > 1 && buffer.strides(1) != 1))
    return 0;
  const std::int64_t stride = buffer.strides(rank - 1);
  std::int64_t expected = stride;
  for (int d : {4, 3, 2, 0}) {
    if (d >= rank)
      continue;
    if (buffer.dims(d) > 1 && buffer.strides(d) != expected)
      return 0;
    expected *= buffer.dims(d);
  }
  return stride;
}

/// Returns a 1x1 convolution whose result is a slice of a concatenated blob, as
/// the product of pixels and weights; nullopt for other convolutions. Kernels
/// for convolutions would need a copy, since they only write dense blobs.
std::optional<Candidate> ConvolutionBuilder::sliceMatmul() const {
  const memory::dim channels = x.buffer->dims(1), outputs = y.buffer->dims(1);
  const memory::dim xPixelStride = pixelStride(*x.buffer),
                    yPixelStride = pixelStride(*y.buffer);
  if (call.direction() != plan::FORWARD || !isPointwise() ||
      !allEqual(geometry.strides, 1) || xPixelStride < channels ||
      yPixelStride <= outputs)
    return std::nullopt;
  const memory::dim pixels = elementCount(*y.buffer) / outputs;
  const memory::desc in = {{pixels, channels},
                           typeOf(*x.buffer),
                           {xPixelStride, 1}},
                     out = {{pixels, outputs},
                            typeOf(*y.buffer),
                            {yPixelStride, 1}},
                     weights = {{channels, outputs},
                                typeOf(*w.buffer),
                                {w.buffer->strides(1), w.buffer->strides(0)}};
  memory::desc biasLayout;
  if (b.buffer)
    biasLayout = {{1, outputs}, typeOf(*b.buffer), {outputs, 1}};
  const plan::Epilogue &epilogue = call.epilogue();
  Candidate result;
  result.name = "product";
  result.description = dnnl::matmul::primitive_desc(
      context.engine, in, anyLayout(weights), biasLayout, out,
      attributesFor(epilogue, epilogue.accumulate(), epilogue.relu()), true);
  if (!result.description.get(true) || isReferenceKernel(result.description))
    return std::nullopt;
  result.addOperand(DNNL_ARG_SRC, x, in, false);
  result.addOperand(DNNL_ARG_WEIGHTS, w, weights, false);
  if (b.buffer)
    result.addOperand(DNNL_ARG_BIAS, b, biasLayout, false);
  result.addOperand(DNNL_ARG_DST, y, out, true);
  return result;
}

/// Returns whether this is an ungrouped convolution with 1x1 windows and no
/// padding. Strides may be larger than 1.
bool ConvolutionBuilder::isPointwise() const {
  return call.group() == 1 &&
         elementCount(*w.buffer) == w.buffer->dims(0) * w.buffer->dims(1) &&
         allEqual(geometry.padding, 0) && allEqual(geometry.paddingEnd, 0);
}

} // namespace brew::runtime::convolution
