//===- PassDiagnostics.cpp - Conversion of MLIR's diagnostics -------------===//
#include "compiler/PassDiagnostics.h"

#include "dialects/Brew/DiagnosticMetadata.h"
#include "dialects/Brew/LayerDiagnostics.h"

namespace brew::compiler {

prototxt::SourceLocation sourceOf(mlir::Location loc) {
  mlir::FileLineColLoc found = dialects::prototxtLocation(loc);
  if (!found)
    return {};
  return {found.getFilename().str(), static_cast<int>(found.getLine()),
          static_cast<int>(found.getColumn())};
}

namespace {

prototxt::Severity severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return prototxt::Severity::Error;
  case mlir::DiagnosticSeverity::Warning:
    return prototxt::Severity::Warning;
  default:
    return prototxt::Severity::Note;
  }
}

} // namespace

void PassDiagnostics::operator()(mlir::Diagnostic &diagnostic) {
  prototxt::Diagnostic result = {severityOf(diagnostic.getSeverity()),
                                 sourceOf(diagnostic.getLocation()),
                                 diagnostic.str()};
  result.layer = dialects::layerOf(diagnostic).str();
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    result.note(sourceOf(note.getLocation()), note.str());
  if (!status)
    status = dialects::exitStatusOf(diagnostic);
  if (reportedTexts.insert(result.str()).second)
    reporter.report(result);
}

} // namespace brew::compiler
