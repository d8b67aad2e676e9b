//===- ImageSource.cpp - ImageData: batches from a list of files ----------===//

#include "formats/Error.h"
#include "formats/ImageFile.h"
#include "formats/ImageList.h"
#include "formats/PathLookup.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageBatch.h"
#include "runtime/data/ShuffledOrder.h"

namespace brew::runtime {
namespace {

/// Reads the listed images in order, or in a new random order in each pass.
/// Batches go on across passes.
class ImageSource : public DecodedSource {
public:
  explicit ImageSource(const FeedInfo &info)
      : DecodedSource(info), parameter(info.layer.image_data_param()),
        folders(info.folders), stream(info.seed, "shuffle " + info.stream) {
    if (!parameter.new_height() != !parameter.new_width())
      throw badInput(images.layer() +
                     ": new_height and new_width are given both or not at all");
    list = formats::requirePath(parameter.source(), info.folders,
                                "list of images of " + images.layer());
    postLine(info.events, log::site::imageList, "Opening file " + list);
    entries = formats::readImageList(list);
    if (parameter.shuffle())
      postLine(info.events, log::site::imageShuffle, "Shuffling data");
    postLine(info.events, log::site::imageCount,
             "A total of " + std::to_string(entries.size()) + " images.");
    startPass();
    // As Caffe says on ranks whose log nobody sees here.
    if (info.reading.ranks > 1 && !info.testPhase && !parameter.shuffle() &&
        !parameter.rand_skip() && info.events)
      info.events->post(event::LogLine{
          log::Severity::Warning, log::site::brew,
          "Shuffling or skipping recommended for several ranks: all of them "
          "read the images of '" +
              images.layer() + "' in the same order"});
    if (parameter.rand_skip())
      skip(info);
  }

  void seek(const SourcePosition &target) override {
    if (target.position >= entries.size())
      throw badInput(images.layer() + ": the solver state is at image " +
                     std::to_string(target.position) + " of '" + list +
                     "', which lists only " + std::to_string(entries.size()));
    at = target;
    startPass();
  }

private:
  bool readBatch(const std::vector<std::byte *> &memory,
                 std::byte *pixels) override {
    const std::uint64_t first = at.records;
    chosen.clear();
    for (std::int64_t row = 0; row < images.size(); ++row)
      chosen.push_back(&next());
    at.records += chosen.size();
    return images.write(
        memory, pixels, first, /*isCostly=*/true,
        [&](std::int64_t row, formats::ImageRecord &image, std::string &where) {
          decode(*chosen[static_cast<std::size_t>(row)], image, where);
        },
        [&](std::int64_t row) {
          chosen[static_cast<std::size_t>(row)] = &next();
        },
        [this] { return entries.size(); });
  }

  const formats::ImageListEntry &next() {
    const std::uint64_t number =
        order.empty() ? at.position
                      : static_cast<std::uint64_t>(order[at.position]);
    advance();
    return entries[number];
  }

  void decode(const formats::ImageListEntry &entry, formats::ImageRecord &image,
              std::string &where) const {
    where = placeOf(list, entry);
    const std::string name = parameter.root_folder() + entry.name;
    if (entry.name.empty())
      throw badInput(where + ": names no image");
    const std::string path =
        formats::requirePath(name, folders, where + ": image");
    formats::Image decoded;
    formats::readImageFile(path,
                           parameter.is_color() ? formats::ImageColor::Color
                                                : formats::ImageColor::Gray,
                           static_cast<int>(parameter.new_height()),
                           static_cast<int>(parameter.new_width()), where,
                           decoded);
    where += ": " + path;
    formats::setImage(decoded, image);
    image.label = entry.label;
  }

  void startPass() {
    if (parameter.shuffle())
      order = shuffledOrder(stream, entries.size(), at.epoch);
  }

  void advance() {
    if (++at.position < entries.size())
      return;
    at.position = 0;
    ++at.epoch;
    startPass();
  }

  void skip(const FeedInfo &info) {
    const std::uint64_t count =
        RandomStream(info.seed, "rand_skip " + info.stream)
            .below(0, parameter.rand_skip());
    postLine(info.events, log::site::imageSkip,
             "Skipping first " + std::to_string(count) + " data points.");
    if (count >= entries.size())
      throw badInput(images.layer() + ": rand_skip " +
                     std::to_string(parameter.rand_skip()) + " skips " +
                     std::to_string(count) + " of the " +
                     std::to_string(entries.size()) + " images of '" + list +
                     "'; not enough to skip");
    at.position = count;
  }

  caffe::ImageDataParameter parameter;
  std::vector<std::string> folders;
  RandomStream stream;
  std::string list;
  std::vector<formats::ImageListEntry> entries;
  std::vector<std::int64_t> order; ///< of this pass; empty: as listed
  std::vector<const formats::ImageListEntry *> chosen; ///< for the batch
};

} // namespace

std::unique_ptr<BatchSource> openImageSource(const FeedInfo &info) {
  return std::make_unique<ImageSource>(info);
}

} // namespace brew::runtime
