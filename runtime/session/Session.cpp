//===- Session.cpp - A plan with its memory, ready to run -----------------===//

#include "runtime/session/Session.h"

#include "formats/PathLookup.h"
#include "formats/WeightFile.h"
#include "plan/Contract.h"
#include "runtime/comm/Communicator.h"
#include "runtime/session/NetOutputs.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::runtime {
namespace {

/// Splits a list of files at commas and trims spaces.
std::vector<std::string> splitList(const std::string &list) {
  std::vector<std::string> names;
  std::string name;
  for (char c : list + ",") {
    if (c != ',') {
      name += c;
      continue;
    }
    const std::size_t first = name.find_first_not_of(" \t");
    if (first != name.npos)
      names.push_back(
          name.substr(first, name.find_last_not_of(" \t") - first + 1));
    name.clear();
  }
  return names;
}

std::vector<std::string> splitLists(const std::vector<std::string> &lists) {
  std::vector<std::string> names;
  for (const std::string &list : lists)
    for (std::string &name : splitList(list))
      names.push_back(std::move(name));
  return names;
}

ExecutorOptions executorOptions(const SessionOptions &options,
                                const plan::Manifest &manifest,
                                Events &events) {
  ExecutorOptions device = options.device;
  device.shareParameters =
      options.shareParameters ? &options.shareParameters->executor() : nullptr;
  device.warn = [&events](const std::string &text) {
    events.warning(log::site::brew, text);
  };
  // Times on the simulator are meaningless.
  const auto &archs = manifest.target().archs();
  if (manifest.target().kind() == plan::Target::CUDA &&
      std::all_of(archs.begin(), archs.end(),
                  [](const std::string &arch) { return arch == "sim"; }))
    device.tune = false;
  return device;
}

} // namespace

Session::Session(std::shared_ptr<const plan::PlanFile> planFile,
                 SessionOptions options)
    : file(std::move(planFile)),
      exec(file,
           [&] {
             if (options.listener)
               listeners.add(options.listener);
             return executorOptions(options, file->manifest(), listeners);
           }()),
      params(exec, &listeners), persistent(exec, &listeners),
      ownDevice(options.device),
      lastFolder(options.folder.empty() ? formats::folderOfFile(file->path())
                                        : options.folder),
      readerOptions(options.readerOptions),
      sharesParameters(options.shareParameters),
      allowMissingWeights(options.allowMissingWeights),
      ownLearner(options.learner), providedWeights(file->manifest()),
      ranks(options.device.communicator),
      programInputs(static_cast<std::size_t>(manifest().programs_size())) {
  if (sharesParameters)
    providedWeights.addAll();
  if (ranks) {
    readerOptions.rank = static_cast<std::uint64_t>(ranks->rank());
    readerOptions.ranks = static_cast<std::uint64_t>(ranks->ranks());
  }
  currentSeed = rankSeed(options.seed);
  if (!options.initialisers.empty() && plan::embedsWeights(manifest()))
    throw usageError("the plan embeds weights, so it has no fillers to replace "
                     "(--init)");
  for (const std::string &text : options.initialisers)
    initialisers.push_back(parseInitialiser(text, manifest()));
}

Session::~Session() = default;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

void Session::initialise(const std::vector<std::string> &weights,
                         bool required) {
  const bool complete = std::all_of(
      manifest().parameters().begin(), manifest().parameters().end(),
      [](const plan::Parameter &parameter) {
        return parameter.has_initial_segment_index();
      });
  if (required && !complete && !plan::embedsWeights(manifest()) &&
      !sharesParameters && splitLists(weights).empty() &&
      !manifest().has_initial_weights())
    throw Error(ExitStatus::Usage,
                "the plan has no weights: pass a weight file with --weights");
  fillParameters();
  loadWeights(weights, {}, /*training=*/false, missingWeightsPolicy());
  prepare();
}

void Session::fillParameters() {
  if (sharesParameters)
    return;
  providedWeights = caffe::ProvidedWeights(manifest());
  if (!plan::embedsWeights(manifest())) {
    params.fill(currentSeed.rankSeed());
    for (const Initialiser &initialiser : initialisers)
      for (const plan::Parameter *parameter : initialiser.parameters)
        params.fill(*parameter, currentSeed.rankSeed(), &initialiser.filler);
    return;
  }
  for (int i = 0; i < manifest().arenas_size(); ++i) {
    const plan::Arena &arena = manifest().arenas(i);
    if (arena.kind() != plan::PARAMETERS)
      continue;
    const std::uint32_t segment = arena.initial_segment_index();
    exec.uploadBytes(static_cast<std::uint32_t>(i), 0, exec.segment(segment),
                     manifest().segments(static_cast<int>(segment)).size());
  }
}

std::vector<std::string>
Session::loadWeights(const std::vector<std::string> &weights,
                     const std::vector<std::string> &folders, bool training) {
  const bool planTrains = exec.findProgram(plan::programs::kUpdate) >= 0;
  return loadWeights(weights, folders, training,
                     training || planTrains ? caffe::MissingWeights::Note
                                            : missingWeightsPolicy());
}

/// Returns the policy for weights that no file provides, if the plan does not
/// train.
caffe::MissingWeights Session::missingWeightsPolicy() const {
  return plan::isForInference(manifest()) && !allowMissingWeights
             ? caffe::MissingWeights::Refuse
             : caffe::MissingWeights::Warn;
}

std::vector<std::string>
Session::loadWeights(const std::vector<std::string> &weights,
                     const std::vector<std::string> &folders, bool training,
                     caffe::MissingWeights policy) {
  std::vector<std::string> names = splitLists(weights);
  std::vector<std::string> searchFolders = folders;
  if (names.empty() && !plan::embedsWeights(manifest()) && !sharesParameters &&
      manifest().has_initial_weights()) {
    names = splitList(manifest().initial_weights());
    searchFolders.insert(searchFolders.begin(),
                         manifest().initial_weights_folder());
  }
  searchFolders.push_back(lastFolder);
  std::vector<std::string> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    listeners.emit(event::WeightsLoading{names[i], training});
    files.push_back(
        formats::requirePath(names[i], searchFolders, "weight file"));
    // A later file may contain the missing layers.
    loadFile(files.back(), files,
             i + 1 == names.size() ? std::optional(policy) : std::nullopt);
  }
  return files;
}

/// Loads the weight file `path`. An error for missing layers names all `files`
/// loaded so far; without a policy missing layers are not reported.
void Session::loadFile(const std::string &path,
                       const std::vector<std::string> &files,
                       std::optional<caffe::MissingWeights> policy) {
  const formats::Weights weights = formats::readWeights(path);
  const caffe::WeightBinding binding = params.bind(weights, path);
  caffe::ProvidedWeights provided = providedWeights;
  provided.add(binding);
  const std::vector<std::string> missingLayers =
      provided.layersWithoutWeights(params.layers());
  if (!missingLayers.empty() && policy == caffe::MissingWeights::Refuse)
    throw badInput(
        caffe::missingWeightsText(files, missingLayers, /*isError=*/true));
  params.write(binding);
  providedWeights = std::move(provided);
  if (const auto warning = notFiniteText(binding))
    listeners.warning(log::site::ignoreLayer, path + ": " + *warning);
  for (const std::string &line : unmatchedLayersLines(binding, missingLayers))
    listeners.info(log::site::ignoreLayer, line);
  if (missingLayers.empty() || !policy)
    return;
  const std::string missing =
      caffe::missingWeightsText(files, missingLayers, /*isError=*/false);
  if (policy == caffe::MissingWeights::Note)
    listeners.info(log::site::ignoreLayer, missing);
  else
    listeners.warning(log::site::ignoreLayer, missing);
}

void Session::prepare() {
  const int prepare = exec.findProgram(plan::programs::kPrepare);
  if (prepare >= 0)
    exec.run(prepare);
  exec.packParameters();
}

void Session::resetState() {
  for (int i = 0; i < manifest().arenas_size(); ++i) {
    const plan::Arena &arena = manifest().arenas(i);
    if (arena.kind() != plan::STATE)
      continue;
    const std::vector<std::byte> zeros(static_cast<std::size_t>(arena.size()));
    exec.uploadBytes(static_cast<std::uint32_t>(i), 0, zeros.data(),
                     zeros.size());
  }
  for (const plan::NamedBuffer &state : manifest().persistent()) {
    const std::vector<std::byte> zeros(static_cast<std::size_t>(
        manifest().buffers(static_cast<int>(state.buffer_index())).size()));
    exec.upload(state.buffer_index(), zeros.data());
  }
  exec.hostLayers().restore({});
}

void Session::setSeed(caffe::RankSeed seed) {
  for (const auto &ownInputs : programInputs)
    if (ownInputs)
      ownInputs->reset(seed);
  currentSeed = seed;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

int Session::program(const std::string &name) const {
  const int index = exec.findProgram(name);
  if (index >= 0)
    return index;
  std::string list;
  for (const plan::Program &program : manifest().programs())
    list += (list.empty() ? "" : ", ") + program.name();
  throw Error(ExitStatus::Usage,
              "the plan has no program '" + name + "'; it has: " + list);
}

const plan::Program &Session::requireProgram(int program) const {
  if (program < 0 || program >= manifest().programs_size())
    throw Error(ExitStatus::Usage,
                "the plan has no program " + std::to_string(program));
  return manifest().programs(program);
}

ProgramInputs &Session::inputs(int program) {
  requireProgram(program);
  auto &ownInputs = programInputs[static_cast<std::size_t>(program)];
  if (!ownInputs)
    ownInputs = std::make_unique<ProgramInputs>(
        exec, program, currentSeed, lastFolder, &listeners, readerOptions);
  return *ownInputs;
}

void Session::feedAndRun(int program) {
  inputs(program).feed();
  exec.run(program);
}

void Session::run(int program, Pass pass) {
  const plan::Program &description = requireProgram(program);
  const auto steps = static_cast<std::size_t>(description.steps_size());
  const std::size_t firstBackwardStep =
      std::min<std::size_t>(description.first_backward_step(), steps);
  switch (pass) {
  case Pass::Both:
    return exec.run(program);
  case Pass::Forward:
    exec.run(program, 0, firstBackwardStep);
    return exec.check(program);
  case Pass::Backward:
    return exec.run(program, firstBackwardStep, steps);
  }
}

void Session::emitNetSetUp(int program) {
  const plan::Program &description = requireProgram(program);
  listeners.emit(event::NetSetUp{
      event::NetSetUp::Other, &description, manifest().target().precision(),
      plan::programs::testIndex(description.name())});
}

std::vector<OutputValue> Session::outputs(int program) const {
  requireProgram(program);
  return readOutputs(exec, program);
}

double Session::loss(int program) const {
  requireProgram(program);
  return totalLoss(exec, program);
}

} // namespace brew::runtime
