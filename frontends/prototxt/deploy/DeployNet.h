//===- DeployNet.h - Nets for inference from training nets ------*- C++ -*-===//
//
// Converts the TEST phase of a training net to a deploy net: data layers become
// Input layers, losses become their outputs, and layers that only measure go.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/check/NetFilter.h"
#include "frontends/prototxt/data/DataShapes.h"
#include "plan/plan.pb.h"

#include <map>
#include <memory>
#include <string>

namespace brew::prototxt {

struct DeployNet {
  std::shared_ptr<const NetDocument> net; ///< null if an error was reported
  /// The transforms of the data layers that became Input layers, by layer.
  std::map<std::string, plan::InputTransform> transforms;
};

/// Converts the layers of one phase. Layers are kept if an output of the net
/// depends on them: a top that no layer reads, or a bottom of a loss or of
/// Accuracy. SoftmaxWithLoss and InfogainLoss become Softmax,
/// SigmoidCrossEntropyLoss becomes Sigmoid. Image layers get a batch of 1
/// unless `options` sets it. Reads the data sources' shapes and mean files;
/// reports missing ones with the status Unavailable.
DeployNet deployNet(const FilteredNet &test, DataShapeOptions options,
                    Diagnostics &diagnostics);

/// Returns a deploy net as text, with its transforms in comments.
std::string deployText(const DeployNet &deploy);

} // namespace brew::prototxt
