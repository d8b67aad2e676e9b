//===- Import.h - From a prototxt file to a brew module ---------*- C++ -*-===//
//
// Decides which programs a solver or net file gives and builds them as `brew`
// operations, one for each layer, with shapes still unknown.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/check/InlineBlobs.h"
#include "frontends/prototxt/check/NetMetadata.h"
#include "frontends/prototxt/text/Diagnostic.h"
#include "frontends/prototxt/text/PrototxtFile.h"

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
  /// With `phase`: that program gets a backward pass.
  bool gradients = false;
  /// Blobs that begin with a gradient from outside: with any, a net can be
  /// trained without a loss.
  std::vector<std::string> outputGradients;
  /// NetState of the training net, or of the only one, besides what the
  /// prototxts say.
  std::optional<int> level;
  std::vector<std::string> stages;
  /// Solver for a net file; empty for the default one.
  std::string solverFile;
  /// Only check the solver: no net is opened and no module built.
  bool solverOnly = false;
  /// Types that the program which runs the plan computes itself.
  std::set<std::string> hostTypes;
  /// The module is only looked at: settings without code are warnings instead
  /// of errors.
  bool inspectOnly = false;
};

struct ImportedNet {
  /// Null if an error was reported, or with ImportOptions::solverOnly.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Set if the module has a training program, or with solverOnly.
  std::optional<caffe::SolverParameter> solver;
  /// Folder of the file the solver came from (of the net for a default one).
  std::string solverFolder;
  /// `name` of the net.
  std::string netName;
  /// The nets of the programs, by the programs' names.
  std::map<std::string, NetMetadata> netMetadata;
  /// Weights inside the prototxts.
  InlineBlobs inlineBlobs;
};

/// Imports the text of a solver or net. What is wrong with its contents goes to
/// `diagnostics`; brew::Error is thrown for a missing net file (status 3) and
/// for options that contradict each other or the kind of the file (status 2).
/// The brew dialect must be loaded in `context`.
///
/// A solver gives `forward_backward` and `test_0`, `test_1`, ...; so does a net
/// with a loss in its TRAIN phase, or with seeds, with the solver given or a
/// plain SGD of Caffe's defaults. A net without a loss gives `deploy`. The
/// update program is not built here.
ImportedNet importText(mlir::MLIRContext &context, const SourceText &source,
                       const ImportOptions &options, Diagnostics &diagnostics);

} // namespace brew::prototxt
