//===- GradientAccumulator.cpp - Gradients over several batches -----------===//

#include "runtime/train/GradientAccumulator.h"

#include <cstring>

namespace brew::runtime {
namespace {

template <typename Element>
void addTo(std::byte *target, const std::byte *source, std::size_t bytes) {
  auto *to = reinterpret_cast<Element *>(target);
  auto *from = reinterpret_cast<const Element *>(source);
  for (std::size_t i = 0; i < bytes / sizeof(Element); ++i)
    to[i] += from[i];
}

void addTyped(plan::DataType type, std::byte *target, const std::byte *source,
              std::size_t bytes) {
  if (type == plan::F64)
    addTo<double>(target, source, bytes);
  else
    addTo<float>(target, source, bytes);
}

} // namespace

GradientAccumulator::GradientAccumulator(Executor &planExecutor)
    : executor(planExecutor) {
  const plan::Manifest &manifest = executor.manifest();
  std::size_t offset = 0;
  for (const plan::Parameter &parameter : manifest.parameters()) {
    if (!parameter.has_gradient_buffer_index())
      continue;
    const std::uint32_t index = parameter.gradient_buffer_index();
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    const std::size_t bytes = buffer.size();
    pieces.push_back({index, buffer.type(), bytes, offset});
    offset +=
        (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
  }
  sums.resize(offset);
}

void GradientAccumulator::add() {
  for (const Piece &piece : pieces) {
    const std::byte *gradient = executor.data(piece.buffer);
    std::byte *sum = sums.data() + piece.offset;
    if (started)
      addTyped(piece.type, sum, gradient, piece.bytes);
    else
      std::memcpy(sum, gradient, piece.bytes);
  }
  started = true;
}

void GradientAccumulator::finish() {
  if (!started)
    return;
  for (const Piece &piece : pieces) {
    addTyped(piece.type, sums.data() + piece.offset,
             executor.data(piece.buffer), piece.bytes);
    std::memcpy(executor.data(piece.buffer), sums.data() + piece.offset,
                piece.bytes);
  }
  started = false;
}

} // namespace brew::runtime
