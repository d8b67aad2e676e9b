//===- DatabaseTest.cpp - Tests of LMDB and LevelDB databases -------------===//
#include "formats/Database.h"
#include "test/common/TestFiles.h"

#include <leveldb/db.h>
#include <lmdb.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

using Records = std::map<std::string, std::string>;

Records readAll(DbReader &database) {
  Records records;
  auto cursor = database.newCursor();
  for (; cursor->valid(); cursor->next())
    records[std::string(cursor->key())] = std::string(cursor->value());
  return records;
}

void writeAll(const std::string &path, DbBackend backend,
              const Records &records) {
  auto writer = DbWriter::create(path, backend);
  for (const auto &[key, value] : records)
    writer->put(key, value);
  writer->finish();
}

/// Returns records with values of many sizes: empty, in LMDB's leaf pages, near
/// the limit of leaf pages, and in overflow pages.
Records mixedRecords(int count) {
  Records records;
  unsigned random = 1;
  for (int i = 0; i < count; ++i) {
    random = random * 1103515245 + 12345;
    size_t size = random >> 16 & 0x3ff;
    if (i % 7 == 0)
      size = 2020 + static_cast<size_t>(i % 40);
    if (i % 31 == 0)
      size = size_t(random >> 8 & 0xffff);
    if (i % 50 == 0)
      size = 0;
    char key[16];
    std::snprintf(key, sizeof key, "%06d", i);
    records[key] = std::string(size, static_cast<char>(i));
  }
  return records;
}

class Database : public testing::TestWithParam<DbBackend> {
public:
  TempFolder folder;
  std::string path = folder / "db";
};

INSTANTIATE_TEST_SUITE_P(Backends, Database,
                         testing::Values(DbBackend::Lmdb, DbBackend::LevelDb),
                         [](const auto &info) {
                           return std::string(backendName(info.param));
                         });

TEST_P(Database, RecordsRoundTrip) {
  Records records = mixedRecords(3000);
  writeAll(path, GetParam(), records);
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_EQ(detectBackend(path), GetParam());
  auto database = DbReader::open(path, GetParam());
  EXPECT_TRUE(readAll(*database) == records);
  if (GetParam() == DbBackend::Lmdb) {
    EXPECT_EQ(database->count(), 3000u);
  }
}

TEST_P(Database, CursorsAreIndependentAndRewind) {
  writeAll(path, GetParam(), {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  auto database = DbReader::open(path, GetParam());
  auto cursor = database->newCursor(), untouched = database->newCursor();
  cursor->next();
  EXPECT_EQ(cursor->key(), "b");
  EXPECT_EQ(untouched->key(), "a");
  cursor->next();
  cursor->next();
  EXPECT_FALSE(cursor->valid());
  cursor->next(); // has no effect past the end
  EXPECT_FALSE(cursor->valid());
  EXPECT_EQ(cursor->value(), "");
  cursor->rewind();
  EXPECT_EQ(cursor->key(), "a");
  EXPECT_EQ(cursor->value(), "1");
}

TEST_P(Database, CursorsFindKeys) {
  // LMDB's tree has one page or several levels.
  for (int count : {1, 3, 2000}) {
    const std::string path = folder / ("db" + std::to_string(count));
    const Records records = mixedRecords(count);
    writeAll(path, GetParam(), records);
    auto reader = DbReader::open(path, GetParam());
    auto cursor = reader->newCursor();
    for (int i = 0; i < std::min(count, 400); ++i) {
      const auto found = std::next(records.begin(), i * 7919L % count);
      ASSERT_TRUE(cursor->find(found->first));
      EXPECT_EQ(cursor->key(), found->first);
      EXPECT_EQ(cursor->value(), found->second);
      // The cursor continues from there.
      cursor->next();
      const auto next = std::next(found);
      ASSERT_EQ(cursor->valid(), next != records.end());
      if (cursor->valid()) {
        EXPECT_EQ(cursor->key(), next->first);
      }
      EXPECT_FALSE(cursor->find(found->first + "x"));
      EXPECT_FALSE(cursor->valid());
    }
    EXPECT_FALSE(cursor->find(""));
    EXPECT_FALSE(cursor->find("~"));
    cursor->rewind();
    int seen = 0;
    for (; cursor->valid(); cursor->next())
      ++seen;
    EXPECT_EQ(seen, count);
  }
}

TEST_P(Database, UnsortedKeysAreSortedAndRepeatedKeysReplaced) {
  auto writer = DbWriter::create(path, GetParam());
  Records records;
  for (int i = 0; i < 5000; ++i) {
    std::string key = std::to_string(i * 7919 % 3001);
    records[key] = std::to_string(i);
    writer->put(key, records[key]);
  }
  writer->finish();
  EXPECT_TRUE(readAll(*DbReader::open(path, GetParam())) == records);
}

// The records exceed LMDB's initial map and LevelDB's write buffer.
TEST_P(Database, GrowsBeyondItsInitialSize) {
  auto writer = DbWriter::create(path, GetParam());
  std::string value(1 << 20, 'v');
  for (int i = 0; i < 150; ++i) {
    value[0] = static_cast<char>(i);
    writer->put(std::to_string(1000 + i), value);
  }
  writer->finish();
  auto database = DbReader::open(path, GetParam());
  auto cursor = database->newCursor();
  int count = 0;
  for (; cursor->valid(); cursor->next(), ++count) {
    ASSERT_EQ(cursor->value().size(), value.size());
    ASSERT_EQ(cursor->value()[0], static_cast<char>(count));
  }
  EXPECT_EQ(count, 150);
}

TEST_P(Database, AppearsOnlyWhenFinished) {
  {
    auto writer = DbWriter::create(path, GetParam());
    writer->put("a", "1");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST_P(Database, ExistingFolderIsKeptUnlessItIsADatabaseToOverwrite) {
  writeAll(path, GetParam(), {{"a", "1"}});
  expectError(ExitStatus::BadInput, "exists",
              [&] { DbWriter::create(path, GetParam()); });
  {
    auto writer = DbWriter::create(path, GetParam(), true);
    writer->put("b", "2");
    EXPECT_EQ(readAll(*DbReader::open(path, GetParam())),
              (Records{{"a", "1"}}));
    writer->finish();
  }
  EXPECT_EQ(readAll(*DbReader::open(path, GetParam())), (Records{{"b", "2"}}));
  EXPECT_EQ(folder.entries(), 1u);

  std::filesystem::create_directory(folder / "home");
  writeBytes(folder / "home/thesis.tex", "years of work");
  expectError(ExitStatus::BadInput, "is not a database and will not be",
              [&] { DbWriter::create(folder / "home", GetParam(), true); });
  EXPECT_EQ(readBytes(folder / "home/thesis.tex"), "years of work");
}

TEST_P(Database, ReadingDoesNotChangeTheFolder) {
  writeAll(path, GetParam(), mixedRecords(200));
  auto filesByName = [&] {
    std::map<std::string, std::string> files;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      files[entry.path().filename().string()] =
          readBytes(entry.path().string());
    return files;
  };
  auto before = filesByName();
  chmod(path.c_str(), 0500); // has no effect for root
  {
    auto first = DbReader::open(path, GetParam());
    auto second = DbReader::open(path, GetParam()); // no lock prevents this
    EXPECT_TRUE(readAll(*first) == readAll(*second));
  }
  chmod(path.c_str(), 0700);
  EXPECT_TRUE(filesByName() == before);
}

TEST_P(Database, ErrorsNameTheProblem) {
  DbBackend backend = GetParam();
  DbBackend otherBackend =
      backend == DbBackend::Lmdb ? DbBackend::LevelDb : DbBackend::Lmdb;
  expectError(ExitStatus::Unavailable, path + ": database not found",
              [&] { DbReader::open(path, backend); });
  writeBytes(path, "a file");
  expectError(ExitStatus::BadInput, "is a text file, not a database",
              [&] { DbReader::open(path, backend); });
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  expectError(ExitStatus::BadInput, "is not a database",
              [&] { DbReader::open(path, backend); });
  std::filesystem::remove(path);
  writeAll(path, backend, {});
  expectError(ExitStatus::BadInput, "contains no records",
              [&] { DbReader::open(path, backend); });
  expectError(ExitStatus::BadInput,
              std::string("is a ") + backendName(backend) + " database, but",
              [&] { DbReader::open(path, otherBackend); });
  expectError(ExitStatus::Unavailable, "No such file",
              [&] { DbWriter::create(folder / "none/db", backend); });
}

// A limit of the file size simulates a full disk.
TEST_P(Database, FullDiskLeavesNothing) {
  auto previousHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit previous, limit;
  getrlimit(RLIMIT_FSIZE, &previous);
  limit = previous;
  limit.rlim_cur = 4 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  expectError(ExitStatus::Unavailable, "cannot write database", [&] {
    auto writer = DbWriter::create(path, GetParam());
    for (int i = 0; i < 20; ++i)
      writer->put(std::to_string(i), std::string(1 << 20, 'x'));
    writer->finish();
  });
  setrlimit(RLIMIT_FSIZE, &previous);
  std::signal(SIGXFSZ, previousHandler);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Backend, NamesAreParsedInAnyCase) {
  EXPECT_EQ(parseBackend("LMDB"), DbBackend::Lmdb);
  EXPECT_EQ(parseBackend("leveldb"), DbBackend::LevelDb);
  EXPECT_EQ(parseBackend("rocksdb"), std::nullopt);
}

// Brew has its own reader of LMDB. It must read the same records as liblmdb.
TEST(Lmdb, AgreesWithLiblmdb) {
  TempFolder folder;
  Records records = mixedRecords(2000);
  writeAll(folder / "db", DbBackend::Lmdb, records);

  MDB_env *environment;
  ASSERT_EQ(mdb_env_create(&environment), 0);
  ASSERT_EQ(mdb_env_open(environment, (folder / "db").c_str(), 0, 0664), 0);
  MDB_txn *transaction;
  MDB_dbi tree;
  // Deleting and replacing records moves pages and leaves some unused.
  ASSERT_EQ(mdb_txn_begin(environment, nullptr, 0, &transaction), 0);
  ASSERT_EQ(mdb_dbi_open(transaction, nullptr, 0, &tree), 0);
  int i = 0;
  for (auto it = records.begin(); it != records.end(); ++i) {
    MDB_val key{it->first.size(), const_cast<char *>(it->first.data())};
    if (i % 3 == 0) {
      ASSERT_EQ(mdb_del(transaction, tree, &key, nullptr), 0);
      it = records.erase(it);
      continue;
    }
    if (i % 5 == 0) {
      it->second = std::string(static_cast<size_t>(i) * 11, 'r');
      MDB_val value{it->second.size(), it->second.data()};
      ASSERT_EQ(mdb_put(transaction, tree, &key, &value, 0), 0);
    }
    ++it;
  }
  ASSERT_EQ(mdb_txn_commit(transaction), 0);

  Records liblmdbRecords;
  ASSERT_EQ(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction), 0);
  MDB_cursor *cursor;
  ASSERT_EQ(mdb_cursor_open(transaction, tree, &cursor), 0);
  MDB_val key, value;
  while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0)
    liblmdbRecords[std::string(static_cast<char *>(key.mv_data), key.mv_size)] =
        std::string(static_cast<char *>(value.mv_data), value.mv_size);
  mdb_cursor_close(cursor);
  mdb_txn_abort(transaction);
  mdb_env_close(environment);

  auto database = DbReader::open(folder / "db", DbBackend::Lmdb);
  EXPECT_EQ(database->count(), records.size());
  Records brewRecords = readAll(*database);
  EXPECT_TRUE(brewRecords == liblmdbRecords);
  EXPECT_TRUE(brewRecords == records);
}

TEST(Lmdb, BadKeysAreRefused) {
  TempFolder folder;
  auto writer = DbWriter::create(folder / "db", DbBackend::Lmdb);
  expectError(ExitStatus::BadInput, "LMDB keys have",
              [&] { writer->put(std::string(600, 'k'), "v"); });
  expectError(ExitStatus::BadInput, "LMDB keys have",
              [&] { writer->put("", "v"); });
}

std::string abandonedValue(int i) {
  return std::string(static_cast<size_t>(500 + i % 1000),
                     static_cast<char>(i * 31));
}

constexpr int kAbandonedRecords = 4000;

/// Writes a LevelDB database and exits without closing it.
[[noreturn]] void writeAndExit(const std::string &path) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 1 << 16;
  leveldb::DB *database;
  if (!leveldb::DB::Open(options, path, &database).ok())
    _exit(1);
  for (int i = 0; i < kAbandonedRecords; ++i)
    database->Put({}, std::to_string(i * 7919 % kAbandonedRecords),
                  abandonedValue(i));
  _exit(0); // without closing
}

// If the writer did not close the database, many small tables wait for a
// compaction, and a log contains the last records. Reading must neither require
// the compaction nor perform it.
TEST(LevelDb, ReadsDatabasesThatWereNotClosed) {
  // LevelDB's threads do not survive a fork. So the writer is a new process
  // that runs this test again. This variable contains the database's path for
  // it.
  const char *const variable = "BREW_TEST_DEAD_WRITER";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::optional<TempFolder>
      folder; // not in the writer, which would leave it behind
  if (!std::getenv(variable)) {
    folder.emplace();
    setenv(variable, (*folder / "db").c_str(), 1);
  }
  std::string path = std::getenv(variable);
  EXPECT_EXIT(writeAndExit(path), testing::ExitedWithCode(0), "");
  unsetenv(variable);

  Records expected;
  for (int i = 0; i < kAbandonedRecords; ++i)
    expected[std::to_string(i * 7919 % kAbandonedRecords)] = abandonedValue(i);
  auto totalSize = [&] {
    uintmax_t total = 0;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      total += entry.file_size();
    return total;
  };
  uintmax_t before = totalSize();
  for (int pass = 0; pass < 3; ++pass)
    EXPECT_TRUE(readAll(*DbReader::open(path, DbBackend::LevelDb)) == expected);
  EXPECT_EQ(totalSize(), before);
}

TEST(CaffesDatabases, BackendsHaveTheSameRecords) {
  std::string lmdb = sharedPath("data/caffe_dbs/mnist500_lmdb");
  std::string leveldb = sharedPath("data/caffe_dbs/mnist500_leveldb");
  SKIP_WITHOUT(lmdb);
  SKIP_WITHOUT(leveldb);
  auto lmdbReader = DbReader::open(lmdb, DbBackend::Lmdb);
  auto leveldbReader = DbReader::open(leveldb, DbBackend::LevelDb);
  Records records = readAll(*lmdbReader);
  EXPECT_EQ(records.size(), 500u);
  EXPECT_EQ(records.begin()->first, "00000000");
  EXPECT_TRUE(records == readAll(*leveldbReader));
}

} // namespace
