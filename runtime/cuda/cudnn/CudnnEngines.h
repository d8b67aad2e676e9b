//===- CudnnEngines.h - The engines of a cuDNN graph ------------*- C++ -*-===//
#pragma once

#include "runtime/cuda/cudnn/CudnnApi.h"
#include "runtime/cuda/cudnn/CudnnGraph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime::cuda::cudnn {

/// Constraints on the engines of a graph.
struct EngineConstraints {
  bool strict = true; ///< engines must multiply F32 operands as F32
  bool deterministic = false;
};

/// The device that engines are compiled for: the device of `handle`, or an
/// absent one that is known by its properties only. Engines for an absent
/// device can be queried and compiled but not run.
struct TargetDevice {
  Handle handle = nullptr;
  const Descriptor *properties = nullptr;
};

/// Descriptors into which cuDNN writes the knob choices of an engine
/// configuration. cuDNN does not report their number in advance, so there is
/// one descriptor per type of knob. All engines of a graph share them.
class KnobChoices {
public:
  explicit KnobChoices(const Api &api);
  /// Returns the knob choices as text: " k2=4 k13=1".
  std::string describe(const Descriptor &configuration);

private:
  std::vector<Descriptor> choices;
};

/// An engine configuration that can run a graph.
class Engine {
public:
  Engine(const Api &api, TargetDevice device, Descriptor configuration,
         KnobChoices &knobs);

  /// Returns the engine's index and knob choices: "engine 28 k2=4 k13=1".
  const std::string &name() const { return text; }
  /// Returns the engine's index: "engine 28".
  const std::string &kind() const { return engineText; }
  bool satisfies(const EngineConstraints &constraints) const;

  /// Compiles the engine for its graph on the first call. Returns false if
  /// cuDNN rejects it.
  bool prepare();
  /// Frees the compiled engine.
  void release() { plan.reset(); }
  std::uint64_t workspaceBytes() const { return workspace; }

  /// Enqueues the engine on the handle's stream. Throws Failure.
  void run(const std::vector<std::int64_t> &ids,
           const std::vector<void *> &pointers, void *scratch) const;

private:
  const Api *api;
  TargetDevice device;
  Descriptor configuration;
  std::optional<Descriptor> plan;
  bool rejected = false;
  std::string text, engineText;
  std::vector<int> notes;
  std::uint64_t workspace = 0;
};

/// A graph of operations and the engines that cuDNN suggests for it and that
/// satisfy the constraints, best first. Creating a graph takes tens of
/// milliseconds, since cuDNN's heuristics evaluate every engine.
class Graph {
public:
  Graph(const Api &api, TargetDevice device, Operations operations,
        const EngineConstraints &constraints);

  std::vector<Engine> engines;
  const std::vector<std::int64_t> &ids() const { return operations.ids; }

private:
  void queryHeuristics(int mode, const EngineConstraints &constraints,
                       KnobChoices &knobs);

  const Api &api;
  TargetDevice device;
  Operations operations;
  Descriptor graph;
};

} // namespace brew::runtime::cuda::cudnn
