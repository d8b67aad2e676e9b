//===- UpgradeText.h - Old prototxts as text in today's syntax --*- C++ -*-===//
#pragma once

#include "frontends/prototxt/text/PrototxtFile.h"

#include <optional>
#include <string>

namespace brew::prototxt {

/// The net or solver of a text as Caffe's upgrade tools would write it: V0 and
/// V1 layers, old data-transformation and input fields, batch-norm multipliers
/// and `solver_type` rewritten, those of nets inside a solver too; everything
/// else unchanged, comments lost. Nothing if there is an error in
/// `diagnostics`.
std::optional<std::string> upgradedText(const SourceText &source,
                                        Diagnostics &diagnostics);

} // namespace brew::prototxt
