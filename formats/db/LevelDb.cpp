//===- LevelDb.cpp - Readers and writers of LevelDB databases -------------===//
#include "formats/db/Backends.h"
#include "formats/db/ReadOnlyEnv.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <leveldb/db.h>
#include <leveldb/iterator.h>
#include <leveldb/write_batch.h>

namespace brew::formats {
namespace {

std::string_view viewOf(const leveldb::Slice &slice) {
  return {slice.data(), slice.size()};
}
leveldb::Slice sliceOf(std::string_view text) {
  return {text.data(), text.size()};
}

class LevelDbCursor : public DbCursor {
public:
  LevelDbCursor(leveldb::DB &database, const std::string &path) : path(path) {
    leveldb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false; // records are read once per pass, in order
    iterator.reset(database.NewIterator(options));
    rewind();
  }
  void rewind() override {
    iterator->SeekToFirst();
    check();
  }
  void next() override {
    if (!iterator->Valid())
      return;
    iterator->Next();
    check();
  }
  bool find(std::string_view key) override {
    iterator->Seek(sliceOf(key));
    check();
    if (iterator->Valid() && viewOf(iterator->key()) == key)
      return true;
    iterator->SeekToLast();
    check();
    if (iterator->Valid())
      iterator->Next();
    return false;
  }
  bool valid() const override { return iterator->Valid(); }
  std::string_view key() const override {
    return valid() ? viewOf(iterator->key()) : std::string_view();
  }
  std::string_view value() override {
    return valid() ? viewOf(iterator->value()) : std::string_view();
  }

private:
  /// Throws if the iterator has skipped unreadable records.
  void check() {
    leveldb::Status status = iterator->status();
    if (status.IsIOError())
      throw unavailable(path + ": cannot read database: " + status.ToString());
    if (!status.ok())
      throw badInput(path + ": damaged or truncated LevelDB database: " +
                     status.ToString());
  }
  std::string path;
  std::unique_ptr<leveldb::Iterator> iterator;
};

class LevelDbReader : public DbReader {
public:
  explicit LevelDbReader(const std::string &path) : DbReader(path) {
    leveldb::Options options;
    options.env = &environment;
    options.paranoid_checks = true; // otherwise, a damaged log loses records
    options.max_open_files = 100;
    options.write_buffer_size = size_t(64)
                                << 20; // a long log becomes few tables
    leveldb::DB *opened = nullptr;
    leveldb::Status status = leveldb::DB::Open(options, path, &opened);
    database.reset(opened);
    environment.freeze();
    if (status.IsIOError())
      throw unavailable(path + ": cannot read database: " + status.ToString());
    if (!status.ok())
      throw badInput(path + ": damaged or truncated LevelDB database: " +
                     status.ToString());
    if (!LevelDbCursor(*database, path).valid())
      throw badInput(path + ": the database contains no records");
  }
  std::unique_ptr<DbCursor> newCursor() override {
    return std::make_unique<LevelDbCursor>(*database, databasePath);
  }
  std::optional<uint64_t> count() const override { return std::nullopt; }

private:
  ReadOnlyEnv environment; // must outlive the database
  std::unique_ptr<leveldb::DB> database;
};

class LevelDbStore : public RecordStore {
public:
  LevelDbStore(const std::string &folder, const std::string &shownPath)
      : folder(folder), shownPath(shownPath) {
    options.create_if_missing = true;
    options.error_if_exists = true;
    options.block_size = 65536; // records are large and read in order
    options.write_buffer_size = size_t(64) << 20;
    open();
  }
  void put(std::string_view key, std::string_view value) override {
    batch.Put(sliceOf(key), sliceOf(value));
    if (batch.ApproximateSize() >= (size_t(8) << 20))
      commit();
  }
  void close() override {
    commit();
    database.reset();
    // Opening the database writes the rest of the log to a table. Without this,
    // every reader would replay the log in memory.
    options.create_if_missing = false;
    options.error_if_exists = false;
    open();
    database.reset();
  }

private:
  void open() {
    leveldb::DB *opened = nullptr;
    check(leveldb::DB::Open(options, folder, &opened));
    database.reset(opened);
  }
  void commit() {
    leveldb::WriteOptions options;
    options.sync = true; // to detect failed writes before the rename
    check(database->Write(options, &batch));
    batch.Clear();
  }
  void check(const leveldb::Status &status) {
    if (!status.ok())
      throw unavailable("cannot write database '" + shownPath +
                        "': " + status.ToString());
  }
  std::string folder, shownPath;
  leveldb::Options options;
  std::unique_ptr<leveldb::DB> database;
  leveldb::WriteBatch batch;
};

} // namespace

std::unique_ptr<DbReader> openLevelDb(const std::string &path) {
  return std::make_unique<LevelDbReader>(path);
}

std::unique_ptr<RecordStore> createLevelDbStore(const std::string &folder,
                                                const std::string &shownPath) {
  return std::make_unique<LevelDbStore>(folder, shownPath);
}

} // namespace brew::formats
