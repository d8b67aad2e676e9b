//===- Inputs.cpp - Uploads of a plan's inputs to a GPU -------------------===//
#include "runtime/cuda/Inputs.h"

namespace brew::runtime::cuda {

void Inputs::stage(std::uint32_t index, const std::byte *bytes) {
  auto entry = denseInputs.find(index);
  if (entry == denseInputs.end())
    entry = denseInputs
                .emplace(std::piecewise_construct, std::make_tuple(index),
                         std::forward_as_tuple(device, address(index),
                                               buffer(index).size()))
                .first;
  if (auto other = pixelInputs.find(index); other != pixelInputs.end())
    other->second.discard();
  entry->second.stage(bytes, copyStream, workers);
}

PixelInput &Inputs::findOrCreatePixelInput(const plan::DataInput &input) {
  const std::uint32_t top = input.buffer_indices(0);
  auto entry = pixelInputs.find(top);
  if (entry == pixelInputs.end()) {
    const std::uint32_t kernel = input.pixel_conversion().kernel_index();
    entry =
        pixelInputs
            .emplace(std::piecewise_construct, std::make_tuple(top),
                     std::forward_as_tuple(
                         device, input.pixel_conversion(),
                         manifest.kernels(static_cast<int>(kernel)),
                         modules.function(kernel), buffer(top), address(top)))
            .first;
  }
  return entry->second;
}

void Inputs::stagePixels(const plan::DataInput &input, const std::byte *block) {
  if (auto other = denseInputs.find(input.buffer_indices(0));
      other != denseInputs.end())
    other->second.discard();
  findOrCreatePixelInput(input).stage(block, copyStream, workers);
}

void Inputs::setPixelMean(const plan::DataInput &input,
                          const std::vector<float> &mean,
                          const Stream &stream) {
  findOrCreatePixelInput(input).setMean(mean, stream);
}

void Inputs::commit(const Stream &compute) {
  for (auto &[buffer, staging] : denseInputs)
    staging.commit(compute);
  for (auto &[buffer, staging] : pixelInputs)
    staging.commit(compute);
}

std::uint64_t Inputs::deviceBytes() const {
  std::uint64_t bytes = 0;
  for (const auto &[buffer, staging] : denseInputs)
    bytes += staging.stagingBytes();
  for (const auto &[buffer, staging] : pixelInputs)
    bytes += staging.deviceBytes();
  return bytes;
}

} // namespace brew::runtime::cuda
