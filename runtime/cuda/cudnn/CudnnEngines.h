//===- CudnnEngines.h - The engines that run a cuDNN graph ------*- C++ -*-===//
#pragma once

#include "runtime/cuda/cudnn/CudnnApi.h"
#include "runtime/cuda/cudnn/CudnnGraph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime::cuda::cudnn {

/// Which engines may be taken.
struct EngineConstraints {
  bool strict = true; ///< F32 operands are multiplied as F32
  bool deterministic = false;
};

/// What engines are for: the device of a handle; or one that is not here and is
/// known by its properties only, so that engines can be asked for and compiled
/// but not run.
struct Device {
  Handle handle = nullptr;
  const Descriptor *properties = nullptr;
};

/// Descriptors that cuDNN writes the knobs of a configuration to. It does not
/// say beforehand how many a configuration has, so there is one for each kind;
/// the same serve all engines of a graph.
class KnobChoices {
public:
  explicit KnobChoices(const Api &api);
  /// " k2=4 k13=1".
  std::string describe(const Descriptor &configuration);

private:
  std::vector<Descriptor> choices;
};

/// One way to run a graph.
class Engine {
public:
  Engine(const Api &api, Device device, Descriptor configuration,
         KnobChoices &knobs);

  /// "engine 28 k2=4 k13=1": index and knobs.
  const std::string &name() const { return text; }
  /// "engine 28".
  const std::string &kind() const { return engineText; }
  bool satisfies(const EngineConstraints &constraints) const;

  /// Compiles the engine for its graph when first asked; false if cuDNN
  /// refuses after all.
  bool prepare();
  /// Gives the compiled engine back.
  void release() { plan.reset(); }
  std::uint64_t workspaceBytes() const { return workspace; }

  /// Enqueues it on the handle's stream. Throws Failure.
  void run(const std::vector<std::int64_t> &ids,
           const std::vector<void *> &pointers, void *scratch) const;

private:
  const Api *api;
  Device device;
  Descriptor configuration;
  std::optional<Descriptor> plan;
  bool refused = false;
  std::string text, engineText;
  std::vector<int> notes;
  std::uint64_t workspace = 0;
};

/// A graph of operations with the engines that cuDNN suggests for it, best
/// first, as far as they obey the constraints. Creating one takes tens of
/// milliseconds, since cuDNN's heuristics look at every engine.
class Graph {
public:
  Graph(const Api &api, Device device, Operations operations,
        const EngineConstraints &constraints);

  std::vector<Engine> engines;
  const std::vector<std::int64_t> &ids() const { return operations.ids; }

private:
  void queryHeuristics(int mode, const EngineConstraints &constraints, KnobChoices &knobs);

  const Api &api;
  Device device;
  Operations operations;
  Descriptor graph;
};

} // namespace brew::runtime::cuda::cudnn
