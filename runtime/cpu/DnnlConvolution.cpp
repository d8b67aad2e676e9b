//===- DnnlConvolution.cpp - Convolutions by oneDNN -----------------------===//
//
// oneDNN's fast kernels want weights in blocked layouts that depend on the
// machine, and some want activations so too. Several combinations are tried and
// the cheapest by a fixed estimate is taken, the cost of reorders included. The
// estimate involves no clock: the same plan gives the same bits on every run.
// Where calls are measured (CallChooser.h), all that oneDNN offers for these
// combinations is a candidate.
//
//===----------------------------------------------------------------------===//
#include "formats/Error.h"
#include "runtime/cpu/DnnlCall.h"
#include "runtime/cpu/WinogradConvolution.h"
#include "runtime/plan/WindowAxes.h"

#include <algorithm>
#include <optional>

namespace brew::runtime {

using dnnl::algorithm;
using dnnl::memory;
using plan::ConvolutionCall;

namespace {

/// The layouts asked of oneDNN for one attempt, and what they are called.
struct Layouts {
  const char *name;
  memory::desc x, w, y;
};

struct Geometry {
  memory::dims strides, dilates, padding, paddingEnd;
};

struct Attempt {
  std::string name; ///< of the layouts asked for and of oneDNN's kernel
  dnnl::primitive_desc description;
  std::vector<DnnlOperand> operands;
  bool reluAfter = false;
  double cost = 0;
};

class ConvolutionBuilder {
public:
  ConvolutionBuilder(DnnlContext &context, const ConvolutionCall &call,
                     BoundBuffer x, BoundBuffer w, BoundBuffer b, BoundBuffer y)
      : context(context), call(call), x(x), w(w), b(b),
        y(y), plain{"plain", layoutOf(*x.buffer), weightLayout(),
                    layoutOf(*y.buffer)} {
    for (const plan::WindowAxis &axis :
         plan::axesOf(call.window(), x.buffer->dims_size() - 2)) {
      geometry.strides.push_back(axis.stride);
      // oneDNN counts the elements left out, Caffe the distance.
      geometry.dilates.push_back(axis.dilation - 1);
      geometry.padding.push_back(axis.pad);
      geometry.paddingEnd.push_back(axis.padEnd);
    }
    if (b.buffer)
      bias = {{b.buffer->dims(0)}, typeOf(*b.buffer), memory::dims{1}};
  }

  std::unique_ptr<DnnlCall> build(const std::string &where) const;
  /// All that oneDNN offers, the one that build() takes first.
  std::vector<Attempt> all() const;
  std::unique_ptr<DnnlCall> build(DnnlContext &context,
                                  const Attempt &attempt) const;

private:
  memory::desc weightLayout() const;
  static memory::desc anyLayout(const memory::desc &like) {
    return {like.get_dims(), like.get_data_type(), memory::format_tag::any};
  }
  static memory::desc channelsLast(const memory::desc &like) {
    using tag = memory::format_tag;
    const int rank = like.get_ndims();
    return {like.get_dims(), like.get_data_type(),
            rank == 3   ? tag::nwc
            : rank == 4 ? tag::nhwc
                        : tag::ndhwc};
  }
  std::vector<Layouts> combinations() const;
  std::vector<dnnl::primitive_desc>
  offers(const Layouts &layouts, const dnnl::primitive_attr &attributes,
         bool all) const;
  std::vector<dnnl::primitive_desc> inOrder(const dnnl::primitive_desc &first,
                                            bool all) const;
  const char *betterFamily() const;
  std::vector<Attempt> attempts(const Layouts &layouts, bool all) const;
  Attempt attempt(const Layouts &layouts, const dnnl::primitive_desc &offer,
                  bool sumInside, bool reluInside) const;
  std::optional<Attempt> weightsProduct() const;
  std::optional<Attempt> partProduct() const;
  bool isPointwise() const;
  std::optional<Attempt> cheapest() const;
  bool isDepthwise() const;
  double estimate(const Attempt &attempt) const;

  DnnlContext &context;
  const ConvolutionCall &call;
  BoundBuffer x, w, b, y;
  Layouts plain;
  memory::desc bias;
  Geometry geometry;
};

/// Whether it is one of a family of oneDNN's kernels.
bool isKernel(const dnnl::primitive_desc &offer, const char *family) {
  return offer.get(true) &&
         std::string(offer.impl_info_str()).find(family) == 0;
}

/// Whether operands lie alike where the primitives work.
bool sameLayouts(const Attempt &a, const Attempt &b) {
  return std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(),
                    b.operands.end(),
                    [](const DnnlOperand &one, const DnnlOperand &other) {
                      return one.argument == other.argument &&
                             one.staged == other.staged;
                    });
}

} // namespace

/// Weights as oneDNN has them: groups are a dimension of their own.
memory::desc ConvolutionBuilder::weightLayout() const {
  const plan::Buffer &buffer = *w.buffer;
  if (call.group() == 1)
    return layoutOf(buffer);
  std::int64_t perGroup = buffer.dims(0) / call.group();
  memory::dims dims = {call.group(), perGroup};
  memory::dims strides = {perGroup * buffer.strides(0), buffer.strides(0)};
  for (int d = 1; d < buffer.dims_size(); ++d) {
    dims.push_back(buffer.dims(d));
    strides.push_back(buffer.strides(d));
  }
  return {dims, typeOf(buffer), strides};
}

/// What oneDNN has for these layouts, the kernel to be taken first; only that
/// one without `all`.
std::vector<dnnl::primitive_desc>
ConvolutionBuilder::offers(const Layouts &layouts,
                           const dnnl::primitive_attr &attributes,
                           bool all) const {
  const auto &[strides, dilates, padding, paddingEnd] = geometry;
  constexpr auto direct = algorithm::convolution_direct;
  if (call.direction() == plan::FORWARD)
    return inOrder(
        dnnl::convolution_forward::primitive_desc(
            context.engine, dnnl::prop_kind::forward_training, direct,
            layouts.x, layouts.w, bias, layouts.y, strides, dilates, padding,
            paddingEnd, attributes, true),
        all);
  // Backward primitives take a forward one as a hint; any will do. The others
  // can be asked for only while the hint is there.
  dnnl::convolution_forward::primitive_desc hint(
      context.engine, dnnl::prop_kind::forward_training, direct,
      anyLayout(plain.x), anyLayout(plain.w), anyLayout(plain.y), strides,
      dilates, padding, paddingEnd);
  if (call.direction() == plan::BACKWARD_WEIGHTS)
    return inOrder(dnnl::convolution_backward_weights::primitive_desc(
                       context.engine, direct, layouts.x, layouts.w, bias,
                       layouts.y, strides, dilates, padding, paddingEnd, hint,
                       attributes, true),
                   all);
  return inOrder(dnnl::convolution_backward_data::primitive_desc(
                     context.engine, direct, layouts.x, layouts.w, layouts.y,
                     strides, dilates, padding, paddingEnd, hint, attributes,
                     true),
                 all);
}

/// A family of kernels that is faster than what oneDNN 3.2 offers first; null:
/// none.
const char *ConvolutionBuilder::betterFamily() const {
  const bool isNarrow = x.buffer->type() == plan::BF16;
  auto all = [](const memory::dims &values, memory::dim value) {
    return std::all_of(values.begin(), values.end(),
                       [&](memory::dim v) { return v == value; });
  };
  // For a stride of 2 in bf16 it is the general kernel, which takes three times
  // as long as the one for depthwise convolutions.
  if (isDepthwise())
    return call.direction() == plan::BACKWARD_DATA ? "jit_dw" : nullptr;
  // Kernels of 1x1 on processors with AVX-512 and without AMX, measured on an
  // AMD EPYC: those that take the time of the others, or less, for images of so
  // many pixels.
  constexpr std::int64_t kManyPixels = 512;
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (call.group() != 1 || isa < dnnl::cpu_isa::avx512_core ||
      isa >= dnnl::cpu_isa::avx512_core_amx ||
      elementCount(*w.buffer) != w.buffer->dims(0) * w.buffer->dims(1) ||
      !all(geometry.padding, 0))
    return nullptr;
  const bool isStrided = !all(geometry.strides, 1);
  const bool hasManyPixels =
      elementCount(*y.buffer) / (y.buffer->dims(0) * y.buffer->dims(1)) >=
      kManyPixels;
  switch (call.direction()) {
  case plan::FORWARD:
    if (isNarrow)
      return isStrided || hasManyPixels ? "jit_bf16_1x1" : nullptr;
    return isStrided ? "jit_1x1" : nullptr;
  case plan::BACKWARD_DATA:
    if (isNarrow)
      return "jit_bf16_1x1";
    return isStrided ? "jit_1x1" : nullptr;
  case plan::BACKWARD_WEIGHTS:
    return !isNarrow && !isStrided && hasManyPixels ? "x64:gemm" : nullptr;
  }
  return nullptr;
}

/// What oneDNN has, one of a better family in front where there is one.
std::vector<dnnl::primitive_desc>
ConvolutionBuilder::inOrder(const dnnl::primitive_desc &first,
                            bool all) const {
  const char *family = betterFamily();
  const bool looks = family && !isKernel(first, family);
  std::vector<dnnl::primitive_desc> result = offersOf(first, all || looks);
  if (!looks)
    return result;
  const auto better = std::find_if(
      result.begin(), result.end(), [&](const dnnl::primitive_desc &offer) {
        return isKernel(offer, family);
      });
  if (better != result.end())
    std::rotate(result.begin(), better, better + 1);
  if (!all)
    result.resize(1);
  return result;
}

std::vector<Attempt> ConvolutionBuilder::attempts(const Layouts &layouts,
                                                  bool all) const {
  bool forward = call.direction() == plan::FORWARD;
  bool accumulate = call.epilogue().accumulate();
  // oneDNN itself can add to y only where y already has the layout it wants;
  // else the sum, and the ReLU that comes after it, are steps of their own.
  bool direct = layouts.y == plain.y;
  bool sumInside = forward && accumulate && direct;
  bool reluInside =
      forward && call.epilogue().relu() && (!accumulate || direct);
  std::vector<dnnl::primitive_desc> offered;
  try {
    offered = offers(layouts,
                     attributesFor(call.epilogue(), sumInside, reluInside),
                     all);
  } catch (const dnnl::error &error) {
    if (error.status == dnnl_unimplemented ||
        error.status == dnnl_invalid_arguments)
      return {};
    throw;
  }
  std::vector<Attempt> result;
  for (const dnnl::primitive_desc &offer : offered)
    if (!isReferenceKernel(offer))
      result.push_back(attempt(layouts, offer, sumInside, reluInside));
  return result;
}

Attempt ConvolutionBuilder::attempt(const Layouts &layouts,
                                    const dnnl::primitive_desc &offer,
                                    bool sumInside, bool reluInside) const {
  Attempt result;
  result.name = std::string(layouts.name) + " " + kernelName(offer);
  result.description = offer;
  result.reluAfter = call.epilogue().relu() && !reluInside;

  auto addOperand = [&](int argument, BoundBuffer bound,
                        const memory::desc &layout, bool written) {
    DnnlOperand operand;
    operand.argument = argument;
    operand.data = bound.data;
    operand.layout = layout;
    operand.staged =
        result.description.query_md(dnnl::query::exec_arg_md, argument);
    operand.view = operand.staged;
    operand.written = written;
    operand.isFixed = bound.isFixed && !written;
    operand.accumulate =
        written && call.epilogue().accumulate() && !sumInside;
    result.operands.push_back(operand);
  };
  switch (call.direction()) {
  case plan::FORWARD:
    addOperand(DNNL_ARG_SRC, x, plain.x, false);
    addOperand(DNNL_ARG_WEIGHTS, w, plain.w, false);
    if (b.buffer)
      addOperand(DNNL_ARG_BIAS, b, layoutOf(*b.buffer), false);
    addOperand(DNNL_ARG_DST, y, plain.y, true);
    break;
  case plan::BACKWARD_DATA:
    addOperand(DNNL_ARG_DIFF_DST, y, plain.y, false);
    addOperand(DNNL_ARG_WEIGHTS, w, plain.w, false);
    addOperand(DNNL_ARG_DIFF_SRC, x, plain.x, true);
    break;
  case plan::BACKWARD_WEIGHTS:
    addOperand(DNNL_ARG_SRC, x, plain.x, false);
    addOperand(DNNL_ARG_DIFF_DST, y, plain.y, false);
    addOperand(DNNL_ARG_DIFF_WEIGHTS, w, plain.w, true);
    if (b.buffer)
      addOperand(DNNL_ARG_DIFF_BIAS, b, layoutOf(*b.buffer), true);
    break;
  }
  result.cost = estimate(result);
  return result;
}

/// Gradients of 1x1 weights as the product of two matrices, dy transposed and
/// x, whose rows are pixels: on processors with AMX, where the convolution's
/// kernels take up to twice as long and give the weights in a layout of theirs.
std::optional<Attempt> ConvolutionBuilder::weightsProduct() const {
  constexpr memory::dim leastChannels = 64;
  const memory::dim channels = x.buffer->dims(1), outputs = y.buffer->dims(1);
  if (call.direction() != plan::BACKWARD_WEIGHTS || !isPointwise() ||
      b.buffer || x.buffer->type() != plan::BF16 ||
      std::min(channels, outputs) < leastChannels ||
      plain.x != channelsLast(plain.x) || plain.y != channelsLast(plain.y) ||
      w.buffer->strides(0) != channels || w.buffer->strides(1) != 1)
    return std::nullopt;
  const memory::dim pixels = elementCount(*x.buffer) / channels;
  const memory::desc
      dy = {{outputs, pixels}, typeOf(*y.buffer), memory::dims{1, outputs}},
      in = {{pixels, channels}, typeOf(*x.buffer), memory::dims{channels, 1}},
      dw = {{outputs, channels}, typeOf(*w.buffer), memory::dims{channels, 1}};
  Attempt result;
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

/// The distance between neighbouring pixels of images whose channels are side
/// by side and whose pixels are evenly apart: the channels, or those of a joined
/// blob of which they are a part. 0 for others.
static std::int64_t pixelStride(const plan::Buffer &buffer) {
  const int rank = buffer.dims_size();
  if (rank < 3 || (buffer.dims(1) > 1 && buffer.strides(1) != 1))
    return 0;
  const std::int64_t apart = buffer.strides(rank - 1);
  std::int64_t expected = apart;
  for (int d : {4, 3, 2, 0}) {
    if (d >= rank)
      continue;
    if (buffer.dims(d) > 1 && buffer.strides(d) != expected)
      return 0;
    expected *= buffer.dims(d);
  }
  return apart;
}

/// 1x1 with results in a part of a joined blob as the product of pixels and
/// weights: the convolution's kernels want all of a blob's bytes, so that they
/// would need a copy.
std::optional<Attempt> ConvolutionBuilder::partProduct() const {
  const memory::dim channels = x.buffer->dims(1), outputs = y.buffer->dims(1);
  const memory::dim from = pixelStride(*x.buffer), to = pixelStride(*y.buffer);
  if (call.direction() != plan::FORWARD || !isPointwise() || from < channels ||
      to <= outputs)
    return std::nullopt;
  const memory::dim pixels = elementCount(*y.buffer) / outputs;
  const memory::desc in = {{pixels, channels}, typeOf(*x.buffer), {from, 1}},
                     out = {{pixels, outputs}, typeOf(*y.buffer), {to, 1}},
                     weights = {{channels, outputs},
                                typeOf(*w.buffer),
                                {w.buffer->strides(1), w.buffer->strides(0)}};
  memory::desc added;
  if (b.buffer)
    added = {{1, outputs}, typeOf(*b.buffer), {outputs, 1}};
  const plan::Epilogue &epilogue = call.epilogue();
  Attempt result;
  result.name = "product";
  result.description = dnnl::matmul::primitive_desc(
      context.engine, in, anyLayout(weights), added, out,
      attributesFor(epilogue, epilogue.accumulate(), epilogue.relu()), true);
  if (!result.description.get(true) || isReferenceKernel(result.description))
    return std::nullopt;
  auto addOperand = [&](int argument, BoundBuffer bound,
                        const memory::desc &layout) {
    DnnlOperand operand;
    operand.argument = argument;
    operand.data = bound.data;
    operand.layout = layout;
    operand.staged =
        result.description.query_md(dnnl::query::exec_arg_md, argument);
    operand.view = operand.staged;
    operand.written = argument == DNNL_ARG_DST;
    operand.isFixed = bound.isFixed && !operand.written;
    result.operands.push_back(operand);
  };
  addOperand(DNNL_ARG_SRC, x, in);
  addOperand(DNNL_ARG_WEIGHTS, w, weights);
  if (b.buffer)
    addOperand(DNNL_ARG_BIAS, b, added);
  addOperand(DNNL_ARG_DST, y, out);
  return result;
}

/// Windows of one pixel, all of them, in one group.
bool ConvolutionBuilder::isPointwise() const {
  auto all = [](const memory::dims &values, memory::dim value) {
    return std::all_of(values.begin(), values.end(),
                       [&](memory::dim v) { return v == value; });
  };
  return call.group() == 1 &&
         elementCount(*w.buffer) == w.buffer->dims(0) * w.buffer->dims(1) &&
         all(geometry.strides, 1) && all(geometry.padding, 0) &&
         all(geometry.paddingEnd, 0);
}

/// One channel of x and of y to each group.
bool ConvolutionBuilder::isDepthwise() const {
  return call.group() > 1 && w.buffer->dims(1) == 1 &&
         w.buffer->dims(0) == call.group();
}

/// Seconds on one core, by round numbers of a machine with AVX-512; only the
/// ratios matter. Blocked kernels compute on channels padded to 16, and im2col
/// with a matrix product runs at about 40 % of their rate.
double ConvolutionBuilder::estimate(const Attempt &attempt) const {
  constexpr double blockedRate = 100e9, productRate = 40e9,
                   thinProductRate = 3e9, copyRate = 3e9;
  const plan::Buffer &weights = *w.buffer, &result = *y.buffer;
  double operations = 2.0 * static_cast<double>(elementCount(result)) *
                      static_cast<double>(elementCount(weights)) /
                      static_cast<double>(weights.dims(0));
  const char *family = betterFamily();
  const bool product = (isKernel(attempt.description, "gemm") ||
                        isKernel(attempt.description, "x64:gemm")) &&
                       !(family && isKernel(attempt.description, family));
  // Products with one column, or one row, are copies of windows for the most.
  double seconds = operations / (isDepthwise() ? thinProductRate : productRate);
  if (!product) {
    std::int64_t channels = call.direction() == plan::BACKWARD_DATA
                                ? weights.dims(1)
                                : weights.dims(0) / call.group();
    auto padded = static_cast<double>((channels + 15) / 16 * 16);
    seconds = operations * padded / static_cast<double>(channels) / blockedRate;
  }
  for (const DnnlOperand &operand : attempt.operands)
    if (!operand.isFixed && !(operand.layout == operand.staged))
      seconds += static_cast<double>(operand.staged.get_size()) / copyRate;
  return seconds;
}

std::vector<Layouts> ConvolutionBuilder::combinations() const {
  const memory::desc anyW = anyLayout(plain.w);
  return {plain,
          {"packed-weights", plain.x, anyW, plain.y},
          {"channels-last", channelsLast(plain.x), anyW, channelsLast(plain.y)},
          {"blocked", anyLayout(plain.x), anyW, anyLayout(plain.y)}};
}

std::optional<Attempt> ConvolutionBuilder::cheapest() const {
  std::optional<Attempt> best = weightsProduct();
  if (!best)
    best = partProduct();
  if (best)
    return best;
  for (const Layouts &layouts : combinations())
    for (Attempt &next : attempts(layouts, /*all=*/false))
      if (!best || next.cost < best->cost)
        best = std::move(next);
  return best;
}

std::vector<Attempt> ConvolutionBuilder::all() const {
  std::vector<Attempt> result;
  // Combinations may come to the same layouts.
  auto add = [&](Attempt &&attempt) {
    auto isSame = [&](const Attempt &other) {
      return attempt.name == other.name || (kernelName(attempt.description) ==
                                                kernelName(other.description) &&
                                            sameLayouts(attempt, other));
    };
    if (std::none_of(result.begin(), result.end(), isSame))
      result.push_back(std::move(attempt));
  };
  if (std::optional<Attempt> first = cheapest())
    add(std::move(*first));
  for (const Layouts &layouts : combinations())
    for (Attempt &each : attempts(layouts, /*all=*/true))
      add(std::move(each));
  return result;
}

std::unique_ptr<DnnlCall>
ConvolutionBuilder::build(DnnlContext &memory, const Attempt &attempt) const {
  auto result = std::make_unique<DnnlCall>(memory);
  result->add(attempt.description, attempt.operands);
  if (attempt.reluAfter)
    result->addRelu(plain.y, y.data, call.epilogue().negative_slope());
  return result;
}

std::unique_ptr<DnnlCall>
ConvolutionBuilder::build(const std::string &where) const {
  const std::optional<Attempt> best = cheapest();
  if (!best)
    throw machineLacks(where + ": oneDNN has no fast kernel for this "
                               "convolution on this machine (compile the net "
                               "with --no-library=conv)");
  return build(context, *best);
}

std::unique_ptr<CpuCall> makeConvolution(DnnlContext &context,
                                         const ConvolutionCall &call,
                                         BoundBuffer x, BoundBuffer w,
                                         BoundBuffer b, BoundBuffer y,
                                         const std::string &where) {
  if (!multiplies(x.buffer->type()))
    throw machineLacks(where + ": oneDNN convolutions compute in f32 and bf16 "
                               "only (compile an f64 net with --no-library)");
  try {
    if (auto winograd = makeWinograd(context, call, x, w, b, y))
      return winograd;
    return ConvolutionBuilder(context, call, x, w, b, y).build(where);
  } catch (const dnnl::error &error) {
    throw machineLacks(where + ": oneDNN refuses this convolution (" +
                       error.what() + ")");
  }
}

std::vector<CallCandidate>
convolutionCandidates(DnnlContext &context, const ConvolutionCall &call,
                      BoundBuffer x, BoundBuffer w, BoundBuffer b,
                      BoundBuffer y) {
  std::vector<CallCandidate> result;
  const auto builder =
      std::make_shared<ConvolutionBuilder>(context, call, x, w, b, y);
  for (Attempt &attempt : builder->all()) {
    std::string name = attempt.name;
    result.push_back({std::move(name), [builder, attempt](DnnlContext &own) {
                        return builder->build(own, attempt);
                      }});
  }
  const std::int64_t first = winogradTile(context, call, x, w, b, y);
  for (std::int64_t tile : winogradTiles(context, call, x, w, b, y)) {
    const std::string edge = std::to_string(tile);
    CallCandidate each{"winograd " + edge + "x" + edge,
                       [=, &call](DnnlContext &own) {
                         return makeWinograd(own, call, x, w, b, y, tile);
                       }};
    result.insert(tile == first ? result.begin() : result.end(),
                  std::move(each));
  }
  return result;
}

} // namespace brew::runtime
