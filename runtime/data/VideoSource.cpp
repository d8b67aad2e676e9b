//===- VideoSource.cpp - Batches of clips of videos -----------------------===//

#include "caffe/RandomStream.h"
#include "formats/PathLookup.h"
#include "formats/image/ClipList.h"
#include "formats/image/ImageFile.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageListSource.h"
#include "support/Error.h"

#include <algorithm>
#include <climits>

namespace brew::runtime {
namespace {

/// As in C3D, training skips clips whose frames are missing.
DataLayerInfo skippingBadClips(DataLayerInfo info) {
  info.readerOptions.skipBadRecords |= !info.testPhase;
  return info;
}

/// Reads clips: frames of videos, which are folders of image files.
class VideoSource : public ImageListSource {
public:
  explicit VideoSource(const DataLayerInfo &info)
      : ImageListSource(skippingBadClips(info), "clips"),
        parameter(info.layer.video_data_param()), testPhase(info.testPhase),
        stream(info.seed.rankSeed(), "clips " + info.stream),
        labelCount(info.tops.size() > 1 ? classCount() : 0) {
    if (info.tops[0]->dims(2) != parameter.new_length() ||
        (labelCount && (info.tops[1]->dims_size() != 2 ||
                        info.tops[1]->dims(1) != labelCount)))
      throw badInput("damaged plan: the tops of " + images.layer() +
                     " do not have the shapes of its settings");
    const std::string list = formats::requirePath(
        parameter.source(), info.folders, "list of clips of " + images.layer());
    postLine(info.events, log::site::imageList, "Opening file " + list);
    formats::ImageDataFiles clips;
    clips.source = list;
    clips.entries = formats::readClipList(list, classCount());
    open(info, std::move(clips), parameter.rand_skip());
  }

private:
  /// Frames first, first + step...
  struct Clip {
    std::int64_t first = 0, step = 1;
  };

  int classCount() const {
    return parameter.use_multiple_label()
               ? static_cast<int>(parameter.num_of_labels())
               : 0;
  }

  /// Chooses the frames of record `record`. Each record uses two positions of
  /// the stream.
  Clip chooseClip(const formats::ImageListEntry &entry, std::uint64_t record,
                  const std::string &where) const {
    Clip clip = {entry.frame, parameter.sampling_rate()};
    if (parameter.use_sampling_rate_jitter())
      clip.step =
          1 + static_cast<std::int64_t>(stream.below(
                  2 * record, std::max(parameter.max_sampling_rate(), 1u)));
    if (!parameter.use_temporal_jitter())
      return clip;
    // The list has the number of frames of the video.
    const std::int64_t needed = parameter.new_length() * clip.step;
    if (entry.frame < needed)
      throw badInput(where + ": a clip takes " + std::to_string(needed) +
                     " frames, but the video has " +
                     std::to_string(entry.frame));
    clip.first = testPhase ? 0
                           : 1 + static_cast<std::int64_t>(stream.below(
                                     2 * record + 1, entry.frame - needed + 1));
    return clip;
  }

  void decode(const formats::ImageListEntry &entry, std::uint64_t record,
              formats::ImageRecord &image, std::string &where) const override {
    const std::string line = files.locationOf(entry);
    const std::string video = parameter.root_folder() + entry.name;
    const Clip clip = chooseClip(entry, record, line);
    const auto length = static_cast<int>(parameter.new_length());
    formats::Image frame;
    for (int i = 0; i < length; ++i) {
      const std::int64_t number = clip.first + i * clip.step;
      if (number > INT_MAX)
        throw badInput(line + ": the number of a frame is too large");
      const std::string path =
          formats::requireFrame(video, static_cast<int>(number), folders, line);
      formats::readImageFile(path,
                             parameter.is_color() ? formats::ImageColor::Color
                                                  : formats::ImageColor::Gray,
                             static_cast<int>(parameter.new_height()),
                             static_cast<int>(parameter.new_width()), line,
                             frame);
      if (!formats::setFrame(frame, i, length, image))
        throw badInput(line + ": " + path +
                       " has another size than the first "
                       "frame of its clip");
    }
    where = line + ": " + video;
    takeLabels(entry, image);
  }

  void takeLabels(const formats::ImageListEntry &entry,
                  formats::ImageRecord &image) const {
    image.label = entry.label;
    image.labels.assign(static_cast<std::size_t>(labelCount), 0);
    if (labelCount)
      for (const float label : entry.labels)
        image.labels[static_cast<std::size_t>(label)] = 1;
  }

  const caffe::VideoDataParameter parameter;
  const bool testPhase;
  const caffe::RandomStream stream;
  const int labelCount; ///< of a clip, if it has several labels
};

} // namespace

static std::unique_ptr<BatchSource> openVideoSource(const DataLayerInfo &info) {
  return std::make_unique<VideoSource>(info);
}

const SourceKind videoSource = {caffe::DataLayerSource::Videos,
                                openVideoSource};

} // namespace brew::runtime
