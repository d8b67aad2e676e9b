//===- KindChecks.cpp - Rules of layer types ------------------------------===//

#include "formats/Blob.h"
#include "frontends/prototxt/check/LayerKinds.h"
#include "frontends/prototxt/check/LayerSettings.h"
#include "support/Error.h"

#include <algorithm>

namespace brew::prototxt {

namespace {

std::string number(int count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void checkCounts(const caffe::LayerParameter &layer, const LayerKind &kind,
                 const SourceMap &locations, Diagnostics &diagnostics) {
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
    diagnostics.error(locations.where(layer), layerPrefix(layer) + verb + " " +
                                                  wanted + ", but has " +
                                                  std::to_string(count));
  };
  check(layer.bottom_size(), kind.minBottoms, kind.maxBottoms, "bottom",
        "takes");
  // A loss without tops has an automatic one.
  check(layer.top_size(), kind.isLoss ? 0 : kind.minTops, kind.maxTops, "top",
        "gives");
  if (kind.oneTopPerBottom && layer.bottom_size() != layer.top_size())
    diagnostics.error(locations.where(layer),
                      layerPrefix(layer) +
                          "gives one top for each bottom, but "
                          "has " +
                          number(layer.bottom_size(), "bottom") + " and " +
                          number(layer.top_size(), "top"));
}

/// Reports settings of other layer types. They have no effect, so they are
/// probably mistakes.
void checkBlocks(const caffe::LayerParameter &layer, const LayerKind &kind,
                 const SourceMap &locations, Diagnostics &diagnostics) {
  const auto *reflection = layer.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection->ListFields(layer, &fields);
  for (const auto *field : fields)
    if (field->message_type() && !field->is_repeated() &&
        !kind.reads(field->name()) && field->name() != kind.refusedBlock)
      diagnostics.warning(locations.where(layer, field->name()),
                          layerPrefix(layer) + field->name() +
                              " has no effect in a layer of this type");
}

/// Checks the number of blobs in the prototxt against the number of parameters.
/// Their shapes are checked after shape inference.
void checkBlobs(const caffe::LayerParameter &layer, const LayerKind &kind,
                const SourceMap &locations, Diagnostics &diagnostics) {
  const int given = layer.blobs_size();
  if (given == 0)
    return;
  if (kind.ignoresBlobs) {
    diagnostics.warning(locations.where(layer, "blobs"),
                        layerPrefix(layer) +
                            "blobs have no effect: Caffe starts the weights of "
                            "this type from its fillers");
    return;
  }
  const int wanted = static_cast<int>(paramsOf(kind, layer).size());
  if (given != wanted && given != kind.otherBlobCount)
    diagnostics.error(
        locations.where(layer, "blobs", std::min(given - 1, wanted)),
        layerPrefix(layer) + "blobs is given " + number(given, "time") +
            ", but the layer has " + number(wanted, "parameter"));
  for (int i = 0; i < given; ++i) {
    try {
      caffe::BlobProto copy = layer.blobs(i);
      formats::takeBlob(copy, "blobs " + std::to_string(i));
    } catch (const Error &error) {
      // A prototxt is written by hand, so it is not "damaged".
      std::string text = error.what();
      if (size_t at = text.find("damaged: "); at != text.npos)
        text.erase(at, std::string("damaged: ").size());
      diagnostics.error(locations.where(layer, "blobs", i),
                        layerPrefix(layer) + text);
    }
  }
}

} // namespace

void checkAgainstKind(const caffe::LayerParameter &layer, const LayerKind &kind,
                      const SourceMap &locations, Diagnostics &diagnostics) {
  checkCounts(layer, kind, locations, diagnostics);
  checkBlocks(layer, kind, locations, diagnostics);
  checkBlobs(layer, kind, locations, diagnostics);
}

} // namespace brew::prototxt
