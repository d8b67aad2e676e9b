//===- DatabaseSource.cpp - Batches from LMDB or LevelDB ------------------===//

#include "runtime/data/BatchSource.h"
#include "runtime/data/DatabaseRecords.h"
#include "runtime/data/ImageBatch.h"

namespace brew::runtime {
namespace {

/// One thread fetches records in order, and several threads decode them.
class DatabaseSource : public ImageBatchSource {
public:
  explicit DatabaseSource(const DataLayerInfo &info)
      : ImageBatchSource(info), events(info.events),
        database(info, images.layer()) {
    records.resize(static_cast<std::size_t>(images.size()));
    caffe::Datum first; // if it is damaged, the first read() reports it
    areEncoded = first.ParseFromString(database.first()) && first.encoded();
  }

  std::string identity() const override { return database.identity(); }
  SourcePosition position() const override { return database.current; }
  void seek(const SourcePosition &target) override { database.seek(target); }
  std::uint64_t skippedRecords() const override {
    return ImageBatchSource::skippedRecords() + database.skippedCount();
  }

private:
  /// Returns whether the images are in `pixels`, which may be null.
  bool readBatch(const std::vector<std::byte *> &memory,
                 std::byte *pixels) override {
    const std::uint64_t epochBefore = database.current.epoch,
                        first = database.current.records;
    for (DatabaseRecord &record : records)
      database.fetch(record);
    database.current.records += records.size();
    const bool arePixels = images.write(
        memory, pixels, first, areEncoded,
        [&](std::int64_t number, formats::ImageRecord &image,
            std::string &where) {
          const DatabaseRecord &record =
              records[static_cast<std::size_t>(number)];
          where = database.path() + ", record '" + record.key + "'";
          formats::viewDatum(record.value, images.transformer().color(), where,
                             image);
        },
        [&](std::int64_t number, std::int64_t count) {
          database.replace(&records[static_cast<std::size_t>(number)],
                           static_cast<std::size_t>(count));
        },
        [this] { return database.drawsToCoverAll(); });
    // Log it once per batch, even if the batch contains several passes.
    if (database.current.epoch != epochBefore)
      postLine(events, log::site::databaseWrapped,
               "Restarting data prefetching from start.");
    return arePixels;
  }

  Events *events;
  DatabaseRecords database;
  bool areEncoded = false;             ///< according to the first record
  std::vector<DatabaseRecord> records; ///< of the batch; reused
};

} // namespace

static std::unique_ptr<BatchSource>
openDatabaseSource(const DataLayerInfo &info) {
  return std::make_unique<DatabaseSource>(info);
}

const SourceKind databaseSource = {caffe::DataLayerSource::Database,
                                   openDatabaseSource, databasePrefetchDepth};

} // namespace brew::runtime
