//===- PlanWeights.h - Weights inside a plan --------------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/InlineBlobs.h"
#include "frontends/prototxt/text/Diagnostic.h"
#include "plan/plan.pb.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace brew::compiler {

/// Reports blobs inside the prototxt whose shapes differ from the layers'
/// parameters. `module` is in phase graph.
void checkInlineBlobs(mlir::ModuleOp module, const prototxt::InlineBlobs &blobs,
                      prototxt::Diagnostics &diagnostics);

/// Adds a segment for each parameter with values in the prototxt. The other
/// parameters of the plan are filled at run time.
void addInlineBlobs(const prototxt::InlineBlobs &blobs,
                    plan::Manifest &manifest,
                    std::vector<std::string> &segments);

/// Adds the parameter arena as a segment. The values of a parameter come from
/// the weight file `path`, or else from the prototxt, or else from the filler
/// (seed 0, brew-run's default). A note lists the layers that only the file or
/// only the net has. Layers with values from fillers alone are an error in a
/// plan for inference unless `allowMissing`, otherwise a warning. Throws Error
/// (BadInput) for such layers and if file and net do not match, and Error
/// (Unavailable) if the file does not exist.
void embedWeights(const std::string &path, bool allowMissing,
                  const prototxt::InlineBlobs &blobs, plan::Manifest &manifest,
                  std::vector<std::string> &segments,
                  prototxt::Diagnostics &diagnostics);

} // namespace brew::compiler
