//===- BrewDataTest.cpp - Tests of the brew-data tool ---------------------===//
#include "formats/BinaryProto.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "test/common/TestFiles.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

struct Result {
  int status;
  std::string output; ///< standard output and error
};

Result runBrewData(const std::string &arguments) {
  std::string command =
      std::string("'" BREW_DATA_TOOL "' ") + arguments + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  Result result{-1, ""};
  if (!pipe)
    return result;
  char buffer[512];
  while (size_t n = fread(buffer, 1, sizeof buffer, pipe))
    result.output.append(buffer, n);
  int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

void expectResult(const std::string &arguments, int status,
                  const std::string &message) {
  Result result = runBrewData(arguments);
  EXPECT_EQ(result.status, status) << result.output;
  EXPECT_NE(result.output.find(message), std::string::npos) << result.output;
}

/// Writes two 2x2 images and their labels.
struct BrewData : testing::Test {
  BrewData() {
    writeBytes(images, std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02"
                                   "\x00\x01\x02\x03\x0a\x0b\x0c\xff",
                                   24));
    writeBytes(labels, std::string("\0\0\x08\x01\0\0\0\x02\x05\x09", 10));
  }
  TempFolder folder;
  std::string images = folder / "images", labels = folder / "labels";
  std::string database = folder / "db";
  std::string inputs = images + " " + labels + " ";
};

TEST_F(BrewData, ConvertsMnistAndComputesMean) {
  for (const char *backend : {"lmdb", "leveldb"}) {
    std::string db = database + backend;
    expectResult("mnist " + inputs + db + " --backend " + backend, 0,
                 "2 records of 1x2x2");
    auto reader = DbReader::open(db, *parseBackend(backend));
    auto cursor = reader->newCursor();
    EXPECT_EQ(cursor->key(), "00000000");
    EXPECT_EQ(cursor->value(), encodeDatum(1, 2, 2, {"\0\1\2\3", 4}, 5));
    cursor->next();
    EXPECT_EQ(cursor->key(), "00000001");
    expectResult("mean " + db + " " + (folder / "mean"), 0, "[0]: 36.75");
    Blob mean = readBinaryProto(folder / "mean");
    EXPECT_EQ(mean.dims, (std::vector<int64_t>{1, 1, 2, 2}));
    EXPECT_EQ(mean.floats, (std::vector<float>{5, 6, 7, 129}));
    expectResult("list " + db, 0, "2 records");
    expectResult("list " + db, 0, "key '00000000', bytes of 1x2x2, label 5");
  }
}

TEST_F(BrewData, ConvertsCifar) {
  std::string batch = folder / "data_batch.bin",
              bytes = "\x03" + std::string(3072, 'p');
  writeBytes(batch, bytes);
  expectResult("cifar10 " + batch + " " + batch + " -o " + database, 0,
               "2 records of 3x32x32 (LMDB)");
  auto reader = DbReader::open(database, DbBackend::Lmdb);
  auto cursor = reader->newCursor();
  EXPECT_EQ(cursor->key(), "00000");
  EXPECT_EQ(cursor->value(), encodeDatum(3, 32, 32, std::string(3072, 'p'), 3));
  cursor->next();
  EXPECT_EQ(cursor->key(), "00001");
}

TEST_F(BrewData, OverwritesOnlyOnRequest) {
  expectResult("mnist " + inputs + database, 0, "");
  expectResult("mnist " + inputs + database, 1, "exists");
  expectResult("mnist " + inputs + database + " --overwrite --backend leveldb",
               0, "LevelDB");
  EXPECT_EQ(detectBackend(database), DbBackend::LevelDb);
}

TEST_F(BrewData, ReportsErrors) {
  expectResult("", 2, "subcommand");
  expectResult("mnist " + images, 2, "required");
  expectResult("mnist " + inputs + database + " --backend rocksdb", 2, "lmdb");
  expectResult("frobnicate", 2, "");
  expectResult("--help", 0, "cifar10");
  expectResult("mnist /none /none " + database, 3, "file not found");
  expectResult("mnist " + labels + " " + images + " " + database, 1, "magic");
  expectResult("mnist " + inputs + database + " --classes 6", 1,
               "label 1 is 9, outside [0, 6)");
  expectResult("mean " + database + " " + (folder / "m"), 3, "not found");
  expectResult("list " + folder.path(), 1, "is not a database");
  writeBytes(labels, std::string("\0\0\x08\x01\0\0\0\x02\x05", 9));
  expectResult("mnist " + inputs + database, 1, "truncated");
  // Only the inputs remain.
  EXPECT_EQ(folder.entries(), 2u);
}

TEST_F(BrewData, RefusesMeanOfDifferentShapes) {
  auto writer = DbWriter::create(database, DbBackend::Lmdb);
  writer->put("a", encodeDatum(1, 1, 2, "xy", 0));
  writer->put("b", encodeDatum(1, 2, 1, "xy", 0));
  writer->finish();
  expectResult("mean " + database + " " + (folder / "m"), 1,
               "record 'b' has shape 1x2x1, but the first one has 1x1x2");
}

/// Writes ten records with consecutive keys and labels. Optionally damages the
/// seventh.
void writeTenRecords(const std::string &path, bool damaged = false) {
  auto writer = DbWriter::create(path, DbBackend::Lmdb);
  for (int i = 0; i < 10; ++i)
    writer->put(
        "k" + std::to_string(i),
        damaged && i == 6
            ? std::string("\x08\x01\x10\x05\x18\x05\x22\x01z", 9)
            : encodeDatum(1, 1, 1, std::string(1, static_cast<char>(i)), i));
  writer->finish();
}

/// Returns keys and labels in order: "k0=0 k1=1 ".
std::string contentOf(const std::string &path) {
  auto reader = DbReader::open(path, *detectBackend(path));
  std::string text;
  ImageRecord record;
  for (auto cursor = reader->newCursor(); cursor->valid(); cursor->next()) {
    decodeDatum(cursor->value(), ImageColor::Native, "x", record);
    text +=
        std::string(cursor->key()) + "=" + std::to_string(record.label) + " ";
  }
  return text;
}

TEST_F(BrewData, VerifyNamesDamagedRecords) {
  writeTenRecords(database);
  expectResult("verify " + database, 0, "10 records, none damaged");
  std::filesystem::remove_all(database);
  writeTenRecords(database, /*damaged=*/true);
  expectResult("verify " + database, 1, "record 'k6': damaged record");
  expectResult("verify " + database, 1, "1 of 10 records are damaged");
  expectResult("inspect " + database, 1, "record 'k6'");
}

TEST_F(BrewData, SplitAndMergeKeepEveryRecord) {
  writeTenRecords(database);
  const std::string a = folder / "a", b = folder / "b",
                    merged = folder / "merged";
  expectResult("split " + database + " " + a + "=0.7 " + b + "=0.3", 0,
               "7 records");
  EXPECT_EQ(contentOf(a), "k0=0 k1=1 k2=2 k3=3 k4=4 k5=5 k6=6 ");
  EXPECT_EQ(contentOf(b), "k7=7 k8=8 k9=9 ");
  expectResult("merge " + b + " " + a + " -o " + merged + " --backend leveldb",
               0, "10 records (LevelDB)");
  EXPECT_EQ(contentOf(merged).substr(0, 30), "00000000_k7=7 00000001_k8=8 00");
  expectResult("split " + database + " " + a + "=0.7 " + b + "=0.4", 2,
               "the shares add up to more than 1");
  expectResult("split " + database + " " + a + "=2", 2, "is not DB=SHARE");
  expectResult("split " + database + " " + a + "=0.01", 1, "leaves none for");
  expectResult("split " + database + " " + a + "=0.7", 1, "exists");
  // A random split differs and is reproducible by its seed.
  const std::string randomOptions =
      " " + a + "=0.5 " + b + "=0.5 --random --overwrite ";
  expectResult("split " + database + randomOptions + "--seed 1", 0,
               "5 records");
  const std::string first = contentOf(a);
  EXPECT_NE(first, "k0=0 k1=1 k2=2 k3=3 k4=4 ");
  expectResult("split " + database + randomOptions + "--seed 1", 0,
               "5 records");
  EXPECT_EQ(contentOf(a), first);
}

TEST_F(BrewData, ShuffleDependsOnTheSeed) {
  writeTenRecords(database);
  std::string orders[3];
  for (int i = 0; i < 3; ++i) {
    const std::string out = folder / ("out" + std::to_string(i));
    expectResult("shuffle " + database + " " + out + " --seed " +
                     std::to_string(i / 2),
                 0, "10 records");
    orders[i] = contentOf(out);
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], orders[2]);
  for (int i = 0; i < 10; ++i) {
    const std::string digit = std::to_string(i);
    EXPECT_NE(orders[0].find("_k" + digit + "=" + digit), std::string::npos);
  }
}

TEST_F(BrewData, AcceptsCaffesFlagsAndNames) {
  const std::string list = folder / "list", root = folder.path() + "/ ";
  writeBytes(list, "a.png 1\n");
  expectResult("convert_imageset " + root + list + " " + database, 1,
               "none of its 1 images can be read");
  EXPECT_FALSE(std::filesystem::exists(database));
  expectResult("convert_imageset -gray -noshuffle -encode_type bmp " + root +
                   list + " " + database,
               2, "encoded as png or jpg");
  expectResult("convert_imageset -resize_height", 2, "resize_height");
  expectResult("imageset " + root + (folder / "absent") + " " + database, 3,
               "list of images: cannot read");
  expectResult("compute_image_mean -backend=lmdb " + database, 3, "not found");
  expectResult("image " + database, 2,
               "unknown command 'image'; did you mean 'images'?");
  expectResult("extract_features w net fc6 db 10", 2, "usage:");
  expectResult("extract_features w net fc6 db 10 lmdb TPU", 2,
               "is not CPU, GPU or");
  expectResult("extract_features w net fc6,fc7 new," + (folder / ".") +
                   " 10 lmdb",
               1, "exists; remove it first");
  expectResult("split " + database + " x=0.5 ./x=0.5", 2,
               "'./x' is given for two targets");
  expectResult("split " + database + " x=0.5 ./x/=0.5", 2,
               "'./x/' is given for two targets");
  const std::string windows = folder / "windows";
  writeBytes(windows, "# 0\na.png\n3 4 4\n1\n1 0.5 0 0 9 9\n");
  expectResult("windows " + windows, 1, "windows:5: the window from (0, 0)");
}

// The tool converts an endless input until a signal stops it. It must then
// remove its output.
TEST_F(BrewData, RemovesOutputWhenInterrupted) {
  const size_t before = folder.entries();
  pid_t child = fork();
  ASSERT_GE(child, 0);
  std::string big = folder / "big";
  if (child == 0) {
    freopen("/dev/null", "w", stderr);
    execl(BREW_DATA_TOOL, "brew-data", "cifar10", "/dev/zero", "-o",
          big.c_str(), nullptr);
    _exit(99);
  }
  // The tool is running and has installed its signal handler once the folder
  // has a new entry.
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (folder.entries() <= before && std::chrono::steady_clock::now() < end)
    usleep(1000);
  kill(child, SIGINT);
  int status;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(folder.entries(), before);
}

TEST(BrewDataRecorded, MeanEqualsCaffes) {
  std::string expected = sharedPath("data/caffe_dbs/mnist500_mean.binaryproto");
  SKIP_WITHOUT(expected);
  TempFolder folder;
  for (const char *name : {"mnist500_lmdb", "mnist500_leveldb"}) {
    expectResult("mean " + sharedPath(std::string("data/caffe_dbs/") + name) +
                     " " + (folder / "mean"),
                 0, "500 images");
    EXPECT_EQ(readBytes(folder / "mean"), readBytes(expected));
  }
}

TEST(BrewDataRecorded, RecordsEqualCaffes) {
  std::string images = sharedPath("data/mnist/t10k-images-idx3-ubyte.gz");
  std::string labels = sharedPath("data/mnist/t10k-labels-idx1-ubyte.gz");
  SKIP_WITHOUT(images);
  TempFolder folder;
  expectResult("mnist " + images + " " + labels + " " + (folder / "db"), 0,
               "10000 records of 1x28x28");
  auto ours = DbReader::open(folder / "db", DbBackend::Lmdb);
  auto caffes = DbReader::open(sharedPath("data/caffe_dbs/mnist500_lmdb"),
                               DbBackend::Lmdb);
  EXPECT_EQ(ours->count(), 10000u);
  auto ourCursor = ours->newCursor(), caffesCursor = caffes->newCursor();
  for (; caffesCursor->valid(); ourCursor->next(), caffesCursor->next()) {
    ASSERT_EQ(ourCursor->key(), caffesCursor->key());
    ASSERT_EQ(ourCursor->value(), caffesCursor->value());
  }
}

} // namespace
