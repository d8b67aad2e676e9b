//===- Import.h - Import of prototxts as brew modules -----------*- C++ -*-===//
//
// Determines the programs of a solver or net file and builds them as `brew`
// operations, one for each layer. Tops of data layers have shapes, which may
// come from files; other shapes are unknown.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/check/InlineBlobs.h"
#include "frontends/prototxt/check/NetMetadata.h"
#include "frontends/prototxt/data/DataShapes.h"
#include "frontends/prototxt/text/Diagnostic.h"
#include "frontends/prototxt/text/PrototxtFile.h"
#include "plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace brew::prototxt {

struct ImportOptions {
  /// Element type of all blobs and parameters: f64 or f32.
  bool f64 = false;
  /// Compile only this phase, as one program named `main`.
  std::optional<caffe::Phase> phase;
  /// With `phase`: the program has a backward pass.
  bool gradients = false;
  /// Blobs whose gradients the caller writes. If there are any, a net can be
  /// trained without a loss.
  std::vector<std::string> outputGradients;
  /// Compile the TEST phase as a net for inference; see deployNet().
  bool deploy = false;
  /// Level and stages of the training net, or of the only net, in addition to
  /// its NetState in the prototxts.
  std::optional<int> level;
  std::vector<std::string> stages;
  /// Solver for a net file; empty for the default solver.
  std::string solverFile;
  /// Weights for the plan are given. Only affects diagnostics.
  bool hasWeights = false;
  /// Only check the solver: no net is opened and no module built.
  bool solverOnly = false;
  /// Layer types that the host program computes.
  std::set<std::string> hostTypes;
  /// Explicit shapes of blobs, as "BLOB=d,d,...".
  std::vector<std::string> inputShapes;
  /// Leading dimension of every top of a data layer; 0: the layer's own.
  int64_t batch = 0;
  /// With ImageSizes::Any, the net is a single data layer.
  ImageSizes imageSizes = ImageSizes::Equal;
  /// The module is not compiled further: unsupported settings and unknown
  /// shapes are warnings instead of errors.
  bool inspectOnly = false;
};

struct ImportedNet {
  /// Null if an error was reported, or with ImportOptions::solverOnly.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Set if the module has a training program, or with solverOnly.
  std::optional<caffe::SolverParameter> solver;
  /// Folder of the solver's file; with the default solver, folder of the net's
  /// file.
  std::string solverFolder;
  /// `name` of the net.
  std::string netName;
  /// The nets of the programs, by the programs' names.
  std::map<std::string, NetMetadata> netMetadata;
  /// With ImportOptions::deploy: the net for inference as text, and the
  /// transforms of its Input layers, by layer.
  std::string deployText;
  std::map<std::string, plan::InputTransform> inputTransforms;
  /// Weights inside the prototxts.
  InlineBlobs inlineBlobs;
};

/// Imports the text of a solver or net. Reports errors in its content to
/// `diagnostics`, and missing data sources with the status Unavailable. Throws
/// brew::Error for a missing net file (status 3), and for options that are
/// wrong or contradict each other or the kind of the file (status 2). The brew
/// dialect must be loaded in `context`.
///
/// A solver has the programs `forward_backward` and `test_0`, `test_1`, ... A
/// net has `forward_backward` and the tests too if it has a loss in its TRAIN
/// phase or output gradients; its solver is `solverFile` or the default solver,
/// SGD. Any other net has the program `deploy`. The update program is built
/// elsewhere.
ImportedNet importText(mlir::MLIRContext &context, const SourceText &source,
                       const ImportOptions &options, Diagnostics &diagnostics);

} // namespace brew::prototxt
