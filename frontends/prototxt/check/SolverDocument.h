//===- SolverDocument.h - A solver file, upgraded and checked ---*- C++ -*-===//
//
// A solver as Caffe would run it: old forms rewritten, the snapshot prefix
// filled in, and everything Caffe would refuse at start or at its first update
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
  /// Reads, upgrades and checks a solver file; opens no net. Null if an error
  /// ended the parse; otherwise see NetDocument::fromFile().
  static std::shared_ptr<const SolverDocument>
  fromFile(const std::string &path, Diagnostics &diagnostics,
           const std::set<std::string> &hostTypes = {});
  /// The same for a file that is parsed already and is a solver.
  static std::shared_ptr<const SolverDocument>
  fromParsed(PrototxtFile file, Diagnostics &diagnostics);

  /// `type` holds the solver's type and `snapshot_prefix` a prefix in any case.
  const caffe::SolverParameter &solver() const { return *content; }
  const SourceMap &locations() const { return *sourceMap; }
  /// For nets inside the solver, which keep their locations in the same map.
  const std::shared_ptr<SourceMap> &sharedLocations() const { return sourceMap; }
  const std::string &file() const { return sourceMap->file(); }
  /// Where files that it names are looked for beside the working directory.
  const std::string &folder() const { return sourceMap->folder(); }

private:
  SolverDocument() = default;

  std::unique_ptr<caffe::SolverParameter> content;
  std::shared_ptr<SourceMap> sourceMap;
};

/// Errors that Caffe would stop with, and warnings where a forgotten field
/// makes the schedule do nothing. What only training needs (nets, an lr_policy)
/// is checked by checkTrainable().
void checkSolver(const caffe::SolverParameter &solver,
                 const SourceMap &locations, Diagnostics &diagnostics);

/// What a solver must have before it can train: an lr_policy, exactly one
/// training net, and test_iter, test_state and test_interval to match the test
/// nets. With `hasNetOverride` a net comes from the command line and the solver need
/// not name one.
void checkTrainable(const caffe::SolverParameter &solver,
                    const SourceMap &locations, bool hasNetOverride,
                    Diagnostics &diagnostics);

} // namespace brew::prototxt
