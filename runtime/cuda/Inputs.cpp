//===- Inputs.cpp - Uploads of a plan's inputs to a GPU -------------------===//
#include "runtime/cuda/Inputs.h"

namespace brew::runtime::cuda {

void Inputs::stage(std::uint32_t index, const std::byte *bytes) {
  auto entry = plain.find(index);
  if (entry == plain.end())
    entry = plain
                .emplace(std::piecewise_construct, std::make_tuple(index),
                         std::forward_as_tuple(device, address(index),
                                               buffer(index).size()))
                .first;
  if (auto other = pixels.find(index); other != pixels.end())
    other->second.discard();
  entry->second.stage(bytes, copies, workers);
}

PixelInput &Inputs::pixelInput(const plan::DataInput &input) {
  const std::uint32_t top = input.buffer_indices(0);
  auto entry = pixels.find(top);
  if (entry == pixels.end()) {
    const std::uint32_t kernel = input.pixel_conversion().kernel_index();
    entry =
        pixels
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
  if (auto other = plain.find(input.buffer_indices(0)); other != plain.end())
    other->second.discard();
  pixelInput(input).stage(block, copies, workers);
}

void Inputs::setPixelMean(const plan::DataInput &input,
                          const std::vector<float> &mean,
                          const Stream &stream) {
  pixelInput(input).setMean(mean, stream);
}

void Inputs::commit(const Stream &compute) {
  for (auto &[buffer, staging] : plain)
    staging.commit(compute);
  for (auto &[buffer, staging] : pixels)
    staging.commit(compute);
}

std::uint64_t Inputs::deviceBytes() const {
  std::uint64_t bytes = 0;
  for (const auto &[buffer, staging] : plain)
    bytes += staging.stagingBytes();
  for (const auto &[buffer, staging] : pixels)
    bytes += staging.deviceBytes();
  return bytes;
}

} // namespace brew::runtime::cuda
