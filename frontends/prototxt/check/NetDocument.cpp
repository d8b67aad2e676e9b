//===- NetDocument.cpp - A parsed and upgraded net ------------------------===//

#include "frontends/prototxt/check/NetDocument.h"

#include "frontends/prototxt/check/LayerSettings.h"
#include "frontends/prototxt/upgrade/FieldCopy.h"
#include "frontends/prototxt/upgrade/LegacyUpgrade.h"

namespace brew::prototxt {

std::shared_ptr<const NetDocument>
NetDocument::fromFile(const std::string &path, Diagnostics &diagnostics,
                      const std::set<std::string> &hostTypes) {
  return fromParsed(readPrototxt(path, diagnostics, FileKind::Net, hostTypes),
                    diagnostics);
}

std::shared_ptr<const NetDocument>
NetDocument::fromParsed(PrototxtFile file, Diagnostics &diagnostics) {
  if (!file.reachedEnd || !file.net)
    return nullptr;
  std::shared_ptr<NetDocument> document(new NetDocument());
  document->sourceMap = std::move(file.locations);
  document->upgradeAndCheck(std::move(file.net), diagnostics);
  return document;
}

std::shared_ptr<const NetDocument>
NetDocument::fromInline(const caffe::NetParameter &net,
                        std::shared_ptr<SourceMap> locations,
                        Diagnostics &diagnostics) {
  auto copy = std::make_unique<caffe::NetParameter>(net);
  locations->copy(net, *copy);
  return fromMessage(std::move(copy), std::move(locations), diagnostics);
}

std::shared_ptr<const NetDocument>
NetDocument::fromMessage(std::unique_ptr<caffe::NetParameter> net,
                         std::shared_ptr<SourceMap> locations,
                         Diagnostics &diagnostics) {
  std::shared_ptr<NetDocument> document(new NetDocument());
  document->sourceMap = std::move(locations);
  document->upgradeAndCheck(std::move(net), diagnostics);
  return document;
}

void NetDocument::upgradeAndCheck(std::unique_ptr<caffe::NetParameter> net,
                                  Diagnostics &diagnostics) {
  content = upgradeNet(std::move(net), *sourceMap, diagnostics, superseded);
  checkNet(*content, *sourceMap, diagnostics);
}

namespace {

/// Warns of fields that moved to transform_param. Caffe upgrades them in V1
/// layers only, and ignores them in current layers.
void warnOldDataFields(const caffe::LayerParameter &layer,
                       const SourceMap &locations, Diagnostics &diagnostics) {
  auto warn = [&](bool isPresent, const google::protobuf::Message &block,
                  const char *blockName, bool scaleHasEffect = false) {
    if (!isPresent)
      return;
    for (const std::string name : {"scale", "mean_file", "crop_size", "mirror"})
      if ((name != "scale" || !scaleHasEffect) && hasField(block, name))
        diagnostics.warning(locations.where(block, name),
                            layerPrefix(layer) + "'" + name + "' in " +
                                blockName +
                                " has no effect, as in Caffe; write it in "
                                "transform_param");
  };
  warn(layer.has_data_param() && layer.type() == "Data", layer.data_param(),
       "data_param");
  warn(layer.has_image_data_param() && layer.type() == "ImageData",
       layer.image_data_param(), "image_data_param");
  warn(layer.has_video_data_param() && layer.type() == "VideoData",
       layer.video_data_param(), "video_data_param");
  warn(layer.has_window_data_param() && layer.type() == "WindowData",
       layer.window_data_param(), "window_data_param", /*scaleHasEffect=*/true);
}

} // namespace

void checkNet(const caffe::NetParameter &net, const SourceMap &locations,
              Diagnostics &diagnostics) {
  for (const caffe::LayerParameter &layer : net.layer()) {
    if (layer.include_size() > 0 && layer.exclude_size() > 0)
      diagnostics
          .error(locations.where(layer, "exclude"),
                 layerPrefix(layer) +
                     "has both include and exclude rules; write one kind")
          .note(locations.where(layer, "include"), "'include' is given here");
    if (layer.propagate_down_size() > 0 &&
        layer.propagate_down_size() != layer.bottom_size())
      diagnostics.error(
          locations.where(layer, "propagate_down"),
          layerPrefix(layer) + "propagate_down is given " +
              std::to_string(layer.propagate_down_size()) + " times for " +
              std::to_string(layer.bottom_size()) +
              (layer.bottom_size() == 1 ? " bottom" : " bottoms") +
              "; it takes one for each bottom, or none");
    warnOldDataFields(layer, locations, diagnostics);
  }
}

} // namespace brew::prototxt
