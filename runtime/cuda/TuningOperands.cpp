//===- TuningOperands.cpp - Random operands for tuning --------------------===//
#include "runtime/cuda/TuningOperands.h"

#include "runtime/executor/Executor.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace brew::runtime::cuda {

namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t(4) << 20;

/// Returns random numbers of either sign with magnitudes in [1/16, 1). `Bits`
/// is an integer as wide as the element; `sixteenth` and `one` are the bit
/// patterns of 1/16 and 1.
template <typename Bits>
std::vector<std::byte> randomBlock(Bits sixteenth, Bits one) {
  std::mt19937_64 random(1);
  std::vector<std::byte> block(kBlockBytes);
  for (std::size_t i = 0; i < block.size(); i += sizeof(Bits)) {
    const std::uint64_t randomBits = random();
    Bits bits =
        static_cast<Bits>(sixteenth + (randomBits >> 1) % (one - sixteenth));
    if (randomBits & 1)
      bits = static_cast<Bits>(bits | Bits(1) << (8 * sizeof(Bits) - 1));
    std::memcpy(block.data() + i, &bits, sizeof bits);
  }
  return block;
}

/// Returns an empty vector for integer types, which calls do not compute with.
std::vector<std::byte> randomBlock(plan::DataType type) {
  switch (type) {
  case plan::F32:
    return randomBlock<std::uint32_t>(0x3d800000, 0x3f800000);
  case plan::F64:
    return randomBlock<std::uint64_t>(0x3fb0000000000000, 0x3ff0000000000000);
  case plan::BF16:
    return randomBlock<std::uint16_t>(0x3d80, 0x3f80);
  case plan::F16:
    return randomBlock<std::uint16_t>(0x2c00, 0x3c00);
  default:
    return {};
  }
}

} // namespace

bool TuningOperands::isTransient(std::uint32_t index) const {
  const plan::ArenaKind kind =
      manifest.arenas(static_cast<int>(buffer(index).arena_index())).kind();
  return kind == plan::TRANSIENT || kind == plan::GRADIENTS;
}

void TuningOperands::fillAll(const plan::Step &call) {
  for (const plan::Operand &operand : call.operands())
    fill(operand.buffer_index());
}

void TuningOperands::fillTransient(const plan::Step &call) {
  for (const plan::Operand &operand : call.operands())
    if (isTransient(operand.buffer_index()))
      fill(operand.buffer_index());
}

void TuningOperands::save(const plan::Step &call) {
  for (const plan::Operand &operand : call.operands()) {
    const std::uint32_t index = operand.buffer_index();
    if (plan::isWritten(operand) && !isTransient(index)) {
      saved.push_back({address(index),
                       DeviceMemory(device, buffer(index).size(),
                                    "memory to keep '" + buffer(index).name() +
                                        "' while a call is measured")});
      copy(saved.back().bytes.address(), address(index), buffer(index).size());
    }
  }
}

void TuningOperands::restore() {
  for (const Saved &entry : saved)
    copy(entry.address, entry.bytes.address(), entry.bytes.size());
  if (!saved.empty())
    stream.synchronize("measuring");
  saved.clear();
}

const DeviceMemory &TuningOperands::randomBlockOf(plan::DataType type) {
  DeviceMemory &block = blocks[type];
  if (block.size() > 0)
    return block;
  const std::vector<std::byte> bytes = randomBlock(type);
  if (bytes.empty())
    return block;
  const std::string purpose = "memory to measure calls on";
  block = DeviceMemory(device, bytes.size(), purpose);
  device.api().check(device.api().cuMemcpyHtoDAsync(block.address(),
                                                    bytes.data(), bytes.size(),
                                                    stream.get()),
                     purpose);
  return block;
}

void TuningOperands::fill(std::uint32_t index) {
  const DeviceMemory &block = randomBlockOf(buffer(index).type());
  if (block.size() == 0)
    return;
  const std::uint64_t size = buffer(index).size();
  const CUdeviceptr first = address(index);
  std::uint64_t filled = std::min(size, block.size());
  copy(first, block.address(), filled);
  // Double the filled range with each copy, so that few copies suffice for any
  // size.
  while (filled < size) {
    const std::uint64_t next = std::min(filled, size - filled);
    copy(first + filled, first, next);
    filled += next;
  }
}

void TuningOperands::copy(CUdeviceptr target, CUdeviceptr source,
                          std::uint64_t bytes) const {
  device.api().check(
      device.api().cuMemcpyDtoDAsync(target, source, bytes, stream.get()),
      "preparing to measure calls");
}

} // namespace brew::runtime::cuda
