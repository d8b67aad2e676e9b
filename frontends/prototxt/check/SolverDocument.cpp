//===- SolverDocument.cpp - An upgraded and checked solver ----------------===//

#include "frontends/prototxt/check/SolverDocument.h"

#include "frontends/prototxt/upgrade/LegacyUpgrade.h"

#include <filesystem>

namespace brew::prototxt {

namespace fs = std::filesystem;

namespace {

/// Sets a missing snapshot prefix to the path of the solver file without its
/// extension. If the prefix is a folder, appends the file's name without its
/// extension.
void fillSnapshotPrefix(const std::string &file,
                        caffe::SolverParameter &solver) {
  std::error_code error;
  const fs::path path(file);
  if (!solver.has_snapshot_prefix())
    solver.set_snapshot_prefix(fs::path(path).replace_extension().string());
  else if (fs::is_directory(solver.snapshot_prefix(), error))
    solver.set_snapshot_prefix(
        (fs::path(solver.snapshot_prefix()) / path.stem()).string());
}

} // namespace

std::shared_ptr<const SolverDocument>
SolverDocument::fromFile(const std::string &path, Diagnostics &diagnostics,
                         const std::set<std::string> &hostTypes) {
  return fromParsed(
      readPrototxt(path, diagnostics, FileKind::Solver, hostTypes),
      diagnostics);
}

std::shared_ptr<const SolverDocument>
SolverDocument::fromParsed(PrototxtFile file, Diagnostics &diagnostics) {
  if (!file.reachedEnd || !file.solver)
    return nullptr;
  std::shared_ptr<SolverDocument> document(new SolverDocument());
  document->content = std::move(file.solver);
  document->sourceMap = std::move(file.locations);
  upgradeSolver(*document->content, *document->sourceMap, diagnostics);
  checkSolver(*document->content, *document->sourceMap, diagnostics);
  fillSnapshotPrefix(document->file(), *document->content);
  return document;
}

} // namespace brew::prototxt
