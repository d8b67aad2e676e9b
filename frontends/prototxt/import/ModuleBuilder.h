//===- ModuleBuilder.h - Construction of brew modules -----------*- C++ -*-===//
//
// Adds programs to a module. Parameters are symbols of the module. Programs
// with layers of the same name share them, as Caffe's test nets share the
// weights of the training net.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Brew/BrewDialect.h"
#include "frontends/prototxt/check/NetGraph.h"
#include "frontends/prototxt/check/NetMetadata.h"
#include "frontends/prototxt/import/ShapeImporter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <utility>

namespace brew::prototxt {

class ModuleBuilder {
public:
  /// `file` is the location of the module itself. `shapes` must outlive the
  /// builder and collects diagnostics.
  ModuleBuilder(mlir::MLIRContext &context, const std::string &file, bool f64,
                ShapeImporter &shapes);

  /// Adds a program. The graph must be free of errors. `debugMetadata` is the
  /// metadata of the graph, or null. If it is set, blobs are split as in the
  /// metadata, and every top and every gradient of a bottom can be read after a
  /// run.
  void addProgram(dialects::ProgramRole role, const std::string &name,
                  const FilteredNet &net, const NetGraph &graph,
                  bool differentiate,
                  const NetMetadata *debugMetadata = nullptr);

  mlir::OwningOpRef<mlir::ModuleOp> take() { return std::move(module); }

private:
  mlir::Location locate(const SourceLocation &where);
  /// Returns the layer's location, with its type as name, for diagnostics of
  /// later phases.
  mlir::Location locate(const caffe::LayerParameter &layer,
                        const SourceMap &locations);
  /// Returns the symbol of each parameter of the graph. Creates the symbols
  /// that no earlier program has.
  std::vector<std::string> declareParams(const FilteredNet &net,
                                         const NetGraph &graph);

  mlir::OpBuilder b;
  ShapeImporter &shapes;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Type elementType;
  /// Insertion point of parameters: before all programs.
  mlir::Operation *firstProgram = nullptr;
  /// Symbols by layer name and index.
  std::map<std::pair<std::string, int>, std::string> symbols;
};

} // namespace brew::prototxt
