//===- LegacyUpgrade.h - Old prototxt forms in today's terms ----*- C++ -*-===//
//
// Caffe went through three layer formats. The later stages see only the
// current one; these functions rewrite the others with Caffe's meaning, and
// keep every location, so that an upgraded layer points at its original text.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/text/SourceMap.h"

#include <memory>
#include <vector>

namespace brew::prototxt {

/// Rewrites V0 layers, V1 layers, old data-transformation fields, old input
/// fields and old batch-norm multipliers. Messages that are no longer part of
/// the result go to `superseded`: they must live as long as `locations`, which
/// knows them by address.
std::unique_ptr<caffe::NetParameter>
upgradeNet(std::unique_ptr<caffe::NetParameter> net, SourceMap &locations,
           Diagnostics &diagnostics,
           std::vector<std::unique_ptr<caffe::NetParameter>> &superseded);

/// Rewrites the enum `solver_type` as the string `type`.
void upgradeSolver(caffe::SolverParameter &solver, SourceMap &locations,
                   Diagnostics &diagnostics);

// The single steps of upgradeNet(), in its order.

/// Whether some layer is written as `layers { layer { ... } }`.
bool hasV0Layers(const caffe::NetParameter &net);
/// `from` with its V0 layers as V1 layers; padding layers are merged into the
/// convolution or pooling that reads them.
std::unique_ptr<caffe::NetParameter> upgradeV0(const caffe::NetParameter &from,
                                               SourceMap &locations,
                                               Diagnostics &diagnostics);
/// Moves scale, mean_file, crop_size and mirror of V1 data layers into
/// transform_param.
void upgradeDataTransforms(caffe::NetParameter &net, SourceMap &locations);
/// `from` with its V1 layers (`layers`) as current ones (`layer`).
std::unique_ptr<caffe::NetParameter> upgradeV1(const caffe::NetParameter &from,
                                               SourceMap &locations,
                                               Diagnostics &diagnostics);
/// Turns input, input_dim and input_shape into an Input layer at the front.
void upgradeInputs(caffe::NetParameter &net, SourceMap &locations,
                   Diagnostics &diagnostics);
/// Batch norms with three `param` entries had to switch off learning by hand;
/// since then their statistics never learn, so the multipliers become 0.
void upgradeBatchNorms(caffe::NetParameter &net);

} // namespace brew::prototxt
