//===- KindChecks.cpp - What a layer's type demands -----------------------===//

#include "frontends/prototxt/LayerKinds.h"
#include "frontends/prototxt/LayerSettings.h"

namespace brew::prototxt {

namespace {

std::string number(int count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void checkCounts(const caffe::LayerParameter &layer, const LayerKind &kind,
                 const SourceMap &places, Diagnostics &diagnostics) {
  auto check = [&](int count, int least, int most, const char *noun,
                   const char *verb) {
    if ((least < 0 || count >= least) && (most < 0 || count <= most))
      return;
    std::string wanted;
    if (least == most)
      wanted = number(least, noun);
    else if (count < least)
      wanted = "at least " + number(least, noun);
    else
      wanted = "at most " + number(most, noun);
    diagnostics.error(places.where(layer), layerWords(layer) + verb + " " +
                                               wanted + ", but has " +
                                               std::to_string(count));
  };
  check(layer.bottom_size(), kind.minBottoms, kind.maxBottoms, "bottom",
        "takes");
  // A loss makes a top of its own where one is needed.
  check(layer.top_size(), kind.isLoss ? 0 : kind.minTops, kind.maxTops, "top",
        "gives");
  if (kind.oneTopPerBottom && layer.bottom_size() != layer.top_size())
    diagnostics.error(places.where(layer),
                      layerWords(layer) +
                          "gives one top for each bottom, but "
                          "has " +
                          number(layer.bottom_size(), "bottom") + " and " +
                          number(layer.top_size(), "top"));
}

/// Settings of other layer types are read by nobody: most likely a mistake.
void checkBlocks(const caffe::LayerParameter &layer, const LayerKind &kind,
                 const SourceMap &places, Diagnostics &diagnostics) {
  const auto *reflection = layer.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection->ListFields(layer, &fields);
  for (const auto *field : fields)
    if (field->message_type() && !field->is_repeated() &&
        !kind.reads(field->name()) &&
        // Which Caffe refuses outright.
        !(layer.type() == "HDF5Data" && field->name() == "transform_param"))
      diagnostics.warning(places.where(layer, field->name()),
                          layerWords(layer) + field->name() +
                              " has no effect in a layer of this type");
}

} // namespace

void checkAgainstKind(const caffe::LayerParameter &layer, const LayerKind &kind,
                      const SourceMap &places, Diagnostics &diagnostics) {
  checkCounts(layer, kind, places, diagnostics);
  checkBlocks(layer, kind, places, diagnostics);
  if (layer.blobs_size() > 0)
    diagnostics.error(
        places.where(layer, "blobs"),
        layerWords(layer) +
            "weights inside a prototxt are not supported yet; give them in a "
            "caffemodel");
}

} // namespace brew::prototxt
