//===- LegacyUpgrade.h - Upgrade of old prototxt forms ----------*- C++ -*-===//
//
// Caffe has had three layer formats. These functions rewrite the older ones in
// the current format, as Caffe does. They keep every location, so that
// diagnostics about an upgraded layer point to its original text.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/text/SourceMap.h"

#include <memory>
#include <vector>

namespace brew::prototxt {

/// Rewrites V0 layers, V1 layers, old data-transformation fields, old input
/// fields and old batch-norm multipliers. Moves messages that are not part of
/// the result to `superseded`. They must outlive `locations`, which refers to
/// them by address.
std::unique_ptr<caffe::NetParameter>
upgradeNet(std::unique_ptr<caffe::NetParameter> net, SourceMap &locations,
           Diagnostics &diagnostics,
           std::vector<std::unique_ptr<caffe::NetParameter>> &superseded);

/// Rewrites the enum `solver_type` as the string `type`, and a `type` in
/// capitals, as MyCaffe writes it, in Caffe's spelling.
void upgradeSolver(caffe::SolverParameter &solver, SourceMap &locations,
                   Diagnostics &diagnostics);

// The steps of upgradeNet(), in order.

/// Returns whether a layer is written as `layers { layer { ... } }`.
bool hasV0Layers(const caffe::NetParameter &net);
/// Returns `from` with its V0 layers as V1 layers. Padding layers are merged
/// into the convolution or pooling that reads them.
std::unique_ptr<caffe::NetParameter> upgradeV0(const caffe::NetParameter &from,
                                               SourceMap &locations,
                                               Diagnostics &diagnostics);
/// Moves scale, mean_file, crop_size and mirror of V1 data layers into
/// transform_param.
void upgradeDataTransforms(caffe::NetParameter &net, SourceMap &locations);
/// Returns `from` with its V1 layers (`layers`) as current ones (`layer`).
std::unique_ptr<caffe::NetParameter> upgradeV1(const caffe::NetParameter &from,
                                               SourceMap &locations,
                                               Diagnostics &diagnostics);
/// Turns input, input_dim and input_shape into an Input layer at the front.
void upgradeInputs(caffe::NetParameter &net, SourceMap &locations,
                   Diagnostics &diagnostics);
/// Sets lr_mult and decay_mult of old BatchNorm layers to 0. Such layers needed
/// three `param` entries to exclude their statistics from learning, which is
/// now the default.
void upgradeBatchNorms(caffe::NetParameter &net);

} // namespace brew::prototxt
