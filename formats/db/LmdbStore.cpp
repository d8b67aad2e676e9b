//===- LmdbStore.cpp - Writer of LMDB databases ---------------------------===//
#include "formats/db/Backends.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <lmdb.h>

#include <utility>
#include <vector>

namespace brew::formats {
namespace {

class LmdbStore : public RecordStore {
public:
  LmdbStore(const std::string &folder, const std::string &shownPath)
      : shownPath(shownPath) {
    check(mdb_env_create(&environment));
    // Only this writer uses the folder. Therefore it needs no lock file, and
    // one flush at the end instead of one for each transaction.
    int rc = mdb_env_set_mapsize(environment, mapSize);
    if (rc == 0)
      rc = mdb_env_open(environment, folder.c_str(),
                        MDB_NOLOCK | MDB_NOSYNC | MDB_NOMETASYNC, 0666);
    if (rc != 0) {
      mdb_env_close(environment);
      environment = nullptr;
      check(rc);
    }
  }

  ~LmdbStore() override {
    if (environment)
      mdb_env_close(environment);
  }

  void put(std::string_view key, std::string_view value) override {
    if (key.empty() ||
        key.size() > static_cast<size_t>(mdb_env_get_maxkeysize(environment)))
      throw badInput("LMDB keys have 1 to " +
                     std::to_string(mdb_env_get_maxkeysize(environment)) +
                     " bytes, not " + std::to_string(key.size()));
    batch.emplace_back(key, value);
    batchBytes += key.size() + value.size();
    if (batch.size() >= 1000 || batchBytes >= (size_t(32) << 20))
      commit();
  }

  void close() override {
    commit();
    check(mdb_env_sync(environment, 1));
    mdb_env_close(environment);
    environment = nullptr;
  }

private:
  /// Stores the batch; enlarges the map until it fits. The map uses address
  /// space only: the file grows with its content.
  void commit() {
    if (batch.empty())
      return;
    int rc;
    while ((rc = tryCommit()) == MDB_MAP_FULL) {
      mapSize *= 2;
      check(mdb_env_set_mapsize(environment, mapSize));
    }
    check(rc);
    for (auto &record : batch)
      if (record.first > lastKey)
        lastKey = std::move(record.first);
    batch.clear();
    batchBytes = 0;
  }

  /// Stores the batch in one transaction and returns LMDB's status.
  int tryCommit() {
    MDB_txn *transaction;
    int rc = mdb_txn_begin(environment, nullptr, 0, &transaction);
    if (rc != 0)
      return rc;
    MDB_dbi tree;
    rc = mdb_dbi_open(transaction, nullptr, 0, &tree);
    std::string_view previousKey = lastKey;
    for (size_t i = 0; rc == 0 && i < batch.size(); ++i) {
      const auto &[key, value] = batch[i];
      MDB_val mdbKey{key.size(), const_cast<char *>(key.data())};
      MDB_val mdbValue{value.size(), const_cast<char *>(value.data())};
      // Appending fills pages. Inserting would leave them half empty.
      bool isAppended = std::string_view(key) > previousKey;
      rc = mdb_put(transaction, tree, &mdbKey, &mdbValue,
                   isAppended ? MDB_APPEND : 0);
      if (isAppended)
        previousKey = key;
    }
    if (rc != 0) {
      mdb_txn_abort(transaction);
      return rc;
    }
    return mdb_txn_commit(transaction);
  }

  void check(int rc) {
    if (rc != 0)
      throw unavailable("cannot write database '" + shownPath +
                        "': " + (rc > 0 ? errnoText(rc) : mdb_strerror(rc)));
  }

  std::string shownPath;
  MDB_env *environment = nullptr;
  size_t mapSize = size_t(64) << 20;
  std::vector<std::pair<std::string, std::string>> batch;
  size_t batchBytes = 0;
  std::string lastKey; ///< the largest key in the database
};

} // namespace

std::unique_ptr<RecordStore> createLmdbStore(const std::string &folder,
                                             const std::string &shownPath) {
  return std::make_unique<LmdbStore>(folder, shownPath);
}

} // namespace brew::formats
