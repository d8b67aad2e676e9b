//===- ImageSource.cpp - Batches from a list of image files ---------------===//

#include "formats/PathLookup.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageFolder.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageBatch.h"
#include "runtime/data/selection/BoostWeights.h"
#include "runtime/data/selection/RandSkip.h"
#include "runtime/data/selection/Sampler.h"
#include "support/Error.h"

#include <optional>
#include <unordered_map>

namespace brew::runtime {
namespace {

/// Reads the listed images in order, or in a sampler's order. Batches continue
/// across passes.
class ImageSource : public ImageBatchSource {
public:
  explicit ImageSource(const DataLayerInfo &info)
      : ImageBatchSource(info), parameter(info.layer.image_data_param()),
        selection(caffe::recordSelectionOf(info.layer)), folders(info.folders) {
    if (!parameter.new_height() != !parameter.new_width())
      throw badInput(images.layer() +
                     ": set both or neither of new_height and new_width");
    const std::string list =
        formats::requirePath(parameter.source(), info.folders,
                             "list of images of " + images.layer());
    postLine(info.events, log::site::imageList, "Opening file " + list);
    files = formats::readImageDataFiles(list, parameter.root_folder(),
                                        info.layer.type() ==
                                            caffe::kMultiLabelImageData);
    if (parameter.shuffle())
      postLine(info.events, log::site::imageShuffle, "Shuffling data");
    postLine(info.events, log::site::imageCount,
             "A total of " + std::to_string(files.entries.size()) + " images.");
    if (!selection.isSequential())
      sampler.emplace(selection, collectSampledRecords(), info.seed.rankSeed(),
                      info.stream, images.layer());
    // Caffe logs a similar warning, but on ranks whose log is not shown here.
    if (info.readerOptions.ranks > 1 && !info.testPhase && !sampler &&
        !parameter.rand_skip() && info.events)
      info.events->post(event::LogLine{
          log::Severity::Warning, log::site::brew,
          "Shuffling or skipping recommended for several ranks: all of them "
          "read the images of '" +
              images.layer() + "' in the same order"});
    if (parameter.rand_skip())
      applyRandSkip(info);
  }

  void seek(const SourcePosition &target) override {
    if (target.position >= files.entries.size())
      throw badInput(images.layer() + ": the solver state is at image " +
                     std::to_string(target.position) + " of '" + files.source +
                     "', which lists only " +
                     std::to_string(files.entries.size()));
    current = target;
    recordsInUnit = 0;
  }

private:
  bool readBatch(const std::vector<std::byte *> &memory,
                 std::byte *pixels) override {
    const std::uint64_t first = current.records;
    batchEntries.clear();
    for (std::int64_t number = 0; number < images.size(); ++number)
      batchEntries.push_back(&next());
    current.records += batchEntries.size();
    return images.write(
        memory, pixels, first, /*isCostly=*/true,
        [&](std::int64_t number, formats::ImageRecord &image,
            std::string &where) {
          decode(*batchEntries[static_cast<std::size_t>(number)], image, where);
        },
        [&](std::int64_t number, std::int64_t count) {
          for (std::int64_t i = number; i < number + count; ++i)
            batchEntries[static_cast<std::size_t>(i)] = &next();
          while (recordsInUnit != 0) // skip the other item of a pair
            next();
        },
        [this] { return selection.drawsToCoverAll(files.entries.size()); });
  }

  const formats::ImageListEntry &next() {
    const std::uint64_t number =
        sampler ? sampler->at(current.epoch * files.entries.size() +
                              current.position)
                : current.position;
    recordsInUnit = (recordsInUnit + 1) % selection.recordsPerUnit();
    if (++current.position == files.entries.size()) {
      current.position = 0;
      ++current.epoch;
    }
    return files.entries[number];
  }

  SampledRecords collectSampledRecords() const {
    SampledRecords result;
    result.count = files.entries.size();
    for (const formats::ImageListEntry &entry : files.entries)
      if (selection.needsLabels())
        result.labels.push_back(entry.label);
    std::unordered_map<std::string, std::vector<std::uint64_t>> indicesByName;
    for (std::size_t i = 0; i < files.entries.size(); ++i)
      if (!selection.boostFile.empty())
        indicesByName[files.entries[i].name].push_back(i);
    result.weights =
        boostWeights(selection, files.entries.size(), folders, files.source,
                     [&](const std::string &name)
                         -> std::optional<std::vector<std::uint64_t>> {
                       const auto found = indicesByName.find(name);
                       if (found == indicesByName.end())
                         return std::nullopt;
                       return found->second;
                     });
    return result;
  }

  void decode(const formats::ImageListEntry &entry, formats::ImageRecord &image,
              std::string &where) const {
    where = files.locationOf(entry);
    if (entry.name.empty())
      throw badInput(where + ": names no image");
    const std::string prefix = where.empty() ? "" : where + ": ";
    const std::string path =
        formats::requirePath(files.nameOf(entry, parameter.root_folder()),
                             folders, prefix + "image");
    formats::Image decoded;
    formats::readImageFile(path,
                           parameter.is_color() ? formats::ImageColor::Color
                                                : formats::ImageColor::Gray,
                           static_cast<int>(parameter.new_height()),
                           static_cast<int>(parameter.new_width()), where,
                           decoded);
    where = prefix + path;
    formats::setImage(decoded, image);
    image.label = entry.label;
    image.labels = entry.labels;
  }

  void applyRandSkip(const DataLayerInfo &info) {
    const std::uint64_t count =
        skippedImages(info, parameter.rand_skip(), files.entries.size(),
                      images.layer(), files.source);
    // Skip only full items and pairs.
    current.epoch = count * selection.recordsPerUnit() / files.entries.size();
    current.position =
        count * selection.recordsPerUnit() % files.entries.size();
  }

  caffe::ImageDataParameter parameter;
  const caffe::RecordSelection selection;
  std::vector<std::string> folders;
  formats::ImageDataFiles files;
  std::optional<Sampler> sampler;  ///< if images are not in list order
  std::uint64_t recordsInUnit = 0; ///< records read of the current item or pair
  std::vector<const formats::ImageListEntry *> batchEntries;
};

} // namespace

static std::unique_ptr<BatchSource> openImageSource(const DataLayerInfo &info) {
  return std::make_unique<ImageSource>(info);
}

const SourceKind imageSource = {caffe::DataLayerSource::Images,
                                openImageSource};

} // namespace brew::runtime
