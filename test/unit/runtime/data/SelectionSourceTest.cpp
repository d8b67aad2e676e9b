//===- SelectionSourceTest.cpp - Selected and sampled records -------------===//
#include "ImageFolder.h"
#include "TestPlan.h"
#include "formats/Database.h"
#include "formats/Datum.h"
#include "runtime/caffe_log/CaffeLog.h"
#include "runtime/data/BatchSource.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/log/LogLines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace brew;
using namespace brew::runtime;

namespace {

using Floats = std::vector<float>;

/// Writes records of one pixel, whose value is the record's number, to a
/// database of either kind. Label 0 has eight records, labels 1 and 2 have two
/// each.
class SelectionSourceTest : public testing::TestWithParam<const char *> {
protected:
  static constexpr int kRecords = 12;
  static int labelOf(int record) {
    return record == 3 || record == 7 ? 1 : record == 4 || record == 11 ? 2 : 0;
  }
  static std::string keyOf(int record) {
    return "record " + std::to_string(100 + record);
  }

  void SetUp() override {
    auto writer = newDatabase();
    for (int n = 0; n < kRecords; ++n)
      writer->put(keyOf(n), formats::encodeDatum(
                                1, 1, 1, std::string(1, char(n)), labelOf(n)));
    writer->finish();
  }

  std::unique_ptr<formats::DbWriter> newDatabase() {
    return formats::DbWriter::create(folder / "db",
                                     *formats::parseBackend(GetParam()), true);
  }

  /// Opens the database. `fields` are further fields of data_param;
  /// `labelCount` is the number of label values per item.
  std::unique_ptr<BatchSource> open(const std::string &fields, int batch = 4,
                                    int images = 1, int labelCount = 1,
                                    unsigned threads = 1, bool skipBad = false,
                                    std::uint64_t rank = 0,
                                    std::uint64_t ranks = 1) {
    data = test::makeBuffer("data", 0, 0, {batch, images, 1, 1});
    label = test::makeBuffer("label", 0, 0,
                             labelCount > 1
                                 ? std::vector<std::int64_t>{batch, labelCount}
                                 : std::vector<std::int64_t>{batch});
    DataLayerInfo info;
    info.layer = test::parse<caffe::LayerParameter>(
        "name: 'in' type: 'Data' top: 'data' top: 'label' data_param { "
        "source: 'db' backend: " +
        std::string(GetParam()) + " " + fields + " }");
    info.tops = {&data, &label};
    info.seed = {3, rank};
    info.stream = "program/in";
    info.folders = {folder.path()};
    info.readerOptions = {threads, skipBad, rank, ranks};
    info.events = &events;
    return databaseSource.open(info);
  }

  /// Returns the pixels of a batch, i.e. the numbers of the records.
  Floats read(BatchSource &source) {
    Floats pixels(data.size() / sizeof(float), -1);
    labels.assign(label.size() / sizeof(float), -1);
    source.read({reinterpret_cast<std::byte *>(pixels.data()),
                 reinterpret_cast<std::byte *>(labels.data())});
    return pixels;
  }
  std::map<float, int> tally(BatchSource &source, int batches) {
    std::map<float, int> counts;
    for (int i = 0; i < batches; ++i)
      for (float pixel : read(source))
        ++counts[pixel];
    return counts;
  }

  SelectionSourceTest() { events.add(CaffeLog()); }

  test::LogLines log;
  Events events;
  test::TempFolder folder;
  plan::Buffer data, label;
  Floats labels;
};

const char *const kModes[] = {
    "shuffle: true",
    "enable_random_selection: true",
    "enable_random_selection: true enable_pair_selection: true",
    "shuffle: true enable_pair_selection: true",
    "balance: LABEL",
    "balance: LABEL shuffle: true",
    "balance: LABEL enable_random_selection: true",
    "boost_file: 'boost.txt'",
    "boost_file: 'boost.txt' balance: LABEL",
};

} // namespace

TEST_P(SelectionSourceTest, EveryModeResumesExactlyWithAnyNumberOfThreads) {
  test::writeBytes(folder / "boost.txt", keyOf(3) + " 5\n" + keyOf(4) + " 0\n");
  std::set<Floats> streams;
  for (const std::string mode : kModes)
    for (const std::string pair : {"", " images_per_blob: 2"}) {
      if (!pair.empty() && mode.find("pair") != mode.npos)
        continue;
      const int images = pair.empty() ? 1 : 2;
      auto source = open(mode + pair, 4, images);
      Floats stream;
      for (int i = 0; i < 9; ++i) {
        auto resumed = open(mode + pair, 4, images, 1, 1 + i % 4);
        resumed->seek(source->position());
        const Floats expected = read(*source), expectedLabels = labels;
        EXPECT_EQ(read(*resumed), expected) << mode << pair << " " << i;
        EXPECT_EQ(labels, expectedLabels);
        EXPECT_EQ(resumed->position().position, source->position().position);
        EXPECT_EQ(resumed->position().records,
                  std::uint64_t(4 * images) * (i + 1));
        for (int n = 0; n < 4 && images == 1; ++n)
          EXPECT_EQ(labels[n], labelOf(int(expected[n])));
        stream.insert(stream.end(), expected.begin(), expected.end());
      }
      EXPECT_TRUE(streams.insert(stream).second) << mode << pair;
    }
}

TEST_P(SelectionSourceTest, ShuffleReadsEachRecordOncePerPass) {
  auto source = open("shuffle: true");
  std::set<Floats> orders;
  for (int pass = 0; pass < 4; ++pass) {
    Floats order;
    for (int i = 0; i < 3; ++i)
      for (float pixel : read(*source))
        order.push_back(pixel);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (int n = 0; n < kRecords; ++n)
      EXPECT_EQ(order[n], n);
    EXPECT_EQ(source->position().epoch, std::uint64_t(pass) + 1);
  }
  EXPECT_EQ(orders.size(), 4u);
  test::expectError(ExitStatus::BadInput, "which has only 12", [&] {
    source->seek({0, 0, 12});
  });
}

TEST_P(SelectionSourceTest, BalancedLabelsAreEquallyFrequent) {
  auto source = open("balance: LABEL enable_random_selection: true", 6);
  std::map<float, int> labelCounts, counts;
  for (int i = 0; i < 200; ++i) {
    for (float pixel : read(*source))
      ++counts[pixel];
    for (float value : labels)
      ++labelCounts[value];
  }
  EXPECT_EQ(labelCounts, (std::map<float, int>{{0, 400}, {1, 400}, {2, 400}}));
  // Tolerances exceed four standard deviations.
  EXPECT_NEAR(counts[3], 200, 45);
  EXPECT_NEAR(counts[0], 50, 30);
  events.deliver();
  EXPECT_EQ(log.texts("found 12 records in").size(), 1u);
}

TEST_P(SelectionSourceTest, WeightsDetermineFrequencies) {
  test::writeBytes(folder / "boost.txt", keyOf(3) + " 5\n\n" + keyOf(4) +
                                             "\t0\n" + keyOf(0) +
                                             "   0.5 \r\n");
  auto source = open("boost_file: 'boost.txt'");
  auto counts = tally(*source, 725); // 2900 draws; the weights sum to 14.5
  EXPECT_NEAR(counts[3], 1000, 120);
  EXPECT_NEAR(counts[0], 100, 40);
  EXPECT_NEAR(counts[5], 200, 60);
  EXPECT_EQ(counts.count(4), 0u);
  // With boost_default 0, only records in the list are drawn.
  auto listedOnly = open("boost_file: 'boost.txt' boost_default: 0");
  counts = tally(*listedOnly, 100);
  EXPECT_EQ(counts.size(), 2u);
  EXPECT_NEAR(counts[3], 364, 30);
}

TEST_P(SelectionSourceTest, ReadsItemsOfTwoImages) {
  auto source = open("images_per_blob: 2", 4, 2);
  int matches = 0;
  for (int i = 0; i < 30; ++i) {
    const Floats pixels = read(*source);
    for (int n = 0; n < 4; ++n) {
      const bool equal =
          labelOf(int(pixels[2 * n])) == labelOf(int(pixels[2 * n + 1]));
      EXPECT_EQ(labels[n], equal);
      EXPECT_EQ(pixels[2 * n], (i * 4 + n) % kRecords); // firsts in order
      matches += equal;
    }
  }
  EXPECT_EQ(matches, 60);
  EXPECT_EQ(source->position().epoch, 20u);

  auto allLabels = open("images_per_blob: 2 output_all_labels: true", 4, 2, 2);
  const Floats pixels = read(*allLabels);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(labels[i], labelOf(int(pixels[i])));

  auto unbalanced = open("images_per_blob: 2 balance_matches: false", 4, 2);
  EXPECT_EQ(read(*unbalanced), (Floats{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(labels, (Floats{1, 0, 0, 0}));

  auto neighbours = open(
      "images_per_blob: 2 enable_pair_selection: true shuffle: true", 4, 2);
  const Floats neighbourPixels = read(*neighbours);
  for (int i = 0; i < 8; i += 2)
    EXPECT_EQ(neighbourPixels[i + 1], (int(neighbourPixels[i]) + 1) % kRecords);
}

TEST_P(SelectionSourceTest, RanksShareItems) {
  for (const std::string mode :
       {"shuffle: true", "images_per_blob: 2",
        "enable_random_selection: true enable_pair_selection: true"}) {
    const int images = mode[0] == 'i' ? 2 : 1;
    const std::size_t recordsPerUnit = mode[0] == 's' ? 1 : 2;
    auto singleRank = open(mode, 12, images);
    const Floats allRecords = read(*singleRank);
    for (std::uint64_t rank = 0; rank < 3; ++rank) {
      auto rankSource = open(mode, 4, images, 1, 1, false, rank, 3);
      const Floats rankRecords = read(*rankSource);
      for (std::size_t i = 0; i < rankRecords.size(); ++i)
        EXPECT_EQ(rankRecords[i],
                  allRecords[(i / recordsPerUnit * 3 + std::size_t(rank)) *
                                 recordsPerUnit +
                             i % recordsPerUnit])
            << mode << " rank " << rank;
      EXPECT_EQ(rankSource->position().position,
                singleRank->position().position);
      EXPECT_EQ(rankSource->position().epoch, singleRank->position().epoch);
    }
  }
}

TEST_P(SelectionSourceTest, SkipsDamagedRecords) {
  auto writer = newDatabase();
  for (int n = 0; n < kRecords; ++n)
    writer->put(keyOf(n), formats::encodeDatum(1, 1, 1, std::string(1, char(n)),
                                               labelOf(n)));
  writer->put(keyOf(5), "\x0a\x7fno datum");
  // The dimensions of this Datum need more bytes than it has.
  writer->put(keyOf(6),
              formats::encodeDatum(1, 2, 2, std::string(1, char(6)), 0));
  writer->finish();
  test::expectError(ExitStatus::BadInput, "'record 105': damaged record",
                    [&] { open("balance: LABEL"); });
  for (const auto &[mode, images] :
       {std::pair{"shuffle: true", 1},
        {"balance: LABEL shuffle: true", 1},
        {"images_per_blob: 2 shuffle: true", 2},
        {"shuffle: true enable_pair_selection: true", 1}}) {
    auto source = open(mode, 4, images, 1, 2, true);
    auto otherThreads = open(mode, 4, images, 1, 1, true);
    std::set<float> records;
    for (int i = 0; i < 20; ++i) {
      const Floats pixels = read(*source);
      EXPECT_EQ(read(*otherThreads), pixels);
      records.insert(pixels.begin(), pixels.end());
    }
    EXPECT_EQ(records.count(5) + records.count(6), 0u) << mode;
    EXPECT_EQ(records.size(), 10u) << mode;
    EXPECT_GT(source->skippedRecords(), 1u);
    EXPECT_EQ(source->skippedRecords(), otherThreads->skippedRecords());
    auto resumed = open(mode, 4, images, 1, 3, true);
    resumed->seek(source->position());
    EXPECT_EQ(read(*resumed), read(*source));
  }
}

TEST_P(SelectionSourceTest, RefusesInvalidBoostLists) {
  auto expectOpenError = [&](const std::string &text, ExitStatus status,
                             const std::string &message) {
    if (!text.empty())
      test::writeBytes(folder / "boost.txt", text);
    test::expectError(status, message,
                      [&] { open("boost_file: 'boost.txt'"); });
  };
  expectOpenError("", ExitStatus::Unavailable,
                  "boost_file 'boost.txt' not found");
  expectOpenError("record 100 1\nrecord 99 1\n", ExitStatus::BadInput,
                  "boost.txt:2: 'record 99' is not in ");
  std::string zeros;
  for (int n = 0; n < kRecords; ++n)
    zeros += keyOf(n) + " 0\n";
  expectOpenError(zeros, ExitStatus::BadInput,
                  "the weights of all records are 0");
}

INSTANTIATE_TEST_SUITE_P(Databases, SelectionSourceTest,
                         testing::Values("LMDB", "LEVELDB"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

namespace {

class SelectionImageTest : public test::ImageFolder {
protected:
  std::unique_ptr<BatchSource> open(const std::string &settings,
                                    unsigned threads = 2, int images = 1) {
    std::string lines;
    for (int n = 0; n < 6; ++n) {
      const std::string name = "image " + std::to_string(n) + ".png";
      writeImage(name, n);
      lines += name + " " + std::to_string(n == 5) + "\n";
    }
    test::writeBytes(folder / "list.txt", lines);
    return imageSource.open(info(
        "ImageData", "image_data_param { source: 'list.txt' " + settings + " }",
        {4, 3 * images, 4, 5}, false, threads));
  }
};

} // namespace

TEST_F(SelectionImageTest, BalancesLabels) {
  auto source = open("balance: LABEL");
  int ones = 0;
  for (int i = 0; i < 10; ++i) {
    read(*source);
    ones += static_cast<int>(std::count(labels.begin(), labels.end(), 1));
  }
  EXPECT_EQ(ones, 20);
}

TEST_F(SelectionImageTest, BoostsByName) {
  test::writeBytes(folder / "boost.txt", "image 5.png 3\nimage 2.png 1\n");
  auto source = open("boost_file: 'boost.txt' boost_default: 0");
  int ones = 0;
  for (int i = 0; i < 100; ++i) {
    read(*source);
    ones += static_cast<int>(std::count(labels.begin(), labels.end(), 1));
  }
  EXPECT_NEAR(ones, 300, 36);
  test::writeBytes(folder / "boost.txt", "image 6.png 3\n");
  test::expectError(ExitStatus::BadInput, "'image 6.png' is not in ",
                    [&] { open("boost_file: 'boost.txt'"); });
}

TEST_F(SelectionImageTest, StacksPairsAsChannels) {
  const std::string settings = "images_per_blob: 2 rand_skip: 3";
  auto source = open(settings, 2, 2);
  for (int i = 0; i < 6; ++i) {
    auto resumed = open(settings, 1 + i, 2);
    resumed->seek(source->position());
    read(*source);
    const std::vector<float> expected = values;
    for (int n = 0; n < 4; ++n) {
      // Pixel 0 of channels 0 and 3 identifies the images.
      const int first = int(values[(n * 6 + 0) * 20]) / 40;
      const int second = int(values[(n * 6 + 3) * 20]) / 40;
      EXPECT_EQ(labels[n], (first == 5) == (second == 5));
      EXPECT_EQ(values[(n * 6 + 4) * 20 + 7], pixel(second, 1, 1, 2));
    }
    read(*resumed);
    EXPECT_EQ(values, expected);
  }
}
