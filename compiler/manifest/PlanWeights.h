//===- PlanWeights.h - Weights that go into a plan --------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/InlineBlobs.h"
#include "frontends/prototxt/text/Diagnostic.h"
#include "plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace brew::compiler {

/// Reports the blobs of the prototxt whose shapes are not those of the layers'
/// parameters; `module` is in phase graph.
void checkInlineBlobs(mlir::ModuleOp module, const prototxt::InlineBlobs &blobs,
                     prototxt::Diagnostics &diagnostics);

/// Gives each parameter that the prototxt has values for a segment of them, for
/// a plan whose other parameters are filled when it runs.
void addInlineBlobs(const prototxt::InlineBlobs &blobs, plan::Manifest &manifest,
                   std::vector<std::string> &segments);

/// Fills the parameter arena: with the weights of file `path` where it has a
/// layer's, else with what the prototxt gives or with the values of the fillers
/// (seed 0, as `brew-run` takes it). A note says which layers are in only one
/// of file and net. Layers that have values of fillers alone are an error in a
/// plan for inference, unless `allowMissing`, else a warning. Throws Error (1)
/// for these and where file and net do not fit, (3) if there is no such file.
void embedWeights(const std::string &path, bool allowMissing,
                  const prototxt::InlineBlobs &blobs, plan::Manifest &manifest,
                  std::vector<std::string> &segments,
                  prototxt::Diagnostics &diagnostics);

} // namespace brew::compiler
