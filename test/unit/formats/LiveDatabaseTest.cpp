//===- LiveDatabaseTest.cpp - LMDB databases that are being written -------===//
//
// liblmdb writes a database while Brew reads it. Each transaction replaces all
// records, so a value identifies its snapshot. Every record that Brew returns
// must belong to the snapshot it opened.
//
//===----------------------------------------------------------------------===//
#include "formats/Database.h"
#include "test/common/TestFiles.h"

#include <lmdb.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

constexpr int kRecords = 200;
const char *const kOverwritten =
    ": the LMDB database was written to while it was read, and its records as "
    "of opening may be overwritten by now; wait until the writer is done, or "
    "read a copy made by mdb_copy";

std::string keyOf(int record) { return "key" + std::to_string(1000 + record); }

/// Returns a value that fits in a leaf page. Every tenth record instead has one
/// that needs overflow pages.
std::string valueOf(int record, int generation) {
  std::string value(record % 10 == 9 ? 9000u : 300u, 'v');
  const std::string text = std::to_string(generation) + ' ';
  for (size_t at = 0; at + text.size() <= value.size(); at += text.size())
    value.replace(at, text.size(), text);
  return value;
}

/// Returns the generation of a value, or -1 if no generation has this value.
int generationOf(std::string_view key, std::string_view value) {
  const int record = std::atoi(std::string(key.substr(3)).c_str()) - 1000;
  const int generation = std::atoi(std::string(value.substr(0, 12)).c_str());
  return value == valueOf(record, generation) ? generation : -1;
}

/// Writes a database through liblmdb. Throws std::runtime_error instead of
/// using gtest assertions, because a child process uses the class too.
class Writer {
public:
  Writer(const std::string &folder, unsigned flags) {
    std::filesystem::create_directories(folder);
    require(mdb_env_create(&environment));
    require(mdb_env_set_mapsize(environment, size_t(64) << 20));
    require(
        mdb_env_open(environment, folder.c_str(), flags | MDB_NOSYNC, 0666));
  }
  ~Writer() { mdb_env_close(environment); }
  Writer(const Writer &) = delete;
  Writer &operator=(const Writer &) = delete;

  /// Replaces all records in one transaction.
  void write(int generation) {
    MDB_txn *transaction;
    MDB_dbi tree;
    require(mdb_txn_begin(environment, nullptr, 0, &transaction));
    require(mdb_dbi_open(transaction, nullptr, 0, &tree));
    for (int record = 0; record < kRecords; ++record) {
      std::string key = keyOf(record), value = valueOf(record, generation);
      MDB_val mdbKey{key.size(), key.data()};
      MDB_val mdbValue{value.size(), value.data()};
      require(mdb_put(transaction, tree, &mdbKey, &mdbValue, 0));
    }
    require(mdb_txn_commit(transaction));
  }

private:
  static void require(int rc) {
    if (rc != 0)
      throw std::runtime_error(mdb_strerror(rc));
  }
  MDB_env *environment = nullptr;
};

/// The result of reading until the end or an error.
struct Outcome {
  int delivered = 0, wrong = 0;
  std::string error;
};

/// Compares the remaining records with `generation`.
Outcome readToEnd(DbCursor &cursor, int generation) {
  Outcome outcome;
  try {
    for (; cursor.valid(); cursor.next(), ++outcome.delivered)
      outcome.wrong += generationOf(cursor.key(), cursor.value()) != generation;
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::BadInput);
    outcome.error = error.what();
  }
  return outcome;
}

class LiveLmdb : public testing::TestWithParam<unsigned> {
public:
  TempFolder folder;
  std::string path = folder / "db";
};

INSTANTIATE_TEST_SUITE_P(Writers, LiveLmdb,
                         testing::Values(0u, MDB_WRITEMAP, MDB_NOLOCK),
                         [](const auto &info) {
                           return std::string(
                               info.param == MDB_WRITEMAP ? "MapWriter"
                               : info.param == MDB_NOLOCK ? "WithoutLock"
                                                          : "DefaultFlags");
                         });

TEST_P(LiveLmdb, OneTransactionLeavesTheSnapshotIntact) {
  Writer writer(path, GetParam());
  for (int generation = 1; generation <= 8; ++generation) {
    writer.write(generation);
    auto reader = DbReader::open(path, DbBackend::Lmdb);
    auto cursor = reader->newCursor();
    writer.write(++generation);
    const Outcome outcome = readToEnd(*cursor, generation - 1);
    EXPECT_EQ(outcome.delivered, kRecords);
    EXPECT_EQ(outcome.wrong, 0);
    EXPECT_EQ(outcome.error, "");
    ASSERT_TRUE(cursor->find(keyOf(9)));
    EXPECT_EQ(generationOf(cursor->key(), cursor->value()), generation - 1);
    // A new reader sees the newest snapshot.
    auto next = DbReader::open(path, DbBackend::Lmdb);
    EXPECT_EQ(readToEnd(*next->newCursor(), generation).delivered, kRecords);
  }
}

TEST_P(LiveLmdb, MoreTransactionsEndReadingBeforeAWrongRecord) {
  Writer writer(path, GetParam());
  // After 20 transactions, the writer reuses freed pages.
  for (int openedGeneration : {1, 20}) {
    for (int generation = 1; generation <= openedGeneration; ++generation)
      writer.write(generation);
    for (int laterWrites = 2; laterWrites <= 5; ++laterWrites) {
      auto reader = DbReader::open(path, DbBackend::Lmdb);
      auto cursor = reader->newCursor(), valueCursor = reader->newCursor();
      ASSERT_TRUE(valueCursor->find(keyOf(19))); // its value is not read yet
      for (int i = 0; i < 15; ++i)
        cursor->next();
      for (int i = 1; i <= laterWrites; ++i)
        writer.write(openedGeneration + i);
      const Outcome outcome = readToEnd(*cursor, openedGeneration);
      EXPECT_LT(outcome.delivered, kRecords - 15)
          << laterWrites << " later writes";
      EXPECT_EQ(outcome.wrong, 0) << laterWrites << " later writes";
      EXPECT_EQ(outcome.error, path + kOverwritten);
      expectError(ExitStatus::BadInput, kOverwritten,
                  [&] { valueCursor->value(); });
      expectError(ExitStatus::BadInput, kOverwritten,
                  [&] { cursor->rewind(); });
      // A cursor may still read pages that it has loaded.
      int refused = 0;
      for (int record = 0; record < kRecords; ++record)
        refused += refusedAsBadInput([&] {
          ASSERT_TRUE(cursor->find(keyOf(record)));
          ASSERT_EQ(generationOf(cursor->key(), cursor->value()),
                    openedGeneration);
        });
      EXPECT_GT(refused, kRecords / 2);
      writer.write(openedGeneration); // for the next round
    }
  }
}

// Readers see no wrong record even while a process writes continuously.
TEST_P(LiveLmdb, ReadsOneSnapshotWhileAProcessWrites) {
  { Writer(path, GetParam()).write(1); }
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      Writer writer(path, GetParam());
      for (int generation = 2;; ++generation)
        writer.write(generation);
    } catch (...) {
    }
    _exit(1);
  }
  int delivered = 0, wrong = 0, interruptedReads = 0, newest = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (int turn = 0; std::chrono::steady_clock::now() < end; ++turn) {
    try {
      auto reader = DbReader::open(path, DbBackend::Lmdb);
      EXPECT_EQ(reader->count(), uint64_t(kRecords));
      auto cursor = reader->newCursor();
      const int generation = generationOf(cursor->key(), cursor->value());
      wrong += generation < newest; // older than before, or invalid
      newest = std::max(newest, generation);
      if (turn % 2) // lets the writer overtake this reader
        usleep(100);
      const Outcome outcome = readToEnd(*cursor, generation);
      delivered += outcome.delivered;
      wrong += outcome.wrong;
      interruptedReads += outcome.error == path + kOverwritten;
      EXPECT_TRUE(outcome.error == "" || outcome.error == path + kOverwritten)
          << outcome.error;
    } catch (const Error &error) { // overwritten while opening
      EXPECT_EQ(error.what(), path + kOverwritten);
      ++interruptedReads;
    }
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer failed";
  EXPECT_EQ(wrong, 0) << "of " << delivered;
  EXPECT_GT(delivered, 0);
  EXPECT_GT(interruptedReads, 0);
  EXPECT_GT(newest, 1);
  // A dead writer does not disturb readers.
  auto reader = DbReader::open(path, DbBackend::Lmdb);
  auto cursor = reader->newCursor();
  const Outcome outcome =
      readToEnd(*cursor, generationOf(cursor->key(), cursor->value()));
  EXPECT_EQ(outcome.delivered, kRecords);
  EXPECT_EQ(outcome.wrong, 0);
}

} // namespace
