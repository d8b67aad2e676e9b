//===- HostLayerStep.h - Step of a host layer, ready to run -----*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// A call of a host layer, with staging memory for its operands.
class HostLayerStep {
public:
  struct Operand {
    std::uint32_t index; ///< of the buffer
    const plan::Buffer *buffer;
    bool written;         ///< by the layer; else read
    bool top;             ///< else a bottom
    bool gradient;        ///< else values
    std::size_t position; ///< among the tops or bottoms of the call
  };

  /// `manifest` and `layers` must outlive the step.
  HostLayerStep(const plan::Manifest &manifest, int program,
                const plan::HostCall &call, HostLayers &layers);

  const std::vector<Operand> &operands() const { return allOperands; }
  const std::string &layer() const { return step->layer(); }

  /// Calls the layer. `memory` contains host memory for each operand: the bytes
  /// of its buffer, in its layout. The caller must then store() the written
  /// operands. Throws the errors of HostLayers::call.
  void compute(const std::vector<std::byte *> &memory);
  /// Copies the elements of a written operand from staging memory to `memory`.
  /// Leaves the gaps between its strides unchanged. No-op if the operand is not
  /// staged.
  void store(std::size_t operand, std::byte *memory) const;

private:
  const plan::HostCall *step;
  int program;
  HostLayers *layers;
  std::vector<Operand> allOperands;
  HostLayerArguments arguments;
  /// By operand: dense row-major values if the buffer's layout or type differs;
  /// else empty.
  std::vector<std::vector<std::byte>> staging;
  std::vector<bool> staged;
};

} // namespace brew::runtime
