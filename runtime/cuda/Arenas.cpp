//===- Arenas.cpp - A plan's arenas in GPU memory -------------------------===//
#include "runtime/cuda/Arenas.h"

#include "runtime/cpu/Arena.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime::cuda {

/// Returns the batch size of the first input with dimensions; 0 without such an
/// input.
static std::int64_t batchSizeOf(const plan::Manifest &manifest) {
  for (const plan::Program &program : manifest.programs())
    for (const plan::DataInput &input : program.data_inputs())
      for (std::uint32_t index : input.buffer_indices()) {
        const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
        if (buffer.dims_size() > 0)
          return buffer.dims(0);
      }
  return 0;
}

std::string outOfMemoryText(const plan::PlanFile &plan, std::uint64_t free,
                            const std::string &device) {
  constexpr std::size_t kListedBuffers = 10;
  const plan::Manifest &manifest = plan.manifest();
  std::uint64_t total = 0, transientBytes = 0;
  for (const plan::Arena &arena : manifest.arenas()) {
    total += arena.size();
    if (arena.kind() == plan::TRANSIENT)
      transientBytes = arena.size();
  }
  std::string text = plan.path() + ": out of GPU memory: the net needs " +
                     describeBytes(total) + ", " + device + " has " +
                     describeBytes(free) + " free. The largest buffers:";
  std::vector<const plan::Buffer *> buffers;
  for (const plan::Buffer &buffer : manifest.buffers())
    buffers.push_back(&buffer);
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const plan::Buffer *a, const plan::Buffer *b) {
                     return a->size() > b->size();
                   });
  for (std::size_t i = 0; i < std::min(kListedBuffers, buffers.size()); ++i)
    text += "\n  " + describeBytes(buffers[i]->size()) + "  " +
            buffers[i]->name() + " (" +
            plan::ArenaKind_Name(
                manifest.arenas(static_cast<int>(buffers[i]->arena_index()))
                    .kind()) +
            ")";
  const std::int64_t batch = batchSizeOf(manifest);
  if (batch > 0 && transientBytes > 0) {
    // Only the transient arena grows with the batch.
    const std::uint64_t fixedBytes = total - transientBytes;
    const auto fittingBatch = static_cast<std::int64_t>(
        free <= fixedBytes ? 0.0
                           : double(free - fixedBytes) /
                                 double(transientBytes) * double(batch));
    text += fittingBatch > 0
                ? "\nThe batch is " + std::to_string(batch) +
                      "; one of about " + std::to_string(fittingBatch) +
                      " would fit (brewc --batch)"
                : "\nThe parameters alone do not fit: no batch would";
  }
  return text;
}

Arenas::Arenas(const Device &gpu, const Stream &stream,
               const plan::PlanFile &file)
    : device(gpu), plan(file) {
  std::uint64_t total = 0;
  for (const plan::Arena &arena : plan.manifest().arenas())
    total += arena.size();
  const std::uint64_t free = device.freeMemory();
  if (total > free)
    throw unavailable(outOfMemoryText(plan, free, device.name()));
  for (const plan::Arena &arena : plan.manifest().arenas()) {
    try {
      slabs.emplace_back(device, arena.size(), "allocating an arena");
    } catch (const Error &) {
      slabs.clear(); // so that freeMemory() counts their memory
      throw unavailable(
          outOfMemoryText(plan, device.freeMemory(), device.name()));
    }
  }
  initialise(stream);
}

void Arenas::initialise(std::size_t index, const Stream &stream) {
  if (slabs[index].size() == 0)
    return;
  const DriverApi &api = device.api();
  const std::string purpose = "initialising the memory of the GPU";
  api.check(api.cuMemsetD8Async(slabs[index].address(), 0, slabs[index].size(),
                                stream.get()),
            purpose);
  const plan::Arena &arena = plan.manifest().arenas(static_cast<int>(index));
  if (!arena.has_initial_segment_index())
    return;
  const std::uint32_t segment = arena.initial_segment_index();
  const std::uint64_t size =
      plan.manifest().segments(static_cast<int>(segment)).size();
  if (size > 0)
    api.check(api.cuMemcpyHtoDAsync(slabs[index].address(),
                                    plan.segment(segment), size, stream.get()),
              purpose);
}

void Arenas::initialise(const Stream &stream) {
  for (std::size_t i = 0; i < slabs.size(); ++i)
    initialise(i, stream);
  stream.synchronize("initialising the memory of the GPU");
}

void Arenas::initialiseTransient(const Stream &stream) {
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    const plan::ArenaKind kind =
        plan.manifest().arenas(static_cast<int>(i)).kind();
    if (kind == plan::TRANSIENT || kind == plan::GRADIENTS)
      initialise(i, stream);
  }
  stream.synchronize("initialising the memory of the GPU");
}

} // namespace brew::runtime::cuda
