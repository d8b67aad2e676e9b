//===- DatabaseDamageTest.cpp - Tests of damaged databases ----------------===//
//
// Databases are truncated, or some of their bytes changed. Reading one must
// either throw Error (1) or succeed, and must never crash or loop forever.
//
//===----------------------------------------------------------------------===//
#include "formats/Database.h"
#include "test/common/TestFiles.h"

#include <cstring>
#include <map>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

/// Reads all records and returns their number.
uint64_t readAllRecords(const std::string &path, DbBackend backend) {
  auto database = DbReader::open(path, backend);
  auto cursor = database->newCursor();
  uint64_t count = 0;
  for (; cursor->valid(); cursor->next(), ++count)
    cursor->value();
  return count;
}

/// Writes a database with values of 100 bytes and one of 5000. For 60 records,
/// LMDB needs a branch page, leaf pages and overflow pages.
void writeDatabase(const std::string &path, DbBackend backend, int records) {
  auto writer = DbWriter::create(path, backend);
  for (int i = 0; i < records; ++i)
    writer->put("key" + std::to_string(1000 + i),
                std::string(i == 5 ? 5000u : 100u, static_cast<char>(i)));
  writer->finish();
}

struct LmdbDamage : testing::Test {
  void SetUp() override {
    writeDatabase(folder / "db", DbBackend::Lmdb, 60);
    bytes = readBytes(file);
    ASSERT_EQ(readAllRecords(folder / "db", DbBackend::Lmdb), 60u);
  }
  /// Reads the database. Returns whether it was rejected.
  bool isRefused() {
    return refusedAsBadInput(
        [&] { readAllRecords(folder / "db", DbBackend::Lmdb); });
  }
  TempFolder folder;
  std::string file = folder / "db/data.mdb";
  std::string bytes;
};

TEST_F(LmdbDamage, TruncatedFilesAreRefused) {
  for (size_t length = 0; length < bytes.size();
       // Every length near a page's beginning, and some of the others.
       length += length % 4096 < 64 ? 1 : 61) {
    writeBytes(file, bytes.substr(0, length));
    const bool wasRefused = isRefused();
    // The last page may be unused.
    EXPECT_TRUE(wasRefused || length + 4096 >= bytes.size()) << length;
  }
}

TEST_F(LmdbDamage, ChangedBytesAreRefusedOrRead) {
  size_t refusedCount = 0;
  std::string damaged = bytes;
  for (size_t at = 0; at < bytes.size(); ++at) {
    // Fields have at least 16 bits; changing their high bits yields extreme
    // values.
    damaged[at] = static_cast<char>(bytes[at] ^ (at % 3 == 0   ? 0xff
                                                 : at % 3 == 1 ? 0x80
                                                               : 0x01));
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at));
    out.put(damaged[at]);
    out.close();
    refusedCount += isRefused();
    std::fstream back(file, std::ios::in | std::ios::out | std::ios::binary);
    back.seekp(static_cast<std::streamoff>(at));
    back.put(bytes[at]);
    damaged[at] = bytes[at];
  }
  EXPECT_GT(refusedCount, 100u);
  EXPECT_FALSE(isRefused()); // all bytes are restored
}

// Reading must not loop if a branch page refers to itself, or to a child twice.
TEST_F(LmdbDamage, RepeatedChildrenAreRefused) {
  // Find the branch page (flags 1). Its nodes begin with their child's number.
  for (size_t page = 2; page * 4096 < bytes.size(); ++page) {
    uint16_t flags;
    std::memcpy(&flags, bytes.data() + page * 4096 + 10, 2);
    if (flags != 1)
      continue;
    uint16_t first, second;
    std::memcpy(&first, bytes.data() + page * 4096 + 16, 2);
    std::memcpy(&second, bytes.data() + page * 4096 + 18, 2);
    std::string damaged = bytes;
    std::memcpy(damaged.data() + page * 4096 + second,
                damaged.data() + page * 4096 + first, 6);
    writeBytes(file, damaged);
    expectError(ExitStatus::BadInput, "out of order",
                [&] { readAllRecords(folder / "db", DbBackend::Lmdb); });
    uint32_t ownNumber = static_cast<uint32_t>(page);
    std::memcpy(damaged.data() + page * 4096 + second, &ownNumber, 4);
    writeBytes(file, damaged);
    expectError(ExitStatus::BadInput, "is not the leaf page",
                [&] { readAllRecords(folder / "db", DbBackend::Lmdb); });
    return;
  }
  FAIL() << "no branch page found";
}

TEST_F(LmdbDamage, OtherFilesAreRefused) {
  writeBytes(file, std::string(20000, 'x'));
  expectError(ExitStatus::BadInput, "is not an LMDB database",
              [&] { readAllRecords(folder / "db", DbBackend::Lmdb); });
  writeBytes(file, "");
  expectError(ExitStatus::BadInput, "damaged or truncated",
              [&] { readAllRecords(folder / "db", DbBackend::Lmdb); });
}

struct LevelDbDamage : testing::Test {
  void SetUp() override {
    writeDatabase(path, DbBackend::LevelDb, 12);
    ASSERT_EQ(readAllRecords(path, DbBackend::LevelDb), 12u);
  }
  /// Reads the database. Returns whether it was rejected.
  bool isRefused() {
    return refusedAsBadInput([&] { readAllRecords(path, DbBackend::LevelDb); });
  }
  /// Returns the path of a file whose name contains `part`, or "".
  std::string findFile(const std::string &part) {
    for (const auto &entry : std::filesystem::directory_iterator(path))
      if (entry.path().filename().string().find(part) != std::string::npos)
        return entry.path().string();
    return "";
  }
  TempFolder folder;
  std::string path = folder / "db";
};

TEST_F(LevelDbDamage, ChangedAndTruncatedFilesAreRefusedOrRead) {
  for (const char *part : {"CURRENT", "MANIFEST", ".ldb"}) {
    std::string file = findFile(part);
    ASSERT_FALSE(file.empty()) << part;
    std::string bytes = readBytes(file);
    size_t step = std::max<size_t>(1, bytes.size() / 300);
    size_t refusedCount = 0;
    for (size_t at = 0; at < bytes.size(); at += step) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 ? 0x10 : 0xff));
      writeBytes(file, damaged);
      refusedCount += isRefused();
      writeBytes(file, bytes.substr(0, at));
      isRefused();
    }
    EXPECT_GT(refusedCount, 5u) << part;
    writeBytes(file, bytes);
  }
  EXPECT_EQ(readAllRecords(path, DbBackend::LevelDb), 12u);
}

TEST_F(LevelDbDamage, ChangedValueIsRefused) {
  std::string file = findFile(".ldb");
  std::string bytes = readBytes(file);
  bytes[bytes.size() / 2] ^= 1;
  writeBytes(file, bytes);
  expectError(ExitStatus::BadInput, "damaged or truncated LevelDB",
              [&] { readAllRecords(path, DbBackend::LevelDb); });
}

// The records exceed the write buffer, so there are several tables.
TEST(LevelDbTables, DamageIsRefused) {
  TempFolder folder;
  std::string path = folder / "db";
  {
    auto writer = DbWriter::create(path, DbBackend::LevelDb);
    std::string value(1 << 20, 'v');
    for (int i = 0; i < 80; ++i)
      writer->put(std::to_string(100 + i), value);
    writer->finish();
  }
  std::map<std::string, std::string> tables;
  for (const auto &entry : std::filesystem::directory_iterator(path))
    if (entry.path().extension() == ".ldb")
      tables[entry.path().string()] = readBytes(entry.path().string());
  ASSERT_FALSE(tables.empty());
  EXPECT_EQ(readAllRecords(path, DbBackend::LevelDb), 80u);
  // Damages all tables, because a compaction may leave obsolete tables, which
  // are not read.
  using Damage = std::function<std::string(std::string)>;
  auto isRefusedAfter = [&](const Damage &damage) {
    for (const auto &[file, bytes] : tables)
      writeBytes(file, damage(bytes));
    return refusedAsBadInput([&] { readAllRecords(path, DbBackend::LevelDb); });
  };
  EXPECT_TRUE(isRefusedAfter([](std::string bytes) { // in a block of values
    bytes[bytes.size() / 3] ^= 4;
    return bytes;
  }));
  EXPECT_TRUE(isRefusedAfter([](std::string bytes) { // in the index
    bytes[bytes.size() - 100] ^= 4;
    return bytes;
  }));
  EXPECT_TRUE(isRefusedAfter([](std::string bytes) { // in the magic number
    bytes[bytes.size() - 5] ^= 4;
    return bytes;
  }));
  EXPECT_TRUE(isRefusedAfter(
      [](std::string bytes) { return bytes.substr(0, bytes.size() / 2); }));
  EXPECT_FALSE(isRefusedAfter([](std::string bytes) { return bytes; }));
  for (const auto &[file, bytes] : tables)
    std::filesystem::remove(file);
  EXPECT_TRUE(
      refusedAsBadInput([&] { readAllRecords(path, DbBackend::LevelDb); }));
}

} // namespace
