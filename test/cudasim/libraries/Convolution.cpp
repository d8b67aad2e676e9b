//===- Convolution.cpp - Simulated vendor table ---------------------------===//
//
// Computes convolutions on dense copies of their tensors as matrix products.
//
//===----------------------------------------------------------------------===//
#include "../driver/Driver.h"
#include "../engine/Engine.h"
#include "Gemm.h"
#include "Numbers.h"
#include "runtime/cuda/VendorTable.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

CUDASIM_API int cuCtxGetCurrent(cudasim::Context_ **context);

struct BrewVendorContext {
  cudasim::Context_ *context;
};

struct BrewVendorCall {
  BrewVendorConvolution description;
  std::uint64_t workspaceLimit;
  std::array<bool, 3> built = {}; ///< by candidate
};

namespace cudasim {
namespace {

/// Candidates differ only in their scratch. The first is unusable, as happens
/// with real libraries; the second uses scratch, so that tests check the
/// workspace.
struct Candidate {
  const char *name;
  std::uint64_t workspace;
};
constexpr std::uint64_t kUnusable = UINT64_MAX;
constexpr Candidate kCandidates[] = {
    {"sim-unusable", kUnusable}, {"sim-scratch", 8192}, {"sim", 0}};

constexpr char kCapturing[] =
    "the library allocates memory, which a capturing stream forbids";

int fail(char *message, const char *reason) {
  std::snprintf(message, BREW_VENDOR_MESSAGE_SIZE, "%s", reason);
  return 1;
}

std::optional<Type> typeOf(std::int32_t number) {
  switch (number) {
  case BREW_VENDOR_F32:
    return Type::F32;
  case BREW_VENDOR_F64:
    return Type::F64;
  case BREW_VENDOR_BF16:
    return Type::BF16;
  case BREW_VENDOR_F16:
    return Type::F16;
  default:
    return std::nullopt;
  }
}

std::int64_t elementCount(const BrewVendorTensor &tensor) {
  std::int64_t count = 1;
  for (int i = 0; i < tensor.rank; ++i)
    count *= tensor.dims[i];
  return count;
}

/// Calls each(index in the dense copy, index in memory) for every element.
template <class Each>
void forEachElement(const BrewVendorTensor &tensor, Each each) {
  std::array<std::int64_t, BREW_VENDOR_MAX_RANK> index = {};
  const std::int64_t count = elementCount(tensor);
  std::int64_t offset = 0;
  for (std::int64_t dense = 0; dense < count; ++dense) {
    each(dense, offset);
    for (int i = tensor.rank - 1; i >= 0; --i) {
      auto at = static_cast<std::size_t>(i);
      offset += tensor.strides[i];
      if (++index[at] < tensor.dims[i])
        break;
      offset -= tensor.strides[i] * tensor.dims[i];
      index[at] = 0;
    }
  }
}

void checkMemory(const BrewVendorTensor &tensor, const void *data,
                 const char *purpose) {
  std::int64_t lastOffset = 0;
  for (int i = 0; i < tensor.rank; ++i)
    lastOffset += (tensor.dims[i] - 1) * tensor.strides[i];
  cudasim_require_range(data,
                        static_cast<std::uint64_t>(lastOffset + 1) *
                            byteSize(*typeOf(tensor.type)),
                        purpose);
}

/// An enqueued convolution.
struct Convolution {
  BrewVendorConvolution d; ///< the description
  void *x, *w, *b, *y, *workspace;
  std::uint64_t workspaceBytes;

  // C and K are channels per group.
  std::int64_t N() const { return d.x.dims[0]; }
  std::int64_t C() const { return d.w.dims[1]; }
  std::int64_t K() const { return d.w.dims[0] / d.groups; }
  // Elements per channel of an image, a filter and a result.
  std::int64_t pixels() const { return planeSize(d.x); }
  std::int64_t taps() const { return planeSize(d.w); }
  std::int64_t results() const { return planeSize(d.y); }
  static std::int64_t planeSize(const BrewVendorTensor &tensor) {
    std::int64_t count = 1;
    for (int i = 2; i < tensor.rank; ++i)
      count *= tensor.dims[i];
    return count;
  }

  /// Returns the pixel that a filter tap reads for a result; -1 in the padding.
  std::int64_t pixelOf(std::int64_t result, std::int64_t tap) const {
    std::int64_t pixel = 0, size = 1;
    for (int i = d.x.rank - 1; i >= 2; --i) {
      const std::int64_t at = result % d.y.dims[i] * d.stride[i - 2] -
                              d.pad[i - 2] +
                              tap % d.w.dims[i] * d.dilation[i - 2];
      if (at < 0 || at >= d.x.dims[i])
        return -1;
      pixel += at * size;
      size *= d.x.dims[i];
      result /= d.y.dims[i];
      tap /= d.w.dims[i];
    }
    return pixel;
  }
  /// Returns the result for which a filter tap reads a pixel; -1 if no
  /// result does.
  std::int64_t resultOf(std::int64_t pixel, std::int64_t tap) const {
    std::int64_t result = 0, size = 1;
    for (int i = d.x.rank - 1; i >= 2; --i) {
      const std::int64_t at = pixel % d.x.dims[i] + d.pad[i - 2] -
                              tap % d.w.dims[i] * d.dilation[i - 2];
      if (at < 0 || at % d.stride[i - 2] || at / d.stride[i - 2] >= d.y.dims[i])
        return -1;
      result += at / d.stride[i - 2] * size;
      size *= d.y.dims[i];
      pixel /= d.x.dims[i];
      tap /= d.w.dims[i];
    }
    return result;
  }

  template <class T> void run();
  template <class T> void forward();
  template <class T> void backwardData();
  template <class T> void backwardWeights();

  template <class T>
  std::vector<T> read(const BrewVendorTensor &tensor, const void *data,
                      bool isOperand = true) const {
    std::vector<T> values(static_cast<std::size_t>(elementCount(tensor)));
    const Type type = *typeOf(tensor.type);
    const bool roundsToTf32 =
        isOperand && d.math == BREW_VENDOR_TF32 && type == Type::F32;
    forEachElement(tensor, [&](std::int64_t dense, std::int64_t offset) {
      T value = loadNumber<T>(type, data, offset);
      values[static_cast<std::size_t>(dense)] =
          roundsToTf32 ? roundToTf32(static_cast<float>(value)) : value;
    });
    return values;
  }
  /// Stores finish(value, index in the dense copy) of every element. If the
  /// call accumulates, `value` includes the element in memory.
  template <class T, class Finish>
  void write(const BrewVendorTensor &tensor, void *data,
             const std::vector<T> &values, Finish finish) const {
    const Type type = *typeOf(tensor.type);
    forEachElement(tensor, [&](std::int64_t dense, std::int64_t offset) {
      T value = values[static_cast<std::size_t>(dense)];
      if (d.accumulate)
        value += loadNumber<T>(type, data, offset);
      storeNumber(type, data, offset, finish(value, dense));
    });
  }
  template <class T>
  void write(const BrewVendorTensor &tensor, void *data,
             const std::vector<T> &values) const {
    write(tensor, data, values, [](T value, std::int64_t) { return value; });
  }
};

template <class T> void Convolution::forward() {
  std::vector<T> xs = read<T>(d.x, x), ws = read<T>(d.w, w);
  std::vector<T> bs = b ? read<T>(d.b, b, false) : std::vector<T>();
  std::vector<T> ys(static_cast<std::size_t>(elementCount(d.y)));
  for (std::int64_t n = 0; n < N(); ++n)
    for (std::int64_t g = 0; g < d.groups; ++g) {
      const T *image = xs.data() + (n * d.groups + g) * C() * pixels();
      const T *filters = ws.data() + g * K() * C() * taps();
      T *result = ys.data() + (n * d.groups + g) * K() * results();
      const std::int64_t depth = C() * taps();
      gemm<T>(
          K(), results(), depth,
          [&](std::int64_t k, std::int64_t i) {
            return filters[k * depth + i];
          },
          [&](std::int64_t i, std::int64_t pixel) {
            const std::int64_t c = i / taps(), at = pixelOf(pixel, i % taps());
            return at < 0 ? T(0) : image[c * pixels() + at];
          },
          [&](std::int64_t k, std::int64_t pixel, T sum) {
            result[k * results() + pixel] = sum;
          });
    }
  write(d.y, y, ys, [&](T value, std::int64_t dense) {
    if (b)
      value += bs[static_cast<std::size_t>(dense / results() % d.y.dims[1])];
    return d.relu && value < 0 ? static_cast<T>(d.negative_slope) * value
                               : value;
  });
}

template <class T> void Convolution::backwardData() {
  std::vector<T> ys = read<T>(d.y, y), ws = read<T>(d.w, w);
  std::vector<T> xs(static_cast<std::size_t>(elementCount(d.x)));
  for (std::int64_t n = 0; n < N(); ++n)
    for (std::int64_t g = 0; g < d.groups; ++g) {
      const T *gradient = ys.data() + (n * d.groups + g) * K() * results();
      const T *filters = ws.data() + g * K() * C() * taps();
      T *result = xs.data() + (n * d.groups + g) * C() * pixels();
      gemm<T>(
          C(), pixels(), K() * taps(),
          [&](std::int64_t c, std::int64_t i) {
            return filters[(i / taps() * C() + c) * taps() + i % taps()];
          },
          [&](std::int64_t i, std::int64_t pixel) {
            const std::int64_t k = i / taps(), at = resultOf(pixel, i % taps());
            return at < 0 ? T(0) : gradient[k * results() + at];
          },
          [&](std::int64_t c, std::int64_t pixel, T sum) {
            result[c * pixels() + pixel] = sum;
          });
    }
  write(d.x, x, xs);
}

template <class T> void Convolution::backwardWeights() {
  std::vector<T> xs = read<T>(d.x, x), ys = read<T>(d.y, y);
  std::vector<T> ws(static_cast<std::size_t>(elementCount(d.w)));
  const std::int64_t depth = C() * taps();
  for (std::int64_t n = 0; n < N(); ++n)
    for (std::int64_t g = 0; g < d.groups; ++g) {
      const T *image = xs.data() + (n * d.groups + g) * C() * pixels();
      const T *gradient = ys.data() + (n * d.groups + g) * K() * results();
      T *result = ws.data() + g * K() * depth;
      gemm<T>(
          K(), depth, results(),
          [&](std::int64_t k, std::int64_t pixel) {
            return gradient[k * results() + pixel];
          },
          [&](std::int64_t pixel, std::int64_t i) {
            const std::int64_t c = i / taps(), at = pixelOf(pixel, i % taps());
            return at < 0 ? T(0) : image[c * pixels() + at];
          },
          [&](std::int64_t k, std::int64_t i, T sum) {
            result[k * depth + i] += sum;
          });
    }
  write(d.w, w, ws);
  if (!b)
    return;
  std::vector<T> bs(static_cast<std::size_t>(elementCount(d.b)));
  const std::vector<T> unrounded = read<T>(d.y, y, false);
  for (std::size_t i = 0; i < unrounded.size(); ++i)
    bs[i / static_cast<std::size_t>(results()) % bs.size()] += unrounded[i];
  write(d.b, b, bs);
}

template <class T> void Convolution::run() {
  checkMemory(d.x, x, "convolution, x");
  checkMemory(d.w, w, "convolution, w");
  checkMemory(d.y, y, "convolution, y");
  if (b)
    checkMemory(d.b, b, "convolution, b");
  if (workspaceBytes) {
    cudasim_require_range(workspace, workspaceBytes, "convolution, workspace");
    if (reinterpret_cast<std::uintptr_t>(workspace) % 256)
      reportLaunchFinding(
          "convolution: the workspace is not aligned to 256 bytes");
    std::memset(workspace, 0xff, workspaceBytes);
  }
  switch (d.direction) {
  case BREW_VENDOR_FORWARD:
    return forward<T>();
  case BREW_VENDOR_BACKWARD_DATA:
    return backwardData<T>();
  default:
    return backwardWeights<T>();
  }
}

/// `pads` is the sum of the padding before and after.
std::int64_t outputExtent(std::int64_t input, std::int64_t pads,
                          std::int64_t dilation, std::int64_t kernel,
                          std::int64_t stride) {
  return (input + pads - dilation * (kernel - 1) - 1) / stride + 1;
}

/// Returns an error message for an invalid description, or null.
const char *problemOf(const BrewVendorConvolution &d) {
  for (const BrewVendorTensor *tensor : {&d.x, &d.w, &d.y}) {
    if (tensor->rank != d.x.rank || (tensor->rank != 4 && tensor->rank != 5))
      return "the tensors' ranks are not all 4 or all 5";
    if (!typeOf(tensor->type))
      return "a tensor has an unknown type";
    for (int i = 0; i < tensor->rank; ++i)
      if (tensor->dims[i] < 1 || tensor->strides[i] < 1)
        return "a tensor has an extent or a stride below 1";
  }
  const bool isF64 = d.x.type == BREW_VENDOR_F64;
  if (isF64 != (d.w.type == BREW_VENDOR_F64) ||
      isF64 != (d.y.type == BREW_VENDOR_F64))
    return "f64 does not mix with other types";
  if (d.direction < BREW_VENDOR_FORWARD ||
      d.direction > BREW_VENDOR_BACKWARD_WEIGHTS)
    return "unknown direction";
  if (d.math != BREW_VENDOR_STRICT && d.math != BREW_VENDOR_TF32)
    return "unknown math mode";
  if (d.groups < 1 || d.w.dims[0] % d.groups || d.y.dims[1] != d.w.dims[0] ||
      d.x.dims[1] != d.w.dims[1] * d.groups || d.x.dims[0] != d.y.dims[0])
    return "channels, groups and batch do not agree";
  for (int i = 0; i < d.x.rank - 2; ++i) {
    if (d.stride[i] < 1 || d.dilation[i] < 1 || d.pad[i] < 0 ||
        d.pad_end[i] < 0)
      return "strides, dilations or padding are out of range";
    if (d.y.dims[2 + i] != outputExtent(d.x.dims[2 + i],
                                        d.pad[i] + d.pad_end[i], d.dilation[i],
                                        d.w.dims[2 + i], d.stride[i]))
      return "the output's extent does not follow from the window";
  }
  if (d.has_bias &&
      (!typeOf(d.b.type) || d.b.rank != 1 || d.b.dims[0] != d.y.dims[1]))
    return "the bias is not a vector of the output's channels";
  if (d.has_bias && d.direction == BREW_VENDOR_BACKWARD_DATA)
    return "the gradient of the data has no bias";
  if (d.relu && d.direction != BREW_VENDOR_FORWARD)
    return "only the forward direction has an activation";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

int open(BrewVendorContext **context, char *message) {
  Context_ *current = nullptr;
  if (cuCtxGetCurrent(&current) != Success || !current)
    return fail(message, "this thread has no CUDA context");
  if (cudasim_require_no_capture() != Success)
    return fail(message, kCapturing);
  *context = new BrewVendorContext{current};
  return 0;
}

void close(BrewVendorContext *context) { delete context; }

const char *name(BrewVendorContext *) { return "simulated vendor calls 1"; }

int createConvolution(BrewVendorContext *context,
                      const BrewVendorConvolution *description,
                      std::uint64_t workspaceLimit, BrewVendorCall **call,
                      char *message) {
  if (const char *problem = problemOf(*description))
    return fail(message, problem);
  *call = new BrewVendorCall{*description, workspaceLimit, {}};
  return 0;
}

void destroy(BrewVendorCall *call) { delete call; }

std::int32_t candidates(BrewVendorCall *) {
  return static_cast<std::int32_t>(std::size(kCandidates));
}

const char *describe(BrewVendorCall *, std::int32_t candidate) {
  return kCandidates[candidate].name;
}

const char *engine(BrewVendorCall *call, std::int32_t candidate) {
  return describe(call, candidate);
}

void release(BrewVendorCall *call, std::int32_t candidate) {
  call->built[static_cast<std::size_t>(candidate)] = false;
}

/// Builds a candidate at its first use. Returns false if a capture forbids
/// that: the real library compiles and loads code, for which it may allocate.
bool build(BrewVendorCall *call, std::int32_t candidate) {
  bool &built = call->built[static_cast<std::size_t>(candidate)];
  built = built || cudasim_require_no_capture() == Success;
  return built;
}

std::uint64_t workspace(BrewVendorCall *call, std::int32_t candidate) {
  if (!build(call, candidate))
    return kUnusable;
  std::uint64_t bytes = kCandidates[candidate].workspace;
  return bytes <= call->workspaceLimit ? bytes : kUnusable;
}

int run(BrewVendorCall *call, std::int32_t candidate, void *x, void *w, void *b,
        void *y, void *scratch, void *stream, char *message) {
  const BrewVendorConvolution &description = call->description;
  if ((b != nullptr) != (description.has_bias != 0))
    return fail(message, "the bias does not match the call's description");
  if (!build(call, candidate))
    return fail(message, kCapturing);
  if (workspace(call, candidate) == kUnusable)
    return fail(message, "the candidate cannot be used");
  auto *queued = new Convolution{
      description, x, w, b, y, scratch, workspace(call, candidate)};
  int failed = cudasim_enqueue(
      static_cast<Stream *>(stream),
      [](void *state) {
        auto *convolution = static_cast<Convolution *>(state);
        if (convolution->d.x.type == BREW_VENDOR_F64)
          convolution->run<double>();
        else
          convolution->run<float>();
      },
      [](void *state) { delete static_cast<Convolution *>(state); }, queued);
  return failed ? fail(message, "the stream accepts no work") : 0;
}

} // namespace
} // namespace cudasim

extern "C" __attribute__((visibility("default")))
const BrewVendorTable brewVendorTable = {BREW_VENDOR_TABLE_VERSION,
                                         cudasim::open,
                                         cudasim::close,
                                         cudasim::name,
                                         cudasim::createConvolution,
                                         cudasim::destroy,
                                         cudasim::candidates,
                                         cudasim::describe,
                                         cudasim::engine,
                                         cudasim::release,
                                         cudasim::workspace,
                                         cudasim::run};
