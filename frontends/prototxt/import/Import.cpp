//===- Import.cpp - Import of prototxts as brew modules -------------------===//

#include "frontends/prototxt/import/Import.h"

#include "caffe/DataLayerKinds.h"
#include "dialects/Brew/layers/external/External.h"
#include "frontends/prototxt/check/Programs.h"
#include "frontends/prototxt/check/UnknownTypes.h"
#include "frontends/prototxt/deploy/DeployNet.h"
#include "frontends/prototxt/import/ModuleBuilder.h"
#include "support/Error.h"

#include "llvm/ADT/StringSet.h"

#include <filesystem>
#include <set>

namespace brew::prototxt {

namespace {

using Document = std::shared_ptr<const NetDocument>;
using SolverPointer = std::shared_ptr<const SolverDocument>;

/// A program to build.
struct PlannedProgram {
  dialects::ProgramRole role = dialects::ProgramRole::Main;
  int test = 0; ///< number of the test program; otherwise unused
  FilteredNet net;
  bool differentiate = false;
  /// The origin of the net; see NetMetadata.
  std::string source;

  std::string name() const { return dialects::programName(role, test); }
};

/// Returns the absolute path of `folder`, as the plan may run in another
/// working directory.
std::string absolutePath(const std::string &folder) {
  namespace fs = std::filesystem;
  return (folder.empty() ? fs::current_path() : fs::absolute(folder)).string();
}

/// Returns whether a layer brings data in.
bool hasData(const FilteredNet &net) {
  return llvm::any_of(net.layers, [](const caffe::LayerParameter *layer) {
    return layer->bottom_size() == 0 && layer->top_size() > 0;
  });
}

/// Returns whether a layer reads data that change from run to run.
bool readsData(const FilteredNet &net) {
  return llvm::any_of(net.layers, [](const caffe::LayerParameter *layer) {
    const caffe::DataLayerKind *kind = caffe::findDataLayerKind(layer->type());
    return kind && kind->isRefilled;
  });
}

/// Warns if training changes no parameter.
void warnIfNothingLearns(const NetGraph &graph, const FilteredNet &net,
                         Diagnostics &diagnostics) {
  auto learns = [](const GraphParam &param) { return param.lrMult != 0; };
  if (!graph.params.empty() && llvm::none_of(graph.params, learns))
    diagnostics.warning(net.source->locations().where(net.source->net()),
                        "training changes no parameter: every lr_mult is 0");
}

class Importer {
public:
  Importer(mlir::MLIRContext &context, const SourceText &source,
           const ImportOptions &options, Diagnostics &diagnostics)
      : context(context), source(source), path(source.name), options(options),
        diagnostics(diagnostics), states{options.level, options.stages} {}

  ImportedNet run();

private:
  void planSolver(PrototxtFile file);
  void planNet(PrototxtFile file);
  void planOnePhase(FilteredNet net);
  void planDeploy(const FilteredNet &test, const FilteredNet &train);
  void planTraining(const SolverDocument &solver, Document net);
  void planDefaultTraining(const Document &net, FilteredNet train);
  void planDefaultTest(const Document &net);
  void setSolver(const SolverDocument &solver);
  void reportOnce(const Diagnostics &newDiagnostics);
  /// Returns whether the net has a loss or an output gradient.
  bool hasGradient(const FilteredNet &net) const {
    return hasLoss(net) || !options.outputGradients.empty();
  }
  bool showsDebugInfo(const PlannedProgram &program) const;
  std::string netFile() const { return "net file: " + path; }
  void checkInputShapes(const ShapeImporter &shapes);
  void build();

  [[noreturn]] static void throwUsageError(const std::string &text) {
    throw Error(ExitStatus::Usage, text);
  }

  mlir::MLIRContext &context;
  const SourceText &source;
  const std::string &path; ///< name of `source`
  const ImportOptions &options;
  Diagnostics &diagnostics;
  StateOptions states;
  std::vector<PlannedProgram> programs;
  std::set<std::string> reported; ///< location and text
  ImportedNet result;
};

ImportedNet Importer::run() {
  if (options.gradients && !options.phase)
    throwUsageError("--gradients requires --phase");
  if (!options.outputGradients.empty() && options.phase && !options.gradients)
    throwUsageError(
        "--output-gradient is about the backward pass, which --phase leaves "
        "out: add "
        "--gradients");
  if (options.phase && !options.solverFile.empty())
    throwUsageError(
        "--solver has no use with --phase, which builds no update program");
  if (options.deploy && (options.phase || !options.outputGradients.empty() ||
                         !options.solverFile.empty() || options.solverOnly))
    throwUsageError("--deploy makes a net for inference: --phase, --solver, "
                    "--solver-only and --output-gradient have no use there");
  PrototxtFile file =
      parsePrototxt(source, diagnostics, std::nullopt, options.hostTypes);
  if (!file.reachedEnd)
    return std::move(result);
  if (file.kind == FileKind::Solver)
    planSolver(std::move(file));
  else if (options.solverOnly)
    throwUsageError("'" + path +
                    "' is a net, not a solver; --solver-only checks a solver");
  else
    planNet(std::move(file));
  build();
  return std::move(result);
}

void Importer::setSolver(const SolverDocument &solver) {
  result.solver = solver.solver();
  result.solverFolder = absolutePath(solver.folder());
}

void Importer::planSolver(PrototxtFile file) {
  if (!options.solverFile.empty())
    throwUsageError("--solver requires a net, and '" + path +
                    "' is a solver itself");
  SolverPointer solver =
      SolverDocument::fromParsed(std::move(file), diagnostics);
  if (!solver)
    return;
  setSolver(*solver);
  if (options.solverOnly)
    return;
  if (options.deploy) {
    result.solver.reset();
    std::vector<Program> nets =
        expandSolver(*solver, diagnostics, states, nullptr, options.hostTypes);
    // The first net is for training, the next one for tests.
    if (!nets.empty())
      planDeploy(nets.size() > 1
                     ? nets[1].net
                     : filterNet(nets[0].net.source,
                                 standaloneState(nets[0].net.source->net(),
                                                 caffe::TEST, states)),
                 nets[0].net);
    return;
  }
  if (!options.phase) {
    planTraining(*solver, nullptr);
    return;
  }
  result.solver.reset();
  for (Program &program :
       expandSolver(*solver, diagnostics, states, nullptr, options.hostTypes))
    if (program.net.state.phase() == *options.phase) {
      planOnePhase(std::move(program.net));
      programs.back().source = program.source;
      return;
    }
  if (!diagnostics.hasErrors())
    diagnostics.error({path, 1, 1}, "the solver has no net for phase " +
                                        caffe::Phase_Name(*options.phase));
}

void Importer::planTraining(const SolverDocument &solver, Document net) {
  for (Program &program : expandSolver(solver, diagnostics, states,
                                       std::move(net), options.hostTypes)) {
    const bool isTraining = program.test < 0;
    if (isTraining && !hasGradient(program.net))
      diagnostics.error(program.cause,
                        "the training net has no loss: no layer has a loss "
                        "weight in phase TRAIN");
    programs.push_back({isTraining ? dialects::ProgramRole::ForwardBackward
                                   : dialects::ProgramRole::Test,
                        program.test, std::move(program.net), isTraining,
                        program.source});
  }
}

void Importer::planNet(PrototxtFile file) {
  Document net = NetDocument::fromParsed(std::move(file), diagnostics);
  if (!net)
    return;
  auto filterForPhase = [&](caffe::Phase phase) {
    return filterNet(net, standaloneState(net->net(), phase, states));
  };
  if (options.deploy) {
    planDeploy(filterForPhase(caffe::TEST), filterForPhase(caffe::TRAIN));
    return;
  }
  if (options.phase) {
    planOnePhase(filterForPhase(*options.phase));
    return;
  }
  if (!options.solverFile.empty()) {
    if (SolverPointer solver = SolverDocument::fromFile(
            options.solverFile, diagnostics, options.hostTypes)) {
      setSolver(*solver);
      planTraining(*solver, net);
    }
    return;
  }
  FilteredNet train = filterForPhase(caffe::TRAIN);
  if (hasGradient(train))
    planDefaultTraining(net, std::move(train));
  else
    programs.push_back({dialects::ProgramRole::Deploy, 0,
                        filterForPhase(caffe::TEST), false, netFile()});
}

void Importer::planOnePhase(FilteredNet net) {
  programs.push_back({dialects::ProgramRole::Main, 0, std::move(net),
                      options.gradients, netFile()});
}

/// Makes the net for inference from the test net, or from the training net if
/// only that one has data.
void Importer::planDeploy(const FilteredNet &test, const FilteredNet &train) {
  if (diagnostics.hasErrors())
    return;
  const DeployNet deploy = deployNet(
      hasData(test) ? test : train,
      {parseInputShapes(options.inputShapes), options.batch}, diagnostics);
  if (!deploy.net)
    return;
  result.deployText = deployText(deploy);
  result.inputTransforms = deploy.transforms;
  programs.push_back(
      {dialects::ProgramRole::Deploy, 0,
       filterNet(deploy.net, standaloneState(deploy.net->net(), caffe::TEST)),
       false, netFile()});
}

/// Sets up the default solver, plain SGD, so that a net can be trained without
/// a solver file. Adds the training and the test program.
void Importer::planDefaultTraining(const Document &net, FilteredNet train) {
  caffe::SolverParameter solver;
  solver.set_type("SGD");
  solver.set_base_lr(0.01f);
  solver.set_lr_policy("fixed");
  solver.set_momentum(0);
  solver.set_debug_info(net->net().debug_info());
  // In the working directory: the net may be in a folder of its own.
  solver.set_snapshot_prefix(std::filesystem::path(path).stem().string());
  Diagnostic &warning = diagnostics.warning(
      {net->file(), 1, 1},
      "no solver is given, so training is by SGD with base_lr "
      "0.01, lr_policy \"fixed\" and momentum 0; compile the "
      "solver instead, or give one with --solver");
  if (options.hasWeights && !readsData(train))
    warning.note({net->file(), 1, 1},
                 "the net reads no data; for inference with the weights, "
                 "compile it with --phase test");
  result.solver = solver;
  result.solverFolder = absolutePath(source.folder);
  programs.push_back({dialects::ProgramRole::ForwardBackward, 0,
                      std::move(train), true, netFile()});
  planDefaultTest(net);
}

/// Adds the default test program. If the data layers are in phase TRAIN only,
/// the net is for training only; then warns that there is no test program.
void Importer::planDefaultTest(const Document &net) {
  FilteredNet test =
      filterNet(net, standaloneState(net->net(), caffe::TEST, states));
  if (hasData(test))
    programs.push_back(
        {dialects::ProgramRole::Test, 0, std::move(test), false, netFile()});
  else
    diagnostics.warning({net->file(), 1, 1},
                        "there is no test program, as no layer brings data in "
                        "for phase TEST");
}

/// Adds diagnostics that are not reported yet: training and test nets share
/// most layers, and their errors.
void Importer::reportOnce(const Diagnostics &newDiagnostics) {
  for (const Diagnostic &diagnostic : newDiagnostics.items())
    if (reported.insert(diagnostic.where.str() + diagnostic.text).second)
      diagnostics.add(diagnostic);
}

/// Returns whether debug_info applies to the program. As in Caffe, a solver's
/// debug_info applies to its nets.
bool Importer::showsDebugInfo(const PlannedProgram &program) const {
  return result.solver ? result.solver->debug_info()
                       : program.net.source->net().debug_info();
}

/// Checks that each explicit shape belongs to a top of a data layer or a host
/// layer.
void Importer::checkInputShapes(const ShapeImporter &shapes) {
  llvm::StringSet<> tops;
  auto addTops = [&](mlir::ArrayAttr names) {
    for (auto name : names.getAsRange<mlir::StringAttr>())
      tops.insert(name);
  };
  result.module->walk([&](dialects::DataInputOp op) { addTops(op.getTops()); });
  result.module->walk([&](dialects::HostLayerOp op) { addTops(op.getTops()); });
  for (const auto &[blob, shape] : shapes.shapeOptions().explicitShapes)
    if (!tops.contains(blob))
      diagnostics
          .error({path, 1, 1},
                 "--input-shape: no data layer or host layer has a top '" +
                     blob + "'")
          .status = ExitStatus::Usage;
}

void Importer::build() {
  std::vector<NetGraph> graphs;
  for (const Diagnostic &diagnostic : diagnostics.items())
    reported.insert(diagnostic.where.str() + diagnostic.text);
  for (const PlannedProgram &program : programs) {
    Diagnostics newDiagnostics;
    const FilteredNet &net = program.net;
    if (net.layers.empty())
      newDiagnostics.warning(
          net.source->locations().where(net.source->net()),
          "the net has no layers" +
              (net.removed.empty()
                   ? std::string()
                   : " in phase " + caffe::Phase_Name(net.state.phase())));
    graphs.push_back(NetGraph::build(program.net, newDiagnostics,
                                     !options.inspectOnly, options.hostTypes));
    if (program.role == dialects::ProgramRole::ForwardBackward)
      warnIfNothingLearns(graphs.back(), net, newDiagnostics);
    reportOnce(newDiagnostics);
  }
  if (programs.empty() || diagnostics.hasErrors())
    return;
  if (options.imageSizes == ImageSizes::Any)
    for (const PlannedProgram &program : programs)
      if (program.net.layers.size() != 1)
        throwUsageError("--image-sizes=any is for nets of a single data layer: "
                        "a plan of more layers has one size");
  result.netName = programs.front().net.source->net().name();
  ShapeImporter shapes({parseInputShapes(options.inputShapes), options.batch,
                        options.imageSizes},
                       options.inspectOnly);
  ModuleBuilder builder(context, path, options.f64, shapes);
  for (size_t i = 0; i < programs.size(); ++i) {
    const PlannedProgram &program = programs[i];
    collectInlineBlobs(graphs[i], program.net.source->locations(),
                       result.inlineBlobs);
    NetMetadata &metadata = result.netMetadata[program.name()];
    metadata = {program.source, listUnmetRules(program.net),
                listLayers(graphs[i], program.differentiate
                                          ? options.outputGradients
                                          : std::vector<std::string>())};
    for (LayerMetadata &layer : metadata.layers)
      if (layer.layer >= 0)
        layer.location = program.net.source->locations()
                             .where(*graphs[i].layers[layer.layer].layer)
                             .str();
    builder.addProgram(program.role, program.name(), program.net, graphs[i],
                       program.differentiate,
                       showsDebugInfo(program) ? &metadata : nullptr);
  }
  reportOnce(shapes.diagnostics);
  result.module = builder.take();
  checkInputShapes(shapes);
  if (diagnostics.hasErrors())
    result.module = nullptr;
}

} // namespace

ImportedNet importText(mlir::MLIRContext &context, const SourceText &source,
                       const ImportOptions &options, Diagnostics &diagnostics) {
  ImportedNet net = Importer(context, source, options, diagnostics).run();
  mergeUnknownTypes(diagnostics);
  explainUnknownTypes(diagnostics);
  return net;
}

} // namespace brew::prototxt
