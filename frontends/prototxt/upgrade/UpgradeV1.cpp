//===- UpgradeV1.cpp - Conversion of V1 `layers` to `layer` ---------------===//

#include "formats/V1Layers.h"
#include "frontends/prototxt/check/CropOffsets.h"
#include "frontends/prototxt/upgrade/FieldCopy.h"
#include "frontends/prototxt/upgrade/LegacyUpgrade.h"

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace brew::prototxt {

using google::protobuf::Descriptor;
using google::protobuf::Message;

namespace {

using V1 = caffe::V1LayerParameter;

/// Returns ParamSpec `index`. If necessary, creates it and the ones before it,
/// each with the location of the V1 field that needs it.
caffe::ParamSpec &getOrCreateParamSpec(SourceMap &locations,
                                       caffe::LayerParameter &layer, int index,
                                       const V1 &old, const char *field) {
  while (layer.param_size() <= index) {
    caffe::ParamSpec *spec = layer.add_param();
    locations.copyField(old, field, layer.param_size() - 1, layer, "param");
    SourceLocation fieldLocation =
        locations.where(old, field, layer.param_size() - 1);
    locations.setStart(*spec, {fieldLocation.line, fieldLocation.column});
  }
  return *layer.mutable_param(index);
}

/// Converts V1's parallel lists `param`, `blob_share_mode`, `blobs_lr` and
/// `weight_decay` to the current list of `param` blocks.
void convertParamSpecs(SourceMap &locations, const V1 &old,
                       caffe::LayerParameter &layer) {
  for (int i = 0; i < old.param_size(); ++i) {
    auto &spec = getOrCreateParamSpec(locations, layer, i, old, "param");
    spec.set_name(old.param(i));
    locations.copyField(old, "param", i, spec, "name");
  }
  for (int i = 0; i < old.blob_share_mode_size(); ++i) {
    auto &spec =
        getOrCreateParamSpec(locations, layer, i, old, "blob_share_mode");
    spec.set_share_mode(old.blob_share_mode(i) == V1::STRICT
                            ? caffe::ParamSpec::STRICT
                            : caffe::ParamSpec::PERMISSIVE);
    locations.copyField(old, "blob_share_mode", i, spec, "share_mode");
  }
  for (int i = 0; i < old.blobs_lr_size(); ++i) {
    auto &spec = getOrCreateParamSpec(locations, layer, i, old, "blobs_lr");
    spec.set_lr_mult(old.blobs_lr(i));
    locations.copyField(old, "blobs_lr", i, spec, "lr_mult");
  }
  for (int i = 0; i < old.weight_decay_size(); ++i) {
    auto &spec = getOrCreateParamSpec(locations, layer, i, old, "weight_decay");
    spec.set_decay_mult(old.weight_decay(i));
    locations.copyField(old, "weight_decay", i, spec, "decay_mult");
  }
}

/// Returns whether a V1 field has no current field of the same name and type.
bool isConvertedSeparately(const std::string &field) {
  return field == "type" || field == "param" || field == "blob_share_mode" ||
         field == "blobs_lr" || field == "weight_decay" || field == "layer";
}

/// Returns the current name of a V1 field: C3D's 3-D layers have settings of
/// their own since its second version.
std::string currentName(const V1 &layer, const std::string &field) {
  if ((layer.type() == V1::CONVOLUTION3D ||
       layer.type() == V1::DECONVOLUTION3D) &&
      field == "convolution_param")
    return "convolution3d_param";
  if (layer.type() == V1::POOLING3D && field == "pooling_param")
    return "pooling3d_param";
  return field;
}

/// Moves the settings of C3D 1.0's VIDEO_DATA to their block in later versions.
/// Settings that this block lacks stay, so that they are reported.
void convertVideoSettings(SourceMap &locations, const V1 &old,
                          caffe::LayerParameter &layer) {
  const Descriptor &fields = *caffe::VideoDataParameter::descriptor();
  const Message &settings = old.image_data_param();
  for (int i = 0; i < settings.GetDescriptor()->field_count(); ++i) {
    const std::string &name = settings.GetDescriptor()->field(i)->name();
    if (!hasField(settings, name))
      continue;
    Message &block = getOrCreateBlock(
        locations, layer,
        fields.FindFieldByName(name) ? "video_data_param" : "image_data_param",
        old, "image_data_param");
    copyField(locations, settings, name, block, name);
  }
}

void upgradeLayer(SourceMap &locations, const V1 &old,
                  caffe::LayerParameter &layer) {
  SourceLocation start = locations.where(old);
  locations.setStart(layer, {start.line, start.column});
  const Descriptor *type = V1::descriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const std::string &name = type->field(i)->name();
    if (old.type() == V1::VIDEO_DATA && name == "image_data_param")
      convertVideoSettings(locations, old, layer);
    else if (!isConvertedSeparately(name))
      copyField(locations, old, name, layer, currentName(old, name));
  }
  if (old.has_type()) {
    layer.set_type(formats::v1LayerTypeName(old.type()));
    locations.copyField(old, "type", 0, layer, "type");
  }
  convertParamSpecs(locations, old, layer);
}

/// Moves the fields for transformations from a data layer's own block, e.g.
/// `data_param`, to `transform_param`.
void moveTransform(SourceMap &locations, V1 &layer, const char *block) {
  if (!hasField(layer, block))
    return;
  const auto *field = V1::descriptor()->FindFieldByName(block);
  Message *data = layer.GetReflection()->MutableMessage(&layer, field);
  std::vector<const char *> names = {"scale", "mean_file", "crop_size",
                                     "mirror"};
  if (layer.type() == V1::VIDEO_DATA)
    names.push_back("mean_value");
  for (const char *name : names) {
    if (!hasField(*data, name))
      continue;
    Message &transform =
        getOrCreateBlock(locations, layer, "transform_param", *data, name);
    copyField(locations, *data, name, transform, name);
    data->GetReflection()->ClearField(
        data, data->GetDescriptor()->FindFieldByName(name));
  }
}

} // namespace

void upgradeDataTransforms(caffe::NetParameter &net, SourceMap &locations) {
  for (V1 &layer : *net.mutable_layers()) {
    if (layer.type() == V1::DATA)
      moveTransform(locations, layer, "data_param");
    if (layer.type() == V1::IMAGE_DATA || layer.type() == V1::VIDEO_DATA)
      moveTransform(locations, layer, "image_data_param");
    if (layer.type() == V1::WINDOW_DATA)
      moveTransform(locations, layer, "window_data_param");
  }
}

std::unique_ptr<caffe::NetParameter> upgradeV1(const caffe::NetParameter &from,
                                               SourceMap &locations,
                                               Diagnostics &diagnostics) {
  if (from.layer_size() > 0)
    diagnostics
        .warning(locations.where(from, "layer"),
                 "the net mixes 'layer' with the old form 'layers'; every "
                 "'layer' is ignored, as Caffe does")
        .note(locations.where(from, "layers"), "the first 'layers' is here");
  auto net = std::make_unique<caffe::NetParameter>();
  const Descriptor *type = caffe::NetParameter::descriptor();
  SourceLocation start = locations.where(from);
  locations.setStart(*net, {start.line, start.column});
  for (int i = 0; i < type->field_count(); ++i) {
    const std::string &name = type->field(i)->name();
    if (name != "layers" && name != "layer")
      copyField(locations, from, name, *net, name);
  }
  for (int i = 0; i < from.layers_size(); ++i) {
    upgradeLayer(locations, from.layers(i), *net->add_layer());
    locations.copyField(from, "layers", i, *net, "layer");
    if (from.layers(i).type() == V1::CROP)
      addCropOffsets(*net, i, locations, diagnostics);
  }
  return net;
}

} // namespace brew::prototxt
