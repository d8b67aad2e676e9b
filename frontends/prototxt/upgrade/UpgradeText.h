//===- UpgradeText.h - Upgraded prototxts as text ---------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/text/PrototxtFile.h"

#include <optional>
#include <string>

namespace brew::prototxt {

/// Returns the net or solver of a text as Caffe's upgrade tools would write it:
/// V0 and V1 layers, old data-transformation and input fields, batch-norm
/// multipliers and `solver_type` are rewritten, also in nets inside a solver.
/// Everything else is unchanged, but comments are lost. Returns nullopt if
/// `diagnostics` contains an error.
std::optional<std::string> upgradedText(const SourceText &source,
                                        Diagnostics &diagnostics);

} // namespace brew::prototxt
