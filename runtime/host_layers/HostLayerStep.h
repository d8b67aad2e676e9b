//===- HostLayerStep.h - A host layer's step made ready --------------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// A call of a host layer, with the places that its operands go through.
class HostLayerStep {
public:
  struct Operand {
    std::uint32_t index; ///< of the buffer
    const plan::Buffer *buffer;
    bool written; ///< else read
    // Its place in the call.
    bool top, gradient;
    std::size_t position;
  };

  /// `manifest` and `layers` outlive it.
  HostLayerStep(const plan::Manifest &manifest, int program,
           const plan::HostCall &call, HostLayers &layers);

  const std::vector<Operand> &operands() const { return all; }
  const std::string &layer() const { return step->layer(); }

  /// Calls the layer over memory of the host: for each operand the bytes of its
  /// buffer, in its layout. Afterwards store() is due for what was written.
  /// Throws as HostLayers::call does.
  void compute(const std::vector<std::byte *> &memory);
  /// Brings a written operand's elements into its bytes; the gaps of the
  /// strides stay. Nothing is left to do where the layer wrote them itself.
  void store(std::size_t operand, std::byte *memory) const;

private:
  const plan::HostCall *step;
  int program;
  HostLayers *layers;
  std::vector<Operand> all;
  HostLayerArguments arguments;
  /// By operand: values in the form that functions take, where the buffer has
  /// another; empty where they get its own memory.
  std::vector<std::vector<std::byte>> staging;
  std::vector<bool> staged;
};

} // namespace brew::runtime
