//===- InitialValues.cpp - Initial values of parameters -------------------===//
#include "caffe/weights/InitialValues.h"

#include "caffe/Filler.h"
#include "caffe/Slices.h"
#include "caffe/weights/BufferLayout.h"
#include "plan/PlanFile.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::caffe {
namespace {

template <typename Element>
void fillRange(const Filler &filler, const ElementOrder &order,
               std::int64_t begin, std::int64_t end, std::byte *memory) {
  auto *elements = reinterpret_cast<Element *>(memory);
  constexpr std::int64_t kChunk = 1024;
  Element chunk[kChunk];
  for (std::int64_t from = begin; from < end; from += kChunk) {
    const std::int64_t to = std::min(from + kChunk, end);
    filler.fill(from, to, chunk);
    order.forEachRun(from, to,
                     [&](std::int64_t first, std::int64_t position,
                         std::int64_t length, std::int64_t step) {
                       for (std::int64_t i = 0; i < length; ++i)
                         elements[position + i * step] =
                             chunk[first - from + i];
                     });
  }
}

/// Fills a buffer with several threads. Each value depends on its index only,
/// so the bits do not depend on the split.
void fillBuffer(const Filler &filler, const plan::Buffer &buffer,
                std::byte *memory, int threads) {
  const ElementOrder order(buffer);
  auto fillElements = [&](std::int64_t begin, std::int64_t end) {
    if (buffer.type() == plan::F64)
      fillRange<double>(filler, order, begin, end, memory);
    else
      fillRange<float>(filler, order, begin, end, memory);
  };
  forEachSlice(order.count(), threads, fillElements);
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
