//===- VendorConvolution.cpp - Convolutions through the vendor table ------===//
#include "runtime/cuda/VendorCall.h"
#include "runtime/cuda/VendorLibrary.h"

#include "formats/Error.h"

namespace brew::runtime::cuda {

namespace {

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
  return tensor;
}

class Convolution : public VendorCall {
public:
  Convolution(VendorLibrary &vendor, const BrewVendorConvolution &description,
              const CallOptions &options, std::string text, DeviceBuffer x,
              DeviceBuffer w, DeviceBuffer b, DeviceBuffer y, std::string place)
      : library(vendor), keyText(std::move(text)),
        where(std::move(place)), addresses{x.address, w.address, b.address,
                                           y.address} {
    char message[BREW_VENDOR_MESSAGE_SIZE] = "";
    if (library.table().create_convolution(library.context(), &description,
                                           options.workspaceLimit, &call,
                                           message) != 0)
      throw machineLacks(where + ": " + library.name() + ": " + message);
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
  std::uint64_t workspaceBytes(int candidate) const override {
    return library.table().workspace(call, candidate);
  }
  void run(int candidate, CUdeviceptr workspace,
           const Stream &stream) override {
    auto pointer = [](CUdeviceptr address) {
      return reinterpret_cast<void *>(address);
    };
    char message[BREW_VENDOR_MESSAGE_SIZE] = "";
    if (library.table().run(call, candidate, pointer(addresses[0]),
                            pointer(addresses[1]), pointer(addresses[2]),
                            pointer(addresses[3]), pointer(workspace),
                            stream.get(), message) != 0)
      throw machineLacks(where + ": " + library.name() + ", " +
                         describe(candidate) + ": " + message);
  }

private:
  VendorLibrary &library;
  std::string keyText, where;
  CUdeviceptr addresses[4];
  BrewVendorCall *call = nullptr;
};

} // namespace

std::unique_ptr<VendorCall>
makeConvolution(VendorLibrary &library, const plan::ConvolutionCall &call,
                DeviceBuffer x, DeviceBuffer w, DeviceBuffer b, DeviceBuffer y,
                const CallOptions &options, const std::string &where) {
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
  description.pad_h = window.pad_h();
  description.pad_w = window.pad_w();
  description.stride_h = window.stride_h();
  description.stride_w = window.stride_w();
  description.dilation_h = window.dilation_h();
  description.dilation_w = window.dilation_w();
  description.groups = call.group();
  description.accumulate = epilogue.accumulate();
  description.relu = epilogue.relu();
  description.negative_slope = epilogue.negative_slope();

  auto pair = [](std::int64_t h, std::int64_t w) {
    return std::to_string(h) + "x" + std::to_string(w);
  };
  std::string key =
      library.name() + " convolution " +
      plan::Direction_Name(call.direction()) + " x=" + layoutText(*x.buffer) +
      " w=" + layoutText(*w.buffer) + " y=" + layoutText(*y.buffer) +
      " pad=" + pair(window.pad_h(), window.pad_w()) +
      " stride=" + pair(window.stride_h(), window.stride_w()) +
      " dilation=" + pair(window.dilation_h(), window.dilation_w()) +
      " groups=" + std::to_string(call.group());
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
  return std::make_unique<Convolution>(library, description, options, key, x, w,
                                       b, y, where);
}

std::uint32_t alignmentOf(CUdeviceptr address) {
  constexpr CUdeviceptr kMost = 256;
  const CUdeviceptr bits = address | kMost;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

std::string layoutText(const plan::Buffer &buffer) {
  auto list = [](const auto &values) {
    std::string text;
    for (std::int64_t value : values)
      text += (text.empty() ? "" : ",") + std::to_string(value);
    return "[" + text + "]";
  };
  return plan::DataType_Name(buffer.type()) + list(buffer.dims()) + ":" +
         list(buffer.strides());
}

} // namespace brew::runtime::cuda
