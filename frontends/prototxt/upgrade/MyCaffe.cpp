//===- MyCaffe.cpp - Detection of MyCaffe's nets --------------------------===//

#include "frontends/prototxt/upgrade/MyCaffe.h"

#include <algorithm>

namespace brew::prototxt {

bool isMyCaffeNet(const caffe::NetParameter &net) {
  return std::any_of(net.layer().begin(), net.layer().end(),
                     [](const caffe::LayerParameter &layer) {
                       return layer.type() == "MemoryLoss" ||
                              layer.transform_param().has_color_order() ||
                              layer.memory_data_param().has_label_type();
                     });
}

bool hasParamForMissingBias(const caffe::LayerParameter &layer,
                            int parameters) {
  const std::string &type = layer.type();
  const bool hasBias = type == "InnerProduct"
                           ? layer.inner_product_param().bias_term()
                       : type == "Convolution" || type == "Deconvolution"
                           ? layer.convolution_param().bias_term()
                           : true;
  return !hasBias && layer.param_size() == parameters + 1;
}

} // namespace brew::prototxt
