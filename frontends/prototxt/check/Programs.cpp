//===- Programs.cpp - The nets of a solver --------------------------------===//

#include "frontends/prototxt/check/Programs.h"

#include "formats/PathLookup.h"
#include "support/Error.h"

#include <map>

namespace brew::prototxt {

namespace {

using Document = std::shared_ptr<const NetDocument>;

/// Opens each net once.
class NetOpener {
public:
  NetOpener(const SolverDocument &solver, Diagnostics &diagnostics,
            const std::set<std::string> &hostTypes)
      : solver(solver), diagnostics(diagnostics), hostTypes(hostTypes) {}

  /// Returns the net in the file that occurrence `index` of a field names.
  Document openFile(const std::string &name, const char *field, int index) {
    const SourceLocation cause =
        solver.locations().whereValue(solver.solver(), field, index);
    try {
      const std::string path =
          formats::requirePath(name, {solver.folder()}, "net file");
      auto [entry, isNew] = files.try_emplace(path);
      if (isNew)
        entry->second = NetDocument::fromFile(path, diagnostics, hostTypes);
      return entry->second;
    } catch (const Error &error) {
      // Report an error of the file system at the field that names the file.
      // Errors in the text have their own locations.
      throw LocatedError(error.status(), cause, error.what());
    }
  }

  /// Returns a net inside the solver.
  Document openInline(const caffe::NetParameter &net) {
    auto [entry, isNew] = inlines.try_emplace(&net);
    if (isNew)
      entry->second =
          NetDocument::fromInline(net, solver.sharedLocations(), diagnostics);
    return entry->second;
  }

private:
  const SolverDocument &solver;
  Diagnostics &diagnostics;
  const std::set<std::string> &hostTypes;
  std::map<std::string, Document> files;
  std::map<const caffe::NetParameter *, Document> inlines;
};

/// Merges the phase, the net's state and the solver's state; later values
/// replace earlier ones.
caffe::NetState mergeStates(caffe::Phase phase, const Document &document,
                            const caffe::NetState &solverState) {
  caffe::NetState state;
  state.set_phase(phase);
  state.MergeFrom(document->net().state());
  state.MergeFrom(solverState);
  return state;
}

} // namespace

std::vector<Program> expandSolver(const SolverDocument &document,
                                  Diagnostics &diagnostics,
                                  const StateOptions &options,
                                  Document netOverride,
                                  const std::set<std::string> &hostTypes) {
  const caffe::SolverParameter &solver = document.solver();
  const SourceMap &locations = document.locations();
  const size_t errorsBefore = diagnostics.errorCount();
  checkTrainable(solver, locations, netOverride != nullptr, diagnostics);
  if (diagnostics.errorCount() != errorsBefore)
    return {};

  NetOpener nets(document, diagnostics, hostTypes);
  Document generic = netOverride;
  const char *genericField = solver.has_net() ? "net" : "net_param";
  if (!netOverride && solver.has_net())
    generic = nets.openFile(solver.net(), "net", 0);
  else if (!netOverride && solver.has_net_param())
    generic = nets.openInline(solver.net_param());

  std::string genericSource = "net file: " + solver.net();
  if (netOverride)
    genericSource = "net file: " + netOverride->file();
  else if (solver.has_net_param())
    genericSource = "net_param";
  std::string trainSource = genericSource;
  Document train = generic;
  const char *trainField = genericField;
  if (!netOverride && solver.has_train_net()) {
    train = nets.openFile(solver.train_net(), "train_net", 0);
    trainField = "train_net";
    trainSource = "train_net file: " + solver.train_net();
  } else if (!netOverride && solver.has_train_net_param()) {
    train = nets.openInline(solver.train_net_param());
    trainField = "train_net_param";
    trainSource = trainField;
  }

  std::vector<Program> programs;
  if (train) {
    caffe::NetState solverState = solver.train_state();
    if (options.level)
      solverState.set_level(*options.level);
    for (const std::string &stage : options.stages)
      solverState.add_stage(stage);
    programs.push_back(
        {-1, filterNet(train, mergeStates(caffe::TRAIN, train, solverState)), 0,
         trainSource, locations.where(solver, trainField)});
  }

  const int inlineTests = solver.test_net_param_size();
  const int fileTests = solver.test_net_size();
  for (int i = 0; i < solver.test_iter_size(); ++i) {
    Document net = generic;
    std::string source = genericSource;
    if (i < inlineTests) {
      net = nets.openInline(solver.test_net_param(i));
      source = "test_net_param";
    } else if (i < inlineTests + fileTests) {
      const std::string &file = solver.test_net(i - inlineTests);
      net = nets.openFile(file, "test_net", i - inlineTests);
      source = "test_net file: " + file;
    }
    if (!net)
      continue; // its parse error has been reported
    const caffe::NetState solverState =
        solver.test_state_size() > 0 ? solver.test_state(i) : caffe::NetState();
    programs.push_back(
        {i, filterNet(net, mergeStates(caffe::TEST, net, solverState)),
         solver.test_iter(i), source, locations.where(solver, "test_iter", i)});
  }
  return programs;
}

} // namespace brew::prototxt
