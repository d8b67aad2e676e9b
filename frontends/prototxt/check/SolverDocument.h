//===- SolverDocument.h - An upgraded and checked solver --------*- C++ -*-===//
//
// A solver as Caffe runs it: old forms are rewritten and the snapshot prefix is
// set. Everything that Caffe rejects at start or at the first update is
// reported at its location.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetDocument.h"

#include <memory>
#include <string>

namespace brew::prototxt {

class SolverDocument {
public:
  /// Reads, upgrades and checks a solver file, without opening nets. Returns
  /// null if an error ended the parse; see NetDocument::fromFile().
  static std::shared_ptr<const SolverDocument>
  fromFile(const std::string &path, Diagnostics &diagnostics,
           const std::set<std::string> &hostTypes = {});
  /// Upgrades and checks a parsed solver file.
  static std::shared_ptr<const SolverDocument>
  fromParsed(PrototxtFile file, Diagnostics &diagnostics);

  /// Returns the solver. Its `type` and `snapshot_prefix` are always set.
  const caffe::SolverParameter &solver() const { return *content; }
  const SourceMap &locations() const { return *sourceMap; }
  /// Returns the locations for sharing with nets inside the solver.
  const std::shared_ptr<SourceMap> &sharedLocations() const {
    return sourceMap;
  }
  const std::string &file() const { return sourceMap->file(); }
  /// Returns the folder in which files that the solver names are looked up,
  /// after the working directory.
  const std::string &folder() const { return sourceMap->folder(); }

private:
  SolverDocument() = default;

  std::unique_ptr<caffe::SolverParameter> content;
  std::shared_ptr<SourceMap> sourceMap;
};

/// Reports errors that stop Caffe, and warnings if a missing field disables the
/// schedule. checkTrainable() checks fields that only training needs (nets, an
/// lr_policy).
void checkSolver(const caffe::SolverParameter &solver,
                 const SourceMap &locations, Diagnostics &diagnostics);

/// Reports missing fields that training needs: an lr_policy, exactly one
/// training net, and test_iter, test_state and test_interval that match the
/// test nets. With `hasNetOverride` the net comes from the command line and the
/// solver need not name one.
void checkTrainable(const caffe::SolverParameter &solver,
                    const SourceMap &locations, bool hasNetOverride,
                    Diagnostics &diagnostics);

} // namespace brew::prototxt
