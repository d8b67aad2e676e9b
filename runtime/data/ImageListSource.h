//===- ImageListSource.h - Batches of listed images -------------*- C++ -*-===//
#pragma once

#include "formats/image/ImageFolder.h"
#include "runtime/data/ImageBatch.h"
#include "runtime/data/selection/Sampler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// Reads the entries of a list in order, or in a sampler's order. Batches
/// continue across passes.
class ImageListSource : public ImageBatchSource {
public:
  void seek(const SourcePosition &target) override;

protected:
  /// `noun` is the plural of what the list contains, for messages.
  ImageListSource(const DataLayerInfo &info, std::string noun);

  /// Takes the entries and chooses their order, from `randSkip` and the layer's
  /// RecordSelection. Derived constructors call it.
  void open(const DataLayerInfo &info, formats::ImageDataFiles dataFiles,
            std::uint32_t randSkip);
  /// Decodes an entry with its labels, and sets `where` to its location for
  /// messages. `record` is the number of the record since the start of
  /// training. Called on any thread.
  virtual void decode(const formats::ImageListEntry &entry,
                      std::uint64_t record, formats::ImageRecord &image,
                      std::string &where) const = 0;

  const std::vector<std::string> folders; ///< in which files are looked up
  formats::ImageDataFiles files;

private:
  bool readBatch(const std::vector<std::byte *> &memory,
                 std::byte *pixels) override;
  const formats::ImageListEntry &next();
  SampledRecords collectSampledRecords() const;

  const std::string noun;
  const caffe::RecordSelection selection;
  std::optional<Sampler> sampler;  ///< if images are not in list order
  std::uint64_t recordsInUnit = 0; ///< records read of the current item or pair
  std::vector<const formats::ImageListEntry *> batchEntries;
};

} // namespace brew::runtime
