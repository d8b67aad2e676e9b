//===- DnnlConvolution.cpp - Convolutions by oneDNN -----------------------===//
//
// oneDNN's fast kernels need weights, and some also activations, in blocked
// layouts that depend on the machine. A cost model selects the cheapest of
// several combinations of layouts, including the cost of reorders. The model
// does not measure time, so that a plan computes the same bits in every run.
// When calls are tuned (CallTuner.h), all of oneDNN's implementations for these
// combinations are candidates.
//
//===----------------------------------------------------------------------===//
#include "runtime/cpu/onednn/ConvolutionBuilder.h"
#include "runtime/cpu/winograd/WinogradConvolution.h"
#include "support/Error.h"

#include <algorithm>
#include <optional>

namespace brew::runtime {

using dnnl::algorithm;

namespace convolution {

namespace {

/// Returns whether the kernel belongs to a family of oneDNN's kernels.
bool isOfFamily(const dnnl::primitive_desc &implementation,
                const char *family) {
  return implementation.get(true) &&
         std::string(implementation.impl_info_str()).find(family) == 0;
}

/// Returns whether the primitives use equal layouts.
bool haveEqualLayouts(const Candidate &a, const Candidate &b) {
  return std::equal(
      a.operands.begin(), a.operands.end(), b.operands.begin(),
      b.operands.end(), [](const DnnlOperand &left, const DnnlOperand &right) {
        return left.argument == right.argument && left.staged == right.staged;
      });
}

} // namespace

/// Returns oneDNN's layout of the weights, in which groups are a dimension.
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

/// Returns oneDNN's implementations for these layouts, starting with the
/// preferred one; without `all`, only that one.
std::vector<dnnl::primitive_desc>
ConvolutionBuilder::implementations(const Layouts &layouts,
                                    const dnnl::primitive_attr &attributes,
                                    bool all) const {
  const auto &[strides, dilates, padding, paddingEnd] = geometry;
  constexpr auto direct = algorithm::convolution_direct;
  if (call.direction() == plan::FORWARD)
    return preferredFirst(dnnl::convolution_forward::primitive_desc(
                              context.engine, dnnl::prop_kind::forward_training,
                              direct, layouts.x, layouts.w, bias, layouts.y,
                              strides, dilates, padding, paddingEnd, attributes,
                              true),
                          all);
  // Backward primitives need any forward primitive as a hint, also while their
  // implementations are enumerated. Its weights may be narrower than their
  // gradient.
  const memory::desc hintWeights(plain.w.get_dims(), plain.x.get_data_type(),
                                 memory::format_tag::any);
  dnnl::convolution_forward::primitive_desc hint(
      context.engine, dnnl::prop_kind::forward_training, direct,
      anyLayout(plain.x), hintWeights, anyLayout(plain.y), strides, dilates,
      padding, paddingEnd);
  if (call.direction() == plan::BACKWARD_WEIGHTS)
    return preferredFirst(dnnl::convolution_backward_weights::primitive_desc(
                              context.engine, direct, layouts.x, layouts.w,
                              bias, layouts.y, strides, dilates, padding,
                              paddingEnd, hint, attributes, true),
                          all);
  return preferredFirst(dnnl::convolution_backward_data::primitive_desc(
                            context.engine, direct, layouts.x, layouts.w,
                            layouts.y, strides, dilates, padding, paddingEnd,
                            hint, attributes, true),
                        all);
}

/// Returns a family of kernels that is faster than the first choice of oneDNN
/// 3.2, or null.
const char *ConvolutionBuilder::preferredFamily() const {
  const bool isNarrow = x.buffer->type() == plan::BF16;
  // For a stride of 2 in bf16 oneDNN chooses its general kernel, which takes
  // three times as long as its kernel for depthwise convolutions.
  if (isDepthwise())
    return call.direction() == plan::BACKWARD_DATA ? "jit_dw" : nullptr;
  // 1x1 kernels on processors with AVX-512 and without AMX, measured on an AMD
  // EPYC: the families that are at least as fast as others for images of at
  // least kManyPixels.
  constexpr std::int64_t kManyPixels = 512;
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (!isPointwise() || isa < dnnl::cpu_isa::avx512_core ||
      isa >= dnnl::cpu_isa::avx512_core_amx)
    return nullptr;
  const bool isStrided = !allEqual(geometry.strides, 1);
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

/// Returns oneDNN's implementations, starting with the preferred family;
/// without `all`, only the first one.
std::vector<dnnl::primitive_desc>
ConvolutionBuilder::preferredFirst(const dnnl::primitive_desc &first,
                                   bool all) const {
  const char *family = preferredFamily();
  const bool searchesFamily = family && !isOfFamily(first, family);
  std::vector<dnnl::primitive_desc> result =
      implementationsOf(first, all || searchesFamily);
  if (!searchesFamily)
    return result;
  const auto preferred =
      std::find_if(result.begin(), result.end(),
                   [&](const dnnl::primitive_desc &implementation) {
                     return isOfFamily(implementation, family);
                   });
  if (preferred != result.end())
    std::rotate(result.begin(), preferred, preferred + 1);
  if (!all && result.size() > 1)
    result.resize(1);
  return result;
}

std::vector<Candidate> ConvolutionBuilder::candidates(const Layouts &layouts,
                                                      bool all) const {
  bool isForward = call.direction() == plan::FORWARD;
  bool accumulates = call.epilogue().accumulate();
  // oneDNN can only add to y if y has its layout. Otherwise the sum and the
  // ReLU after it are separate primitives.
  bool writesPlanLayout = layouts.y == plain.y;
  bool fusesSum = isForward && accumulates && writesPlanLayout;
  bool fusesRelu =
      isForward && call.epilogue().relu() && (!accumulates || writesPlanLayout);
  std::vector<dnnl::primitive_desc> available;
  try {
    available = implementations(
        layouts, attributesFor(call.epilogue(), fusesSum, fusesRelu), all);
  } catch (const dnnl::error &error) {
    if (error.status == dnnl_unimplemented ||
        error.status == dnnl_invalid_arguments)
      return {};
    throw;
  }
  std::vector<Candidate> result;
  for (const dnnl::primitive_desc &implementation : available)
    if (!isReferenceKernel(implementation))
      result.push_back(
          makeCandidate(layouts, implementation, fusesSum, fusesRelu));
  return result;
}

Candidate
ConvolutionBuilder::makeCandidate(const Layouts &layouts,
                                  const dnnl::primitive_desc &implementation,
                                  bool fusesSum, bool fusesRelu) const {
  Candidate result;
  result.name = std::string(layouts.name) + " " + kernelName(implementation);
  result.description = implementation;
  result.reluAfter = call.epilogue().relu() && !fusesRelu;

  auto addOperand = [&](int argument, BoundBuffer bound,
                        const memory::desc &layout, bool written) {
    result.addOperand(argument, bound, layout, written).accumulate =
        written && call.epilogue().accumulate() && !fusesSum;
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

/// Returns whether each group has one channel of x and of y.
bool ConvolutionBuilder::isDepthwise() const {
  return call.group() > 1 && w.buffer->dims(1) == 1 &&
         w.buffer->dims(0) == call.group();
}

/// Returns the estimated time on one core in seconds, from approximate rates of
/// a machine with AVX-512; only the ratios matter. Blocked kernels pad channels
/// to 16. Im2col with a matrix product runs at about 40 % of their rate.
double ConvolutionBuilder::estimate(const Candidate &candidate) const {
  constexpr double blockedRate = 100e9, productRate = 40e9,
                   thinProductRate = 3e9, copyRate = 3e9;
  const plan::Buffer &weights = *w.buffer, &result = *y.buffer;
  double operations = 2.0 * static_cast<double>(elementCount(result)) *
                      static_cast<double>(elementCount(weights)) /
                      static_cast<double>(weights.dims(0));
  // The estimate must not penalise the preferred family.
  const char *family = preferredFamily();
  const bool isProduct = (isOfFamily(candidate.description, "gemm") ||
                          isOfFamily(candidate.description, "x64:gemm")) &&
                         !(family && isOfFamily(candidate.description, family));
  // The time of products with one row or column is dominated by copies of
  // windows.
  double seconds = operations / (isDepthwise() ? thinProductRate : productRate);
  if (!isProduct) {
    std::int64_t channels = call.direction() == plan::BACKWARD_DATA
                                ? weights.dims(1)
                                : weights.dims(0) / call.group();
    auto paddedChannels = static_cast<double>((channels + 15) / 16 * 16);
    seconds = operations * paddedChannels / static_cast<double>(channels) /
              blockedRate;
  }
  for (const DnnlOperand &operand : candidate.operands)
    if (!operand.isConstant && !(operand.layout == operand.staged))
      seconds += static_cast<double>(operand.staged.get_size()) / copyRate;
  return seconds;
}

std::vector<Layouts> ConvolutionBuilder::layoutCombinations() const {
  const memory::desc anyW = anyLayout(plain.w);
  return {plain,
          {"packed-weights", plain.x, anyW, plain.y},
          {"channels-last", channelsLast(plain.x), anyW, channelsLast(plain.y)},
          {"blocked", anyLayout(plain.x), anyW, anyLayout(plain.y)}};
}

std::optional<Candidate> ConvolutionBuilder::cheapest() const {
  std::optional<Candidate> best = weightGradientMatmul();
  if (!best)
    best = sliceMatmul();
  if (best)
    return best;
  for (const Layouts &layouts : layoutCombinations())
    for (Candidate &candidate : candidates(layouts, /*all=*/false))
      if (!best || candidate.cost < best->cost)
        best = std::move(candidate);
  return best;
}

std::vector<Candidate> ConvolutionBuilder::allCandidates() const {
  std::vector<Candidate> result;
  // Different combinations may result in the same layouts.
  auto add = [&](Candidate &&candidate) {
    auto isSame = [&](const Candidate &other) {
      return candidate.name == other.name ||
             (kernelName(candidate.description) ==
                  kernelName(other.description) &&
              haveEqualLayouts(candidate, other));
    };
    if (std::none_of(result.begin(), result.end(), isSame))
      result.push_back(std::move(candidate));
  };
  if (std::optional<Candidate> first = cheapest())
    add(std::move(*first));
  for (const Layouts &layouts : layoutCombinations())
    for (Candidate &candidate : candidates(layouts, /*all=*/true))
      add(std::move(candidate));
  return result;
}

std::unique_ptr<DnnlCall>
ConvolutionBuilder::build(DnnlContext &callContext,
                          const Candidate &candidate) const {
  auto result = std::make_unique<DnnlCall>(callContext);
  result->add(candidate.description, candidate.operands);
  if (candidate.reluAfter)
    result->addRelu(plain.y, y.data, call.epilogue().negative_slope());
  return result;
}

std::unique_ptr<DnnlCall>
ConvolutionBuilder::build(const std::string &where) const {
  const std::optional<Candidate> best = cheapest();
  if (!best)
    throw unavailable(where + ": oneDNN has no fast kernel for this "
                              "convolution on this machine (compile the net "
                              "with --no-library=conv)");
  return build(context, *best);
}

} // namespace convolution

using convolution::Candidate;
using convolution::ConvolutionBuilder;
using plan::ConvolutionCall;

std::unique_ptr<CpuStep> makeConvolution(DnnlContext &context,
                                         const ConvolutionCall &call,
                                         BoundBuffer x, BoundBuffer w,
                                         BoundBuffer b, BoundBuffer y,
                                         const std::string &where) {
  if (!isSupportedType(x.buffer->type()))
    throw unavailable(where + ": oneDNN convolutions compute in f32 and bf16 "
                              "only (compile an f64 net with --no-library)");
  try {
    if (auto winograd = makeWinograd(context, call, x, w, b, y))
      return winograd;
    return ConvolutionBuilder(context, call, x, w, b, y).build(where);
  } catch (const dnnl::error &error) {
    throw unavailable(where + ": oneDNN refuses this convolution (" +
                      error.what() + ")");
  }
}

std::vector<CallCandidate> convolutionCandidates(DnnlContext &context,
                                                 const ConvolutionCall &call,
                                                 BoundBuffer x, BoundBuffer w,
                                                 BoundBuffer b, BoundBuffer y) {
  std::vector<CallCandidate> result;
  if (!isSupportedType(x.buffer->type()))
    return result;
  const auto builder =
      std::make_shared<ConvolutionBuilder>(context, call, x, w, b, y);
  for (Candidate &candidate : builder->allCandidates()) {
    std::string name = candidate.name;
    result.push_back(
        {std::move(name), [builder, candidate](DnnlContext &callContext) {
           return builder->build(callContext, candidate);
         }});
  }
  const std::int64_t preferredTile = winogradTile(context, call, x, w, b, y);
  for (std::int64_t tile : winogradTiles(context, call, x, w, b, y)) {
    const std::string edge = std::to_string(tile);
    CallCandidate winograd{
        "winograd " + edge + "x" + edge, [=, &call](DnnlContext &callContext) {
          return makeWinograd(callContext, call, x, w, b, y, tile);
        }};
    result.insert(tile == preferredTile ? result.begin() : result.end(),
                  std::move(winograd));
  }
  return result;
}

} // namespace brew::runtime
