//===- LossChecks.h - Common checks of losses -------------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

/// Reports class weights in the loss_param of a loss that does not support
/// them.
inline void refuseClassWeights(LayerChecker &c) {
  const caffe::LossParameter &settings = c.layer.loss_param();
  if (settings.class_weighting_size())
    c.error(settings, "class_weighting",
            "class_weighting is only for SoftmaxWithLoss");
  if (settings.has_weight_by_label_freqs())
    c.error(settings, "weight_by_label_freqs",
            "weight_by_label_freqs is only for SoftmaxWithLoss");
}

} // namespace brew::prototxt
