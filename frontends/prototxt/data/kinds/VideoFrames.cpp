//===- VideoFrames.cpp - Shapes of clips of videos ------------------------===//
#include "frontends/prototxt/data/DataLayerQuery.h"

#include "formats/Blob.h"
#include "formats/TextLines.h"
#include "formats/image/ClipList.h"
#include "formats/image/ImageFile.h"

namespace brew::prototxt {
namespace {

/// Returns the shape of a clip from the first frame that the list names.
DataShape firstClipShape(const DataLayerQuery &q, const std::string &list) {
  const caffe::VideoDataParameter &settings = q.layer.video_data_param();
  const formats::ImageListEntry first =
      formats::readClipList(list,
                            settings.use_multiple_label()
                                ? static_cast<int>(settings.num_of_labels())
                                : 0)
          .front();
  const std::string where = formats::lineLocation(list, first.line);
  // With jitter, the list contains the number of frames of the video instead.
  const int frame = settings.use_temporal_jitter() ? 1 : first.frame;
  formats::Image image;
  formats::readImageFile(
      formats::requireFrame(settings.root_folder() + first.name, frame,
                            q.folders, where),
      settings.is_color() ? formats::ImageColor::Color
                          : formats::ImageColor::Gray,
      0, 0, where, image);
  return {image.channels, settings.new_length(), image.height, image.width};
}

std::vector<DataShape> videoShapes(DataLayerQuery &q) {
  q.hasOwnBatch = true;
  caffe::VideoDataParameter &settings = *q.layer.mutable_video_data_param();
  const int64_t batch = q.takeBatch(settings);
  const int64_t crop = q.layer.transform_param().crop_size();
  const int64_t channels = settings.is_color() ? 3 : 1;
  const int64_t frames = settings.new_length();
  const DataShape *explicitTop = q.explicitShape(0);
  if (explicitTop)
    q.checkExplicitImage(*explicitTop, /*dims=*/5);
  DataShape clip;
  std::string sourceName = "'" + settings.source() + "'";
  bool isCropped = false;
  if (settings.new_height() && settings.new_width()) {
    clip = {channels, frames, settings.new_height(), settings.new_width()};
  } else if (crop) {
    // Frames may have any size: the reader checks each one.
    clip = {channels, frames, crop, crop};
    isCropped = true;
  } else if (const auto list = q.findSource(settings.source(), "list of clips",
                                            "N,C,L,H,W")) {
    clip = firstClipShape(q, *list);
    sourceName = *list;
  } else {
    clip.assign(explicitTop->begin() + 1, explicitTop->end());
    sourceName = "--input-shape";
  }
  q.checkMean(clip, isCropped, sourceName);
  q.crop(clip, sourceName);
  clip.insert(clip.begin(), batch);
  std::vector<DataShape> tops = {std::move(clip)};
  if (q.layer.top_size() > 1)
    tops.push_back(settings.use_multiple_label()
                       ? DataShape{batch, settings.num_of_labels()}
                       : DataShape{batch});
  return tops;
}

void checkVideoFiles(RunTimeFiles &files) {
  if (!files.hasShape)
    files.check(files.layer.video_data_param().source(), "list of clips");
  files.checkMean();
}

} // namespace

const DataKind videosKind = {caffe::DataLayerSource::Videos, videoShapes,
                             checkVideoFiles};

} // namespace brew::prototxt
