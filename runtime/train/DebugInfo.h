//===- DebugInfo.h - Caffe's debug_info lines -------------------*- C++ -*-===//
#pragma once

#include "runtime/executor/Executor.h"
#include "runtime/session/Parameters.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// Logs mean absolute values after a program's run: tops and parameters of
/// every layer, gradients of bottoms and parameters. Requires a plan compiled
/// with debug_info, which pins these values. Caffe also has a line for updates,
/// but never prints it.
class DebugInfo {
public:
  /// The arguments must outlive this object.
  DebugInfo(const plan::Program &program, const Parameters &parameters,
            Events &events)
      : program(program), parameters(parameters), events(events) {}

  /// Returns whether the program was compiled with debug_info.
  static bool isCompiledIn(const plan::Program &program);

  /// Logs the forward pass, in the order of the layers.
  void logForward() const;
  /// Logs the backward pass, from the last layer to the first, and the norms of
  /// all parameters and gradients. For a shared parameter, each of its layers
  /// shows the full gradient.
  void logBackward() const;

private:
  /// Reads the values of a blob, limited to its valid items, or of its
  /// gradient.
  std::vector<double> readBlob(const std::string &name,
                               std::uint32_t buffer) const;
  const caffe::LayerBlobs *findLayerBlobs(const plan::Layer &layer) const;

  const plan::Program &program;
  const Parameters &parameters;
  Events &events;
};

} // namespace brew::runtime
