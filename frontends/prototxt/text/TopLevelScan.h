//===- TopLevelScan.h - Solver or net, told from the top level --*- C++ -*-===//
//
// Looks over a prototxt's outermost fields without parsing their contents, to
// tell a solver from a net before the real parse starts.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/PrototxtFile.h"

#include <optional>
#include <string>

namespace brew::prototxt {

struct TopLevelScan {
  FileKind kind = FileKind::Net;
  /// The first field that only that kind has, if the text has one and no field
  /// that only the other kind has.
  std::optional<TextLocation> evidence;
  std::string evidenceName;
};

TopLevelScan scanTopLevel(const std::string &text);

} // namespace brew::prototxt
