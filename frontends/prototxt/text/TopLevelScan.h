//===- TopLevelScan.h - Distinction of solvers and nets ---------*- C++ -*-===//
//
// Scans a prototxt's outermost fields without parsing their contents, to
// distinguish a solver from a net before the actual parse.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/PrototxtFile.h"

#include <optional>
#include <string>

namespace brew::prototxt {

/// The kind of a file, judged by its outermost fields.
struct TopLevelScan {
  FileKind kind = FileKind::Net;
  /// The first field that only this kind has, if the text has one and no field
  /// that only the other kind has.
  std::optional<TextLocation> evidence;
  std::string evidenceName;
};

TopLevelScan scanTopLevel(const std::string &text);

} // namespace brew::prototxt
