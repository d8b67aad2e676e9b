//===- DebugInfo.h - Caffe's debug_info lines -------------------*- C++ -*-===//
#pragma once

#include "formats/caffe.pb.h"
#include "runtime/executor/Executor.h"
#include "runtime/session/Parameters.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::runtime {

class Session;

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
  /// Creates the object for a program of `session`, which must outlive it.
  /// Returns null unless the solver has debug_info and the program was compiled
  /// with it.
  static std::unique_ptr<DebugInfo>
  create(Session &session, int program, const caffe::SolverParameter &solver);

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
