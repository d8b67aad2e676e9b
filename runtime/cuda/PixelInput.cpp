//===- PixelInput.cpp - Images that a GPU converts from bytes -------------===//
#include "runtime/cuda/PixelInput.h"

namespace brew::runtime::cuda {

PixelInput::PixelInput(const Device &gpu,
                       const plan::PixelConversion &conversion,
                       const plan::Kernel &planKernel, CUfunction planFunction,
                       const plan::Buffer &top, CUdeviceptr address)
    : device(gpu), kernel(planKernel), function(planFunction), target(address),
      layout(PixelBlock::of(top, conversion)),
      staging(gpu, layout.size,
              [this](CUdeviceptr block, const Stream &stream) {
                convert(block, stream);
              }) {}

void PixelInput::setMean(const std::vector<float> &values,
                         const Stream &stream) {
  if (values.empty())
    return;
  const std::string purpose = "copying the mean of the images to the GPU";
  const std::uint64_t size = values.size() * sizeof(float);
  if (mean.size() != size)
    mean = DeviceMemory(device, size, "memory for the mean of the images");
  device.api().check(device.api().cuMemcpyHtoDAsync(
                         mean.address(), values.data(), size, stream.get()),
                     purpose);
  stream.synchronize(purpose);
}

void PixelInput::convert(CUdeviceptr block, const Stream &compute) const {
  std::vector<CUdeviceptr> addresses = {block, block + layout.cropsOffset};
  if (mean.size())
    addresses.push_back(mean.address());
  addresses.push_back(target);
  std::vector<void *> arguments;
  for (CUdeviceptr &address : addresses)
    arguments.push_back(&address);
  device.api().check(device.api().cuLaunchKernel(
                         function, kernel.blocks(), 1, 1, kernel.threads(), 1,
                         1, 0, compute.get(), arguments.data(), nullptr),
                     "starting kernel '" + kernel.symbol() + "'");
}

} // namespace brew::runtime::cuda
