//===- HostLayerStep.cpp - Step of a host layer, ready to run -------------===//
#include "runtime/host_layers/HostLayerStep.h"

#include "caffe/weights/BufferLayout.h"

namespace brew::runtime {

HostLayerStep::HostLayerStep(const plan::Manifest &manifest, int programIndex,
                             const plan::HostCall &call, HostLayers &hostLayers)
    : step(&call), program(programIndex), layers(&hostLayers) {
  const plan::DataType precision = manifest.target().precision();
  arguments.f64 = precision == plan::F64;
  auto add = [&](std::uint32_t index, bool written, bool top, bool gradient,
                 std::size_t position) {
    const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
    allOperands.push_back({index, &buffer, written, top, gradient, position});
    staged.push_back(!caffe::isDenseRowMajor(buffer, precision));
  };
  auto addValues = [&](const auto &indices, bool written, bool top) {
    std::vector<HostLayerBlob> &blobs =
        top ? arguments.tops : arguments.bottoms;
    for (std::uint32_t index : indices) {
      const plan::Buffer &buffer = manifest.buffers(static_cast<int>(index));
      HostLayerBlob blob;
      blob.dims = caffe::toVector(buffer.dims());
      blob.count = plan::elementCount(buffer);
      add(index, written, top, false, blobs.size());
      blobs.push_back(std::move(blob));
    }
  };
  const bool forward = call.direction() == plan::FORWARD;
  addValues(call.bottom_buffer_indices(), false, false);
  addValues(call.top_buffer_indices(), forward, true);
  for (int i = 0; i < call.top_gradient_buffer_indices_size(); ++i)
    add(call.top_gradient_buffer_indices(i), false, true, true,
        static_cast<std::size_t>(i));
  for (const auto &gradient : call.bottom_gradients())
    add(gradient.buffer_index(), true, false, true, gradient.bottom());
  staging.resize(allOperands.size());
}

void HostLayerStep::compute(const std::vector<std::byte *> &memory) {
  for (std::size_t i = 0; i < allOperands.size(); ++i) {
    const Operand &operand = allOperands[i];
    HostLayerBlob &blob =
        (operand.top ? arguments.tops : arguments.bottoms)[operand.position];
    void *values = memory[i];
    if (staged[i]) {
      // Allocate staging memory only for programs that run.
      staging[i].resize(static_cast<std::size_t>(blob.count) *
                        (arguments.f64 ? sizeof(double) : sizeof(float)));
      values = staging[i].data();
      if (!operand.written && arguments.f64)
        caffe::load(*operand.buffer, memory[i], static_cast<double *>(values));
      else if (!operand.written)
        caffe::load(*operand.buffer, memory[i], static_cast<float *>(values));
    }
    (operand.gradient ? blob.gradient : blob.values) = values;
  }
  layers->call(program, *step, arguments);
}

void HostLayerStep::store(std::size_t operand, std::byte *memory) const {
  if (!staged[operand])
    return;
  const plan::Buffer &buffer = *allOperands[operand].buffer;
  const void *values = staging[operand].data();
  if (arguments.f64)
    caffe::store(buffer, static_cast<const double *>(values), memory);
  else
    caffe::store(buffer, static_cast<const float *>(values), memory);
}

} // namespace brew::runtime
