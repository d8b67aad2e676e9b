//===- InitialValues.cpp - Initial values of parameters -------------------===//
#include "caffe/weights/InitialValues.h"

#include "caffe/Filler.h"
#include "caffe/weights/BufferLayout.h"
#include "plan/PlanFile.h"
#include "support/Error.h"

#include <algorithm>
#include <system_error>
#include <thread>

namespace brew::caffe {
namespace {

template <typename Element>
void fillRange(const Filler &filler, const ElementOrder &order,
               std::int64_t begin, std::int64_t end, std::byte *memory) {
  auto *elements = reinterpret_cast<Element *>(memory);
  order.forEachRun(begin, end,
                   [&](std::int64_t first, std::int64_t position,
                       std::int64_t length, std::int64_t step) {
                     for (std::int64_t i = 0; i < length; ++i)
                       elements[position + i * step] =
                           static_cast<Element>(filler.value(first + i));
                   });
}

/// Fills a buffer with several threads. Each value depends on its index only,
/// so the bits do not depend on the split.
void fillBuffer(const Filler &filler, const plan::Buffer &buffer,
                std::byte *memory, int threads) {
  constexpr std::int64_t kElementsPerThread = 1 << 18;
  const ElementOrder order(buffer);
  auto fillElements = [&](std::int64_t begin, std::int64_t end) {
    if (buffer.type() == plan::F64)
      fillRange<double>(filler, order, begin, end, memory);
    else
      fillRange<float>(filler, order, begin, end, memory);
  };
  const std::int64_t count = order.count();
  const std::int64_t slices = std::clamp<std::int64_t>(
      count / kElementsPerThread, 1, std::max(1, threads));
  std::vector<std::thread> workers;
  workers.reserve(static_cast<std::size_t>(slices));
  // The first slice without a worker. This thread fills that slice, all later
  // ones and slice 0.
  std::int64_t nextSlice = 1;
  try {
    for (; nextSlice < slices; ++nextSlice)
      workers.emplace_back(fillElements, count * nextSlice / slices,
                           count * (nextSlice + 1) / slices);
  } catch (const std::system_error &) {
    // The system cannot create more threads.
  }
  fillElements(0, count / slices);
  fillElements(count * nextSlice / slices, count);
  for (std::thread &worker : workers)
    worker.join();
}

} // namespace

void writeInitialValues(const plan::Manifest &manifest,
                        const plan::Parameter &parameter,
                        const std::byte *prototxtValues, std::uint64_t seed,
                        int threads, std::byte *memory) {
  const plan::Buffer &buffer =
      manifest.buffers(static_cast<int>(parameter.buffer_index()));
  if (prototxtValues) {
    if (buffer.type() == plan::F64)
      store(buffer, reinterpret_cast<const double *>(prototxtValues), memory);
    else
      store(buffer, reinterpret_cast<const float *>(prototxtValues), memory);
    return;
  }
  const std::string name =
      parameter.layer() + "/" + std::to_string(parameter.index());
  caffe::FillerParameter fillerParameter; // constant zero by default
  if (!fillerParameter.ParseFromString(parameter.filler()))
    throw badInput("damaged plan: the filler of parameter " + name +
                   " cannot be read");
  const Filler filler(fillerParameter, toVector(parameter.file_dims()),
                      RandomStream(seed, "filler " + name),
                      "parameter " + name);
  fillBuffer(filler, buffer, memory, threads);
}

} // namespace brew::caffe
