//===- CudnnEngines.cpp - The engines of a cuDNN graph --------------------===//
#include "runtime/cuda/cudnn/CudnnEngines.h"

#include <algorithm>

namespace brew::runtime::cuda::cudnn {

KnobChoices::KnobChoices(const Api &api) {
  constexpr int kKnobTypes = 44;
  for (int i = 0; i < kKnobTypes; ++i)
    choices.emplace_back(api, KnobChoiceDescriptor);
}

std::string KnobChoices::describe(const Descriptor &configuration) {
  std::string text;
  const std::int64_t found =
      configuration.get(EngineConfigKnobChoices, choices);
  for (std::int64_t i = 0; i < found; ++i) {
    const Descriptor &knob = choices[static_cast<std::size_t>(i)];
    const auto type = knob.get<int>(KnobChoiceType, TypeKnobType, 1);
    const auto value = knob.get<std::int64_t>(KnobChoiceValue, TypeInt64, 1);
    if (!type.empty() && !value.empty())
      text += " k" + std::to_string(type[0]) + "=" + std::to_string(value[0]);
  }
  return text;
}

Engine::Engine(const Api &cudnnApi, TargetDevice target, Descriptor config,
               KnobChoices &knobs)
    : api(&cudnnApi), device(target), configuration(std::move(config)) {
  std::vector<Descriptor> engine;
  engine.emplace_back(cudnnApi, EngineDescriptor);
  configuration.get(EngineConfigEngine, engine);
  const auto index =
      engine[0].get<std::int64_t>(EngineGlobalIndex, TypeInt64, 1);
  notes = engine[0].get<int>(EngineNumericalNote, TypeNumericalNote, NoteCount);
  engineText = "engine " + std::to_string(index.empty() ? -1 : index[0]);
  text = engineText + knobs.describe(configuration);
}

bool Engine::satisfies(const EngineConstraints &constraints) const {
  auto has = [&](int note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  if (constraints.deterministic && has(NoteNondeterministic))
    return false;
  // For every type, sums must be F32 and operands must keep their range.
  if (has(NoteDownConvertInputs) || has(NoteReducedPrecisionReduction))
    return false;
  // Tensor cores compute F32 as TF32; large Winograd tiles and FFTs are less
  // accurate than F32.
  return !constraints.strict ||
         !(has(NoteTensorCore) || has(NoteFft) || has(NoteWinogradTile6x6) ||
           has(NoteWinogradTile13x13));
}

bool Engine::prepare() {
  if (plan || rejected)
    return !rejected;
  try {
    Descriptor compiled(*api, ExecutionPlanDescriptor);
    if (device.properties)
      compiled.set(PlanDeviceProperties, *device.properties);
    else
      compiled.set(PlanHandle, TypeHandle, device.handle);
    compiled.set(PlanEngineConfig, configuration).finalize();
    const auto bytes =
        compiled.get<std::int64_t>(PlanWorkspaceSize, TypeInt64, 1);
    workspace = bytes.empty() ? 0 : static_cast<std::uint64_t>(bytes[0]);
    plan = std::move(compiled);
  } catch (const Failure &) {
    rejected = true;
  }
  return !rejected;
}

void Engine::run(const std::vector<std::int64_t> &ids,
                 const std::vector<void *> &pointers, void *scratch) const {
  Descriptor pack(*api, VariantPackDescriptor);
  pack.set(VariantPackUniqueIds, TypeInt64, ids)
      .set(VariantPackDataPointers, TypeVoidPtr, pointers)
      .set(VariantPackWorkspace, TypeVoidPtr, scratch)
      .finalize();
  api->check(api->cudnnBackendExecute(device.handle, plan->get(), pack.get()),
             "running an engine");
}

Graph::Graph(const Api &cudnnApi, TargetDevice target,
             Operations graphOperations, const EngineConstraints &constraints)
    : api(cudnnApi), device(target), operations(std::move(graphOperations)),
      graph(cudnnApi, OperationGraphDescriptor) {
  std::vector<BackendDescriptor> list;
  for (const Descriptor &operation : operations.operations)
    list.push_back(operation.get());
  if (device.handle)
    graph.set(GraphHandle, TypeHandle, device.handle);
  graph.set(GraphOperations, TypeBackendDescriptor, list).finalize();
  KnobChoices knobs(api);
  for (int mode : {HeurModeB, HeurModeA, HeurModeFallback})
    queryHeuristics(mode, constraints, knobs);
}

void Graph::queryHeuristics(int mode, const EngineConstraints &constraints,
                            KnobChoices &knobs) {
  constexpr std::int64_t kMaxConfigurations = 24;
  try {
    Descriptor heuristics(api, EngineHeuristicsDescriptor);
    if (device.properties)
      heuristics.set(HeuristicsDeviceProperties, *device.properties);
    heuristics.set(HeuristicsOperationGraph, graph)
        .set(HeuristicsMode, TypeHeurMode, mode)
        .finalize();
    std::int64_t count =
        heuristics.count(HeuristicsResults, TypeBackendDescriptor);
    std::vector<Descriptor> found;
    for (count = std::min(count, kMaxConfigurations); count > 0; --count)
      found.emplace_back(api, EngineConfigDescriptor);
    if (found.empty())
      return;
    count = heuristics.get(HeuristicsResults, found);
    for (std::int64_t i = 0; i < count; ++i) {
      Engine engine(api, device, std::move(found[static_cast<std::size_t>(i)]),
                    knobs);
      const bool known =
          std::any_of(engines.begin(), engines.end(), [&](const Engine &other) {
            return other.name() == engine.name();
          });
      if (!known && engine.satisfies(constraints))
        engines.push_back(std::move(engine));
    }
  } catch (const Failure &) {
    // This mode has no engine for the graph; other modes may have one.
  }
}

} // namespace brew::runtime::cuda::cudnn
