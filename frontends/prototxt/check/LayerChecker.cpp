//===- LayerChecker.cpp - Checks of one layer's settings ------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

#include "frontends/prototxt/text/FieldHints.h"
#include "frontends/prototxt/upgrade/ForkFields.h"
#include "support/Suggest.h"

#include <algorithm>
#include <climits>

namespace brew::prototxt {

using google::protobuf::FieldDescriptor;

Diagnostic &LayerChecker::error(const Message &block, const std::string &field,
                                const std::string &text, int index) {
  const bool hasLocation = locations.find(block, field, index) != nullptr;
  return diagnostics.error(hasLocation ? locations.where(block, field, index)
                                       : locations.where(layer),
                           layerPrefix(layer) + text);
}

Diagnostic &LayerChecker::errorInString(const Message &block,
                                        const std::string &field, size_t offset,
                                        const std::string &text) {
  return diagnostics.error(locations.whereInString(block, field, offset),
                           layerPrefix(layer) + text);
}

void LayerChecker::unsupported(const Message &block, const std::string &field,
                               const std::string &text, int index) {
  if (forCompilation)
    error(block, field, text, index);
  else
    warn(block, field, text, index);
}

/// Returns whether `field` is probably in the layer, with a mistake that has
/// been reported: misspelt, outside its block, or in a block whose name is
/// misspelt.
bool LayerChecker::isMisspelt(const Message &block,
                              const std::string &field) const {
  for (const std::string &name : locations.unknownFields(block))
    if (const auto *meant = meantField(*block.GetDescriptor(), name))
      if (meant->name() == field)
        return true;
  for (const std::string &name : locations.unknownFields(layer)) {
    if (name == field)
      return true;
    const auto *meant = meantField(*layer.GetDescriptor(), name);
    if (meant && meant->message_type() == block.GetDescriptor() &&
        !locations.find(layer, meant->name()))
      return true;
  }
  return false;
}

void LayerChecker::reportMissing(const Message &block,
                                 const std::string &field) {
  if (isMisspelt(block, field))
    return;
  error(block, field, field + " is missing");
}

void LayerChecker::warn(const Message &block, const std::string &field,
                        const std::string &text, int index) {
  diagnostics.warning(locations.where(block, field, index),
                      layerPrefix(layer) + text);
}

void LayerChecker::refuse(const Message &block,
                          std::initializer_list<const char *> fields,
                          const std::string &text) {
  for (const char *field : fields)
    if (locations.find(block, field))
      error(block, field, std::string(field) + " " + text);
}

void LayerChecker::count(const Message &block, const std::string &field) {
  const FieldDescriptor *descriptor =
      block.GetDescriptor()->FindFieldByName(field);
  const auto *reflection = block.GetReflection();
  if (!reflection->HasField(block, descriptor)) {
    reportMissing(block, field);
    return;
  }
  const uint32_t value = reflection->GetUInt32(block, descriptor);
  if (value == 0 || value > INT_MAX)
    error(block, field,
          field + " is " + std::to_string(value) +
              (value ? ", which is too large" : "; it must be at least 1"));
}

void LayerChecker::perDimension(const Message &block, const std::string &field,
                                const std::string &prefix,
                                bool mustBePositive) {
  const auto *descriptor = block.GetDescriptor();
  const auto *reflection = block.GetReflection();
  auto checkValue = [&](const std::string &name, uint32_t value, int index) {
    if (value > kMaxWindowSetting)
      error(block, name, name + " is too large", index);
    else if (mustBePositive && value == 0)
      error(block, name, name + " is 0; it must be at least 1", index);
  };
  const FieldDescriptor *sharedField = descriptor->FindFieldByName(field);
  const bool isList = sharedField->is_repeated();
  const int sharedCount = isList ? reflection->FieldSize(block, sharedField)
                                 : reflection->HasField(block, sharedField);
  for (int i = 0; i < sharedCount; ++i)
    checkValue(field,
               isList ? reflection->GetRepeatedUInt32(block, sharedField, i)
                      : reflection->GetUInt32(block, sharedField),
               i);
  if (prefix.empty())
    return;
  const std::string names[] = {prefix + "_h", prefix + "_w"};
  bool hasDim[2];
  for (int i = 0; i < 2; ++i) {
    const FieldDescriptor *dimField = descriptor->FindFieldByName(names[i]);
    hasDim[i] = reflection->HasField(block, dimField);
    if (hasDim[i])
      checkValue(names[i], reflection->GetUInt32(block, dimField), 0);
  }
  for (int i = 0; i < 2; ++i) {
    if (!hasDim[i])
      continue;
    if (sharedCount) {
      error(block, names[i],
            "give either " + field + " or " + names[0] + " and " + names[1] +
                ", not both")
          .note(locations.where(block, field), field + " is given here");
      return;
    }
    // In convolutions, one of pad_h and pad_w suffices; the other one is 0.
    // Kernels, strides and the padding of poolings need both.
    if (!hasDim[1 - i] && (mustBePositive || !isList))
      error(block, names[i], names[i] + " is given without " + names[1 - i]);
  }
}

void LayerChecker::filler(const caffe::FillerParameter &filler) {
  static const std::vector<std::string> knownTypes = {
      "constant", "uniform", "gaussian", "positive_unitball",
      "xavier",   "msra",    "bilinear"};
  const std::string &type = filler.type();
  if (type == "diagonal" && !locations.find(filler, "type"))
    return; // set by the layer itself
  if (const std::string forks = forksWithFiller(type); !forks.empty())
    unsupported(filler, "type",
                "filler type '" + type + "' belongs to " + forks +
                    " and is not supported yet");
  else if (std::find(knownTypes.begin(), knownTypes.end(), type) ==
           knownTypes.end())
    error(filler, "type",
          "unknown filler type '" + type + "'" + didYouMean(type, knownTypes));
  else if (type != "gaussian" && filler.sparse() != -1)
    error(filler, "sparse",
          "only a gaussian filler can be sparse, not '" + type + "'");
  else if (filler.sparse() < -1)
    error(filler, "sparse", "sparse must not be negative");
  refuse(filler, {"diagonal"}, "is set by layers, not in a prototxt");
  if (type == "uniform" && !(filler.min() <= filler.max()))
    error(filler, "min", "the filler has min above max");
  if (type == "gaussian" && !(filler.std() >= 0))
    error(filler, "std", "std must not be negative");
}

void LayerChecker::shape(const caffe::BlobShape &shape) {
  int64_t count = 1;
  for (int i = 0; i < shape.dim_size(); ++i) {
    const int64_t dim = shape.dim(i);
    if (dim < 1) {
      error(shape, "dim",
            "dim is " + std::to_string(dim) + "; it must be at least 1", i);
      return;
    }
    // Caffe counts elements in an int.
    if (dim > INT_MAX / count) {
      error(shape, "dim", "the blob has more than 2147483647 elements", i);
      return;
    }
    count *= dim;
  }
}

void LayerChecker::transform() {
  const caffe::TransformationParameter &transform = layer.transform_param();
  if (transform.has_mean_file() && transform.mean_value_size())
    error(transform, "mean_value",
          "give either mean_file or mean_value, not both")
        .note(locations.where(transform, "mean_file"),
              "mean_file is given here");
  if (transform.force_color() && transform.force_gray())
    error(transform, "force_gray",
          "force_color and force_gray exclude each other");
  for (const auto &[field, size] :
       {std::pair("crop_size", transform.crop_size()),
        std::pair("crop_height", transform.crop_height()),
        std::pair("crop_width", transform.crop_width())})
    if (size > INT_MAX)
      error(transform, field, std::string(field) + " is too large");
  if (transform.color_order() == caffe::TransformationParameter::RGB &&
      transform.has_color_order())
    warn(transform, "color_order",
         "color_order: RGB has no effect: images are read as BGR, as in Caffe");
  for (const char *field : {"scale_factors", "crop_height", "crop_width"})
    if (layer.type() != "ImageSegData" && locations.find(transform, field))
      unsupported(transform, field,
                  std::string(field) + " belongs to DeepLab and is supported "
                                       "in ImageSegData only");
  if (transform.further_resize_param_size() && !transform.has_resize_param())
    error(transform, "further_resize_param",
          "further_resize_param needs a resize_param");
  if (layer.type() == "AnnotatedData")
    return;
  for (const char *field :
       {"resize_param", "noise_param", "emit_constraint", "crop_h", "crop_w",
        "distort_param", "expand_param"})
    if (transform.GetReflection()->HasField(
            transform, transform.GetDescriptor()->FindFieldByName(field)))
      unsupported(transform, field,
                  std::string(field) +
                      " belongs to SSD (weiliu89/caffe) and is supported in "
                      "AnnotatedData only");
}

void LayerChecker::resize(const caffe::ResizeParameter &resize) {
  // Maximum height and width of an image.
  constexpr uint32_t kMaxPixels = 1 << 16;
  for (const char *field : {"height", "width"}) {
    count(resize, field);
    if (resize.GetReflection()->GetUInt32(
            resize, resize.GetDescriptor()->FindFieldByName(field)) >
        kMaxPixels)
      error(resize, field, std::string(field) + " is too large");
  }
}

void checkSettings(const caffe::LayerParameter &layer, const LayerKind &kind,
                   const SourceMap &locations, Diagnostics &diagnostics,
                   bool forCompilation) {
  LayerChecker check(layer, locations, diagnostics, forCompilation);
  if (kind.check)
    kind.check(check);
  for (const ParamBlob &param : paramsOf(kind, layer))
    if (param.filler)
      check.filler(*param.filler);
}

} // namespace brew::prototxt
