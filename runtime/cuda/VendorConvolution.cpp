//===- VendorConvolution.cpp - Convolutions by the vendor library ---------===//
#include "runtime/cuda/VendorCall.h"
#include "runtime/cuda/VendorLibrary.h"

#include "runtime/executor/CallTimingKey.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime::cuda {

namespace {

/// Turns a one-dimensional tensor [N,C,W] into a plane [N,C,1,W], since the
/// vendor table has two- and three-dimensional convolutions only. The stride of
/// the height is the extent of the row, in elements.
void expandToPlane(BrewVendorTensor &tensor) {
  tensor.dims[3] = tensor.dims[2];
  tensor.strides[3] = tensor.strides[2];
  tensor.dims[2] = 1;
  tensor.strides[2] = tensor.dims[3] * tensor.strides[3];
  tensor.rank = 4;
}

BrewVendorTensor tensorOf(const DeviceBuffer &bound) {
  const plan::Buffer &buffer = *bound.buffer;
  BrewVendorTensor tensor = {};
  tensor.alignment = alignmentOf(bound.address);
  tensor.type = buffer.type();
  tensor.rank = buffer.dims_size();
  for (int d = 0; d < buffer.dims_size(); ++d) {
    tensor.dims[d] = buffer.dims(d);
    tensor.strides[d] = buffer.strides(d);
  }
  if (tensor.rank == 3)
    expandToPlane(tensor);
  return tensor;
}

class Convolution : public VendorCall {
public:
  Convolution(VendorLibrary &vendor, const BrewVendorConvolution &description,
              const CallOptions &options, std::string text,
              const CallBuffers &buffers, std::string step)
      : library(vendor), keyText(std::move(text)),
        where(std::move(step)), addresses{buffers.x.address, buffers.w.address,
                                          buffers.b.address,
                                          buffers.y.address} {
    char message[BREW_VENDOR_MESSAGE_SIZE] = "";
    if (library.table().create_convolution(library.context(), &description,
                                           options.workspaceLimit, &call,
                                           message) != 0)
      throw unavailable(where + ": " + library.name() + ": " + message);
  }
  ~Convolution() override {
    if (call)
      library.table().destroy(call);
  }

  std::string key() const override { return keyText; }
  int candidates() const override { return library.table().candidates(call); }
  std::string describe(int candidate) const override {
    return library.table().describe(call, candidate);
  }
  std::string engine(int candidate) const override {
    return library.table().engine(call, candidate);
  }
  void release(int candidate) override {
    library.table().release(call, candidate);
  }
  std::uint64_t scratchBytes(int candidate) const override {
    return library.table().workspace(call, candidate);
  }
  void run(int candidate, const LaunchContext &context) override {
    auto pointer = [](CUdeviceptr address) {
      return reinterpret_cast<void *>(address);
    };
    char message[BREW_VENDOR_MESSAGE_SIZE] = "";
    if (library.table().run(call, candidate, pointer(addresses[0]),
                            pointer(addresses[1]), pointer(addresses[2]),
                            pointer(addresses[3]), pointer(context.scratch),
                            context.stream.get(), message) != 0)
      throw unavailable(where + ": " + library.name() + ", " +
                        describe(candidate) + ": " + message);
  }

private:
  VendorLibrary &library;
  std::string keyText, where;
  CUdeviceptr addresses[4];
  BrewVendorCall *call = nullptr;
};

} // namespace

std::unique_ptr<VendorCall> makeConvolution(VendorLibrary &library,
                                            const plan::ConvolutionCall &call,
                                            const CallBuffers &buffers,
                                            const CallOptions &options,
                                            const std::string &where) {
  const auto &[x, w, b, y] = buffers;
  const plan::Window &window = call.window();
  const plan::Epilogue &epilogue = call.epilogue();
  BrewVendorConvolution description = {};
  description.direction = call.direction();
  description.math = options.math == plan::Target::TF32 ? BREW_VENDOR_TF32
                                                        : BREW_VENDOR_STRICT;
  description.deterministic = options.deterministic;
  description.has_bias = b.buffer != nullptr;
  description.x = tensorOf(x);
  description.w = tensorOf(w);
  if (b.buffer)
    description.b = tensorOf(b);
  description.y = tensorOf(y);
  // Windows of one dimension get a second one of extent 1 before it.
  const int spatial = window.kernel_size();
  const int first = spatial == 1 ? 1 : 0, dimensions = first + spatial;
  if (first)
    description.stride[0] = description.dilation[0] = 1;
  for (int i = 0; i < spatial; ++i) {
    description.pad[first + i] = window.pad(i);
    description.pad_end[first + i] = window.pad_end(i);
    description.stride[first + i] = window.stride(i);
    description.dilation[first + i] = window.dilation(i);
  }
  description.groups = call.group();
  description.accumulate = epilogue.accumulate();
  description.relu = epilogue.relu();
  description.negative_slope = epilogue.negative_slope();

  auto joinValues = [&](const std::int64_t *values) {
    std::string text;
    for (int i = 0; i < dimensions; ++i)
      text += (i ? "x" : "") + std::to_string(values[i]);
    return text;
  };
  std::string key =
      library.name() + " convolution " +
      plan::Direction_Name(call.direction()) + " x=" + layoutText(*x.buffer) +
      " w=" + layoutText(*w.buffer) + " y=" + layoutText(*y.buffer) +
      " pad=" + joinValues(description.pad) +
      " stride=" + joinValues(description.stride) +
      " dilation=" + joinValues(description.dilation) +
      " groups=" + std::to_string(call.group());
  if (!std::equal(window.pad().begin(), window.pad().end(),
                  window.pad_end().begin(), window.pad_end().end()))
    key += " pad-end=" + joinValues(description.pad_end);
  if (b.buffer)
    key += " bias";
  if (epilogue.accumulate())
    key += " accumulate";
  if (epilogue.relu())
    key += " relu" + std::to_string(epilogue.negative_slope());
  if (options.math == plan::Target::TF32)
    key += " tf32";
  if (options.deterministic)
    key += " deterministic";
  return std::make_unique<Convolution>(library, description, options, key,
                                       buffers, where);
}

std::uint32_t alignmentOf(CUdeviceptr address) {
  constexpr CUdeviceptr kMaxAlignment = 256;
  const CUdeviceptr bits = address | kMaxAlignment;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

} // namespace brew::runtime::cuda
