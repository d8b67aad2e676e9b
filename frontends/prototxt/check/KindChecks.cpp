//===- KindChecks.cpp - Rules of layer types ------------------------------===//

#include "formats/Blob.h"
#include "frontends/prototxt/check/LayerKinds.h"
#include "frontends/prototxt/check/LayerSettings.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <algorithm>

namespace brew::prototxt {

namespace {

void checkCounts(const caffe::LayerParameter &layer, const LayerKind &kind,
                 const SourceMap &locations, Diagnostics &diagnostics) {
  auto check = [&](int count, int min, int max, const char *noun,
                   const char *verb) {
    if ((min < 0 || count >= min) && (max < 0 || count <= max))
      return;
    std::string expected;
    if (min == max)
      expected = countWithNoun(min, noun);
    else if (count < min)
      expected = "at least " + countWithNoun(min, noun);
    else
      expected = "at most " + countWithNoun(max, noun);
    diagnostics.error(locations.where(layer), layerPrefix(layer) + verb + " " +
                                                  expected + ", but has " +
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
                          countWithNoun(layer.bottom_size(), "bottom") +
                          " and " + countWithNoun(layer.top_size(), "top"));
}

/// Returns whether a field of LayerParameter contains settings of some types.
bool isSettings(const std::string &field) {
  const std::string suffix = "_param";
  return field.size() > suffix.size() &&
         field.compare(field.size() - suffix.size(), suffix.size(), suffix) ==
             0;
}

/// Warns of settings that only other layer types read. They are probably
/// mistakes.
void warnUnusedBlocks(const caffe::LayerParameter &layer, const LayerKind &kind,
                      const SourceMap &locations, Diagnostics &diagnostics) {
  const auto *reflection = layer.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection->ListFields(layer, &fields);
  for (const auto *field : fields)
    if (field->message_type() && isSettings(field->name()) &&
        !kind.reads(field->name()) && field->name() != kind.refusedBlock)
      diagnostics.warning(locations.where(layer, field->name()),
                          layerPrefix(layer) + field->name() +
                              " has no effect in a layer of this type");
}

/// Checks the number of blobs in the prototxt against the number of parameters.
/// Their shapes are checked after shape inference.
void checkBlobs(const caffe::LayerParameter &layer, const LayerKind &kind,
                const SourceMap &locations, Diagnostics &diagnostics) {
  const int blobCount = layer.blobs_size();
  if (blobCount == 0)
    return;
  if (kind.ignoresBlobs) {
    diagnostics.warning(locations.where(layer, "blobs"),
                        layerPrefix(layer) +
                            "blobs have no effect: Caffe starts the weights of "
                            "this type from its fillers");
    return;
  }
  const int paramCount = static_cast<int>(paramsOf(kind, layer).size());
  if (blobCount != paramCount && blobCount != kind.otherBlobCount)
    diagnostics.error(
        locations.where(layer, "blobs", std::min(blobCount - 1, paramCount)),
        layerPrefix(layer) + "blobs is given " +
            countWithNoun(blobCount, "time") + ", but the layer has " +
            countWithNoun(paramCount, "parameter"));
  for (int i = 0; i < blobCount; ++i) {
    try {
      caffe::BlobProto copy = layer.blobs(i);
      formats::takeBlob(copy, "blobs " + std::to_string(i));
    } catch (const Error &error) {
      // Drop the word "damaged": a prototxt is written by hand.
      std::string text = error.what();
      if (size_t position = text.find("damaged: "); position != text.npos)
        text.erase(position, std::string("damaged: ").size());
      diagnostics.error(locations.where(layer, "blobs", i),
                        layerPrefix(layer) + text);
    }
  }
}

} // namespace

void checkAgainstKind(const caffe::LayerParameter &layer, const LayerKind &kind,
                      const SourceMap &locations, Diagnostics &diagnostics) {
  checkCounts(layer, kind, locations, diagnostics);
  warnUnusedBlocks(layer, kind, locations, diagnostics);
  checkBlobs(layer, kind, locations, diagnostics);
}

} // namespace brew::prototxt
