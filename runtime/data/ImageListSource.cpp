//===- ImageListSource.cpp - Batches of listed images ---------------------===//

#include "runtime/data/ImageListSource.h"

#include "runtime/data/selection/BoostWeights.h"
#include "runtime/data/selection/RandSkip.h"
#include "support/Error.h"

#include <unordered_map>
#include <utility>

namespace brew::runtime {

ImageListSource::ImageListSource(const DataLayerInfo &info, std::string noun)
    : ImageBatchSource(info), folders(info.folders), noun(std::move(noun)),
      selection(caffe::recordSelectionOf(info.layer)) {}

void ImageListSource::open(const DataLayerInfo &info,
                           formats::ImageDataFiles dataFiles,
                           std::uint32_t randSkip) {
  files = std::move(dataFiles);
  if (selection.shuffle)
    postLine(info.events, log::site::imageShuffle, "Shuffling data");
  postLine(info.events, log::site::imageCount,
           "A total of " + std::to_string(files.entries.size()) + " " + noun +
               ".");
  if (!selection.isSequential())
    sampler.emplace(selection, collectSampledRecords(), info.seed.rankSeed(),
                    info.stream, images.layer());
  // Caffe logs a similar warning, but on ranks whose log is not shown here.
  if (info.readerOptions.ranks > 1 && !info.testPhase && !sampler &&
      !randSkip && info.events)
    info.events->post(event::LogLine{
        log::Severity::Warning, log::site::brew,
        "Shuffling or skipping recommended for several ranks: all of them "
        "read the " +
            noun + " of '" + images.layer() + "' in the same order"});
  if (!randSkip)
    return;
  // Skip only full items and pairs.
  const std::uint64_t count =
      selection.recordsPerUnit() * skippedImages(info, randSkip,
                                                 files.entries.size(),
                                                 images.layer(), files.source);
  current.epoch = count / files.entries.size();
  current.position = count % files.entries.size();
}

void ImageListSource::seek(const SourcePosition &target) {
  if (target.position >= files.entries.size())
    throw badInput(images.layer() + ": the solver state is at image " +
                   std::to_string(target.position) + " of '" + files.source +
                   "', which lists only " +
                   std::to_string(files.entries.size()));
  current = target;
  recordsInUnit = 0;
}

bool ImageListSource::readBatch(const std::vector<std::byte *> &memory,
                                std::byte *pixels) {
  const std::uint64_t first = current.records;
  batchEntries.clear();
  for (std::int64_t number = 0; number < images.size(); ++number)
    batchEntries.push_back(&next());
  current.records += batchEntries.size();
  return images.write(
      memory, pixels, first, /*isCostly=*/true,
      [&](std::int64_t number, formats::ImageRecord &image,
          std::string &where) {
        decode(*batchEntries[static_cast<std::size_t>(number)],
               first + static_cast<std::uint64_t>(number), image, where);
      },
      [&](std::int64_t number, std::int64_t count) {
        for (std::int64_t i = number; i < number + count; ++i)
          batchEntries[static_cast<std::size_t>(i)] = &next();
        while (recordsInUnit != 0) // skip the other item of a pair
          next();
      },
      [this] { return selection.drawsToCoverAll(files.entries.size()); });
}

const formats::ImageListEntry &ImageListSource::next() {
  const std::uint64_t number =
      sampler
          ? sampler->at(current.epoch * files.entries.size() + current.position)
          : current.position;
  recordsInUnit = (recordsInUnit + 1) % selection.recordsPerUnit();
  if (++current.position == files.entries.size()) {
    current.position = 0;
    ++current.epoch;
  }
  return files.entries[number];
}

SampledRecords ImageListSource::collectSampledRecords() const {
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

} // namespace brew::runtime
