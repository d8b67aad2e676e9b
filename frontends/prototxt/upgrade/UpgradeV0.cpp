//===- UpgradeV0.cpp - `layers { layer { type: "conv" } }` as V1 ----------===//

#include "frontends/prototxt/upgrade/FieldCopy.h"
#include "frontends/prototxt/upgrade/LegacyUpgrade.h"
#include "support/Suggest.h"

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>

namespace brew::prototxt {

using google::protobuf::Message;

namespace {

using V1 = caffe::V1LayerParameter;
using V0 = caffe::V0LayerParameter;

struct V0TypeName {
  const char *v0Name;
  V1::LayerType v1Type;
};

constexpr V0TypeName v0TypeNames[] = {
    {"accuracy", V1::ACCURACY},
    {"bnll", V1::BNLL},
    {"concat", V1::CONCAT},
    {"conv", V1::CONVOLUTION},
    {"data", V1::DATA},
    {"dropout", V1::DROPOUT},
    {"euclidean_loss", V1::EUCLIDEAN_LOSS},
    {"flatten", V1::FLATTEN},
    {"hdf5_data", V1::HDF5_DATA},
    {"hdf5_output", V1::HDF5_OUTPUT},
    {"im2col", V1::IM2COL},
    {"images", V1::IMAGE_DATA},
    {"infogain_loss", V1::INFOGAIN_LOSS},
    {"innerproduct", V1::INNER_PRODUCT},
    {"lrn", V1::LRN},
    {"multinomial_logistic_loss", V1::MULTINOMIAL_LOGISTIC_LOSS},
    {"pool", V1::POOLING},
    {"relu", V1::RELU},
    {"sigmoid", V1::SIGMOID},
    {"softmax", V1::SOFTMAX},
    {"softmax_loss", V1::SOFTMAX_LOSS},
    {"split", V1::SPLIT},
    {"tanh", V1::TANH},
    {"window_data", V1::WINDOW_DATA},
};

/// The current block and name of a V0 field, for a V0 layer type or, if `type`
/// is "*", for all types. V0 layers had all fields in one message.
struct FieldTarget {
  const char *field;
  const char *type;
  const char *block;
  const char *currentField;
};

constexpr FieldTarget fieldTargets[] = {
    {"num_output", "conv", "convolution_param", "num_output"},
    {"num_output", "innerproduct", "inner_product_param", "num_output"},
    {"biasterm", "conv", "convolution_param", "bias_term"},
    {"biasterm", "innerproduct", "inner_product_param", "bias_term"},
    {"weight_filler", "conv", "convolution_param", "weight_filler"},
    {"weight_filler", "innerproduct", "inner_product_param", "weight_filler"},
    {"bias_filler", "conv", "convolution_param", "bias_filler"},
    {"bias_filler", "innerproduct", "inner_product_param", "bias_filler"},
    {"pad", "conv", "convolution_param", "pad"},
    {"pad", "pool", "pooling_param", "pad"},
    {"kernelsize", "conv", "convolution_param", "kernel_size"},
    {"kernelsize", "pool", "pooling_param", "kernel_size"},
    {"group", "conv", "convolution_param", "group"},
    {"stride", "conv", "convolution_param", "stride"},
    {"stride", "pool", "pooling_param", "stride"},
    {"pool", "pool", "pooling_param", "pool"},
    {"dropout_ratio", "dropout", "dropout_param", "dropout_ratio"},
    {"local_size", "lrn", "lrn_param", "local_size"},
    {"alpha", "lrn", "lrn_param", "alpha"},
    {"beta", "lrn", "lrn_param", "beta"},
    {"k", "lrn", "lrn_param", "k"},
    {"source", "data", "data_param", "source"},
    {"source", "hdf5_data", "hdf5_data_param", "source"},
    {"source", "images", "image_data_param", "source"},
    {"source", "window_data", "window_data_param", "source"},
    {"source", "infogain_loss", "infogain_loss_param", "source"},
    {"scale", "*", "transform_param", "scale"},
    {"meanfile", "*", "transform_param", "mean_file"},
    {"batchsize", "data", "data_param", "batch_size"},
    {"batchsize", "hdf5_data", "hdf5_data_param", "batch_size"},
    {"batchsize", "images", "image_data_param", "batch_size"},
    {"batchsize", "window_data", "window_data_param", "batch_size"},
    {"cropsize", "*", "transform_param", "crop_size"},
    {"mirror", "*", "transform_param", "mirror"},
    {"rand_skip", "data", "data_param", "rand_skip"},
    {"rand_skip", "images", "image_data_param", "rand_skip"},
    {"shuffle_images", "images", "image_data_param", "shuffle"},
    {"new_height", "images", "image_data_param", "new_height"},
    {"new_width", "images", "image_data_param", "new_width"},
    {"concat_dim", "concat", "concat_param", "concat_dim"},
    {"det_fg_threshold", "window_data", "window_data_param", "fg_threshold"},
    {"det_bg_threshold", "window_data", "window_data_param", "bg_threshold"},
    {"det_fg_fraction", "window_data", "window_data_param", "fg_fraction"},
    {"det_context_pad", "window_data", "window_data_param", "context_pad"},
    {"det_crop_mode", "window_data", "window_data_param", "crop_mode"},
};

const FieldTarget *findFieldTarget(const std::string &field,
                                   const std::string &type) {
  for (const FieldTarget &target : fieldTargets)
    if (field == target.field && (type == target.type || target.type[0] == '*'))
      return &target;
  return nullptr;
}

LayerText layerPrefix(const V1 &layer) {
  return {layer.layer().name(), layer.layer().type()};
}

void upgradeType(SourceMap &locations, const V1 &from, V1 &to,
                 Diagnostics &diagnostics) {
  const V0 &old = from.layer();
  if (!old.has_type())
    return;
  std::vector<std::string> knownTypes = {"padding"};
  for (const V0TypeName &entry : v0TypeNames) {
    knownTypes.push_back(entry.v0Name);
    if (old.type() != entry.v0Name)
      continue;
    to.set_type(entry.v1Type);
    locations.copyField(old, "type", 0, to, "type");
    return;
  }
  diagnostics.error(locations.whereValue(old, "type"),
                    layerPrefix(from) + "unknown layer type '" + old.type() +
                        "' of the oldest prototxt form" +
                        didYouMean(old.type(), knownTypes));
}

void upgradeLayer(SourceMap &locations, const V1 &from, V1 &to,
                  Diagnostics &diagnostics) {
  SourceLocation start = locations.where(from);
  locations.setStart(to, {start.line, start.column});
  copyField(locations, from, "bottom", to, "bottom");
  copyField(locations, from, "top", to, "top");
  const V0 &old = from.layer();
  for (const char *field : {"name", "blobs", "blobs_lr", "weight_decay"})
    copyField(locations, old, field, to, field);
  upgradeType(locations, from, to, diagnostics);
  if (old.type() == "hdf5_output")
    copyField(locations, old, "hdf5_output_param", to, "hdf5_output_param");

  const auto *type = V0::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const std::string &field = type->field(i)->name();
    if (field == "name" || field == "type" || field == "blobs" ||
        field == "blobs_lr" || field == "weight_decay" || !hasField(old, field))
      continue;
    if (field == "hdf5_output_param" && old.type() == "hdf5_output")
      continue;
    const FieldTarget *target = findFieldTarget(field, old.type());
    if (!target) {
      diagnostics.warning(locations.where(old, field),
                          layerPrefix(from) + "'" + field +
                              "' is not a field of this layer type and is "
                              "ignored, as Caffe does");
      continue;
    }
    Message &block = getOrCreateBlock(locations, to, target->block, old, field);
    copyField(locations, old, field, block, target->currentField);
  }
}

/// For each blob, the padding layer that produces it last; null if its last
/// producer is another layer.
using PaddingByBlob = std::map<std::string, const V1 *>;

/// Merges the padding layer before `to`, the upgraded form of `from`, into
/// `to`: the padding becomes a setting of `to`.
void mergePadding(SourceMap &locations, const V1 &padding, const V1 &from,
                  V1 &to, Diagnostics &diagnostics) {
  const std::string &readerType = from.layer().type();
  const SourceLocation bottomLocation = locations.whereValue(from, "bottom");
  if ((readerType != "conv" && readerType != "pool") ||
      from.bottom_size() != 1) {
    diagnostics
        .error(bottomLocation, layerPrefix(from) +
                                   "only a conv or pool layer with one "
                                   "bottom can read a padding layer")
        .note(locations.where(padding), "the padding layer is here");
    return;
  }
  if (padding.bottom_size() != 1 || padding.top_size() != 1) {
    diagnostics.error(locations.where(padding),
                      layerPrefix(padding) +
                          "a padding layer has one bottom and one top");
    return;
  }
  const V0 &pad = padding.layer();
  if (readerType == "conv") {
    to.mutable_convolution_param()->clear_pad();
    to.mutable_convolution_param()->add_pad(pad.pad());
    locations.copyField(pad, "pad", 0, to.convolution_param(), "pad");
  } else {
    to.mutable_pooling_param()->set_pad(pad.pad());
    locations.copyField(pad, "pad", 0, to.pooling_param(), "pad");
  }
  to.set_bottom(0, padding.bottom(0));
}

} // namespace

bool hasV0Layers(const caffe::NetParameter &net) {
  for (const V1 &layer : net.layers())
    if (layer.has_layer())
      return true;
  return false;
}

std::unique_ptr<caffe::NetParameter> upgradeV0(const caffe::NetParameter &from,
                                               SourceMap &locations,
                                               Diagnostics &diagnostics) {
  auto net = std::make_unique<caffe::NetParameter>();
  SourceLocation start = locations.where(from);
  locations.setStart(*net, {start.line, start.column});
  const auto *type = caffe::NetParameter::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const std::string &name = type->field(i)->name();
    if (name != "layers")
      copyField(locations, from, name, *net, name);
  }
  PaddingByBlob paddingByBlob;
  for (int i = 0; i < from.layers_size(); ++i) {
    const V1 &layer = from.layers(i);
    if (!layer.has_layer()) {
      diagnostics.error(locations.where(layer),
                        "the net mixes two old forms: this 'layers' has no "
                        "inner 'layer' block, others have one");
      continue;
    }
    const bool isPadding = layer.layer().type() == "padding";
    V1 *upgraded = nullptr;
    if (!isPadding) {
      upgraded = net->add_layers();
      upgradeLayer(locations, layer, *upgraded, diagnostics);
      locations.copyField(from, "layers", i, *net, "layers");
    }
    for (const std::string &bottom : layer.bottom()) {
      auto found = paddingByBlob.find(bottom);
      if (found == paddingByBlob.end() || !found->second)
        continue;
      if (isPadding)
        diagnostics.error(locations.whereValue(layer, "bottom"),
                          layerPrefix(layer) +
                              "a padding layer cannot read another one");
      else
        mergePadding(locations, *found->second, layer, *upgraded, diagnostics);
    }
    for (const std::string &top : layer.top())
      paddingByBlob[top] = isPadding ? &layer : nullptr;
  }
  return net;
}

} // namespace brew::prototxt
