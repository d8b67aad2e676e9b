//===- HostLayerStep.h - Step of a host layer, ready to run -----*- C++ -*-===//
#pragma once

#include "plan/Operands.h"
#include "runtime/host_layers/HostLayers.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// A call of a host layer, with staging memory for its operands.
class HostLayerStep {
public:
  /// `manifest` and `layers` must outlive it.
  HostLayerStep(const plan::Manifest &manifest, int program,
                const plan::Step &step, HostLayers &layers);

  const std::vector<plan::HostOperand> &operands() const { return allOperands; }
  const std::string &layer() const { return step->host().layer(); }

  /// Calls the layer. `memory` contains host memory for each operand: the bytes
  /// of its buffer, in its layout. The caller must then store() the written
  /// operands. Throws the errors of HostLayers::call.
  void compute(const std::vector<std::byte *> &memory);
  /// Copies the elements of a written operand from staging memory to `memory`.
  /// Leaves the gaps between its strides unchanged. No-op if the operand is not
  /// staged.
  void store(std::size_t operand, std::byte *memory) const;

private:
  const plan::Step *step;
  int program;
  HostLayers *layers;
  std::vector<plan::HostOperand> allOperands;
  HostLayerArguments arguments;
  /// By operand: dense row-major values if the buffer's layout or type differs;
  /// else empty.
  std::vector<std::vector<std::byte>> staging;
  std::vector<bool> staged;
};

} // namespace brew::runtime
