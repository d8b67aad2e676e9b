//===- DatabaseSource.cpp - Data: batches from LMDB or LevelDB ------------===//

#include "formats/Database.h"
#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/ImageBatch.h"

#include <limits>

namespace brew::runtime {
namespace {

/// Records are fetched in their order by one thread, then decoded by several.
class DatabaseSource : public DecodedSource {
public:
  explicit DatabaseSource(const FeedInfo &info)
      : DecodedSource(info), events(info.events),
        rank(info.testPhase ? 0 : info.reading.rank),
        ranks(info.testPhase ? 1 : info.reading.ranks) {
    const caffe::DataParameter &parameter = info.layer.data_param();
    const auto backend = parameter.backend() == caffe::DataParameter::LEVELDB
                             ? formats::DbBackend::LevelDb
                             : formats::DbBackend::Lmdb;
    const std::string path =
        formats::requirePath(parameter.source(), info.folders,
                             std::string(formats::backendName(backend)) +
                                 " database of " + images.layer());
    reader = formats::DbReader::open(path, backend);
    postLine(events, log::site::openDatabase,
             backend == formats::DbBackend::Lmdb ? "Opened lmdb " + path
                                                 : "Opened leveldb " + path);
    cursor = reader->newCursor();
    records.resize(static_cast<std::size_t>(images.size()));
    caffe::Datum first; // if it is damaged, its reader says so
    areEncoded =
        first.ParseFromString(std::string(cursor->value())) && first.encoded();
    content = std::string(cursor->key()) + "\n" + std::string(cursor->value()) +
              "\n" + std::to_string(reader->count().value_or(0));
  }

  std::string identity() const override { return content; }

  void seek(const SourcePosition &target) override {
    cursor->rewind();
    at = target;
    for (std::uint64_t i = 0; i < target.position; ++i) {
      cursor->next();
      if (!cursor->valid())
        throw badInput(images.layer() + ": the solver state is at record " +
                       std::to_string(target.position) + " of '" +
                       reader->path() + "', which has only " +
                       std::to_string(i + 1));
    }
  }

private:
  /// Whether the images are in `pixels`, which may be null.
  bool readBatch(const std::vector<std::byte *> &memory,
                 std::byte *pixels) override {
    const std::uint64_t epochBefore = at.epoch, first = at.records;
    for (Record &record : records)
      fetch(record);
    at.records += records.size();
    const bool arePixels = images.write(
        memory, pixels, first, areEncoded,
        [&](std::int64_t row, formats::ImageRecord &image, std::string &where) {
          const Record &record = records[static_cast<std::size_t>(row)];
          where = reader->path() + ", record '" + record.key + "'";
          formats::decodeDatum(record.value, images.transformer().color(),
                               where, image);
        },
        [&](std::int64_t row) {
          fetch(records[static_cast<std::size_t>(row)]);
        },
        [this] { return recordCount(); });
    // Once for a batch, however small the database.
    if (at.epoch != epochBefore)
      postLine(events, log::site::databaseWrapped,
               "Restarting data prefetching from start.");
    return arePixels;
  }

  struct Record {
    std::string key, value;
  };

  void fetch(Record &record) {
    for (std::uint64_t other = 0; other < rank; ++other)
      advance();
    record.key = cursor->key();
    record.value = cursor->value();
    for (std::uint64_t other = rank; other < ranks; ++other)
      advance();
  }

  /// As far as it is known: that of LevelDB is once a pass is over.
  std::uint64_t recordCount() const {
    return reader->count().value_or(
        passSize ? passSize : std::numeric_limits<std::uint64_t>::max());
  }

  void advance() {
    cursor->next();
    ++at.position;
    if (cursor->valid())
      return;
    cursor->rewind();
    passSize = at.position;
    at.position = 0;
    ++at.epoch;
  }

  Events *events;
  std::uint64_t rank, ranks; ///< each record of a group goes to one
  std::unique_ptr<formats::DbReader> reader;
  std::unique_ptr<formats::DbCursor> cursor;
  std::string content;         ///< the first record, and how many there are
  bool areEncoded = false;     ///< as far as the first record tells
  std::uint64_t passSize = 0;  ///< records of the last pass; 0: none is over
  std::vector<Record> records; ///< of the batch; their memory is used again
};

} // namespace

std::unique_ptr<BatchSource> openDatabaseSource(const FeedInfo &info) {
  return std::make_unique<DatabaseSource>(info);
}

} // namespace brew::runtime
