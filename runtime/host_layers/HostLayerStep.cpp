//===- HostLayerStep.cpp - Step of a host layer, ready to run -------------===//
#include "runtime/host_layers/HostLayerStep.h"

#include "caffe/weights/BufferLayout.h"

namespace brew::runtime {

HostLayerStep::HostLayerStep(const plan::Manifest &manifest, int programIndex,
                             const plan::Step &hostStep, HostLayers &hostLayers)
    : step(&hostStep), program(programIndex), layers(&hostLayers),
      allOperands(plan::hostOperands(manifest, hostStep)),
      staging(allOperands.size()) {
  const plan::DataType precision = manifest.target().precision();
  arguments.f64 = precision == plan::F64;
  for (const plan::HostOperand &operand : allOperands) {
    staged.push_back(!caffe::isDenseRowMajor(*operand.buffer, precision));
    if (operand.isGradient)
      continue;
    HostLayerBlob blob;
    blob.dims = caffe::toVector(operand.buffer->dims());
    blob.count = plan::elementCount(*operand.buffer);
    (operand.isTop ? arguments.tops : arguments.bottoms)
        .push_back(std::move(blob));
  }
}

void HostLayerStep::compute(const std::vector<std::byte *> &memory) {
  for (std::size_t i = 0; i < allOperands.size(); ++i) {
    const plan::HostOperand &operand = allOperands[i];
    HostLayerBlob &blob =
        (operand.isTop ? arguments.tops : arguments.bottoms)[operand.position];
    void *values = memory[i];
    if (staged[i]) {
      // Allocate staging memory only for programs that run.
      staging[i].resize(static_cast<std::size_t>(blob.count) *
                        (arguments.f64 ? sizeof(double) : sizeof(float)));
      values = staging[i].data();
      if (!operand.isWritten && arguments.f64)
        caffe::load(*operand.buffer, memory[i], static_cast<double *>(values));
      else if (!operand.isWritten)
        caffe::load(*operand.buffer, memory[i], static_cast<float *>(values));
    }
    (operand.isGradient ? blob.gradient : blob.values) = values;
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
