//===- DebugInfo.h - Caffe's debug_info lines -------------------*- C++ -*-===//
#pragma once

#include "runtime/executor/Executor.h"
#include "runtime/session/Parameters.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// Logs mean absolute values of what a program's run left: every layer's tops
/// and parameters, and gradients of bottoms and parameters. For plans compiled
/// with debug_info, which keep all these. Caffe has a line for updates too, but
/// nothing in it prints that.
class DebugInfo {
public:
  /// `parameters` and `events` outlive it.
  DebugInfo(const plan::Program &program, const Parameters &parameters,
            Events &events)
      : program(program), parameters(parameters), events(events) {}

  /// Whether the program was compiled to show anything.
  static bool isCompiledIn(const plan::Program &program);

  /// The lines of the forward pass, in the layers' order.
  void logForward() const;
  /// The lines of the backward pass, from the last layer to the first, and the
  /// norms of all parameters and gradients. Of a shared parameter the whole
  /// gradient is shown under each of its layers.
  void logBackward() const;

private:
  /// The values of a blob, of its items that there are, or of their gradients.
  std::vector<double> readBlob(const std::string &name,
                               std::uint32_t buffer) const;
  const caffe::FileLayer *fileLayer(const plan::Layer &layer) const;

  const plan::Program &program;
  const Parameters &parameters;
  Events &events;
};

} // namespace brew::runtime
