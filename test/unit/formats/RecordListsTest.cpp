//===- RecordListsTest.cpp - Boost lists and record selection -------------===//
#include "caffe/RecordSelection.h"
#include "formats/BoostList.h"
#include "formats/TextLines.h"
#include "formats/caffe.pb.h"
#include "formats/image/ClipList.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

class RecordLists : public testing::Test {
protected:
  std::vector<BoostEntry> readBoosts(const std::string &text) {
    writeBytes(folder / "list", text);
    return readBoostList(folder / "list");
  }
  void expectRefused(const std::string &text, const std::string &message) {
    expectError(ExitStatus::BadInput, message, [&] { readBoosts(text); });
  }
  TempFolder folder;
};

caffe::LayerParameter layerOfType(const std::string &type) {
  caffe::LayerParameter result;
  result.set_type(type);
  return result;
}

} // namespace

TEST_F(RecordLists, SplitsLinesAndWords) {
  writeBytes(folder / "list", "a  b\r\n\n c");
  const auto lines = readTextLines(folder / "list", "A B");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2].number, 3u);
  EXPECT_EQ(wordsOf(lines[0].text), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(wordsOf(lines[1].text).empty());
  EXPECT_EQ(wordsOf(lines[2].text), (std::vector<std::string>{"c"}));
  EXPECT_STREQ(malformedLine("f", lines[2], "A B").what(),
               "f:3: not a line of A B");
  writeBytes(folder / "list", std::string("a\n\0", 3));
  expectError(ExitStatus::BadInput, "list:2: contains a zero byte",
              [&] { readTextLines(folder / "list", "A B"); });
}

TEST_F(RecordLists, ReadsClips) {
  writeBytes(folder / "list", "a/b 12 3\r\n\nc\t0  -1\n");
  const auto clips = readClipList(folder / "list", 0);
  ASSERT_EQ(clips.size(), 2u);
  EXPECT_EQ(clips[0].name, "a/b");
  EXPECT_EQ(clips[0].frame, 12);
  EXPECT_EQ(clips[0].label, 3);
  EXPECT_EQ(clips[1].line, 3u);
  EXPECT_EQ(clips[1].label, -1);
  writeBytes(folder / "list", "a 1 2,0\n");
  EXPECT_EQ(readClipList(folder / "list", 3)[0].labels,
            (std::vector<float>{2, 0}));
  expectError(ExitStatus::BadInput,
              "list:1: not a line of FOLDER FRAME LABEL,LABEL... with labels "
              "from 0 to 1",
              [&] { readClipList(folder / "list", 2); });
  for (const char *line : {"a 1", "a 1 2 3", "a -1 2", "a 1x 2", "a 1 2,0"}) {
    writeBytes(folder / "list", line);
    expectError(ExitStatus::BadInput,
                "list:1: not a line of FOLDER FRAME LABEL",
                [&] { readClipList(folder / "list", 0); });
  }
  for (const char *line : {"a 1 2,", "a 1 ,2", "a 1 -1"}) {
    writeBytes(folder / "list", line);
    expectError(ExitStatus::BadInput, "list:1: not a line",
                [&] { readClipList(folder / "list", 3); });
  }
}

TEST_F(RecordLists, FindsFrames) {
  std::filesystem::create_directory(folder / "v");
  const std::string video = folder / "v";
  writeBytes(folder / "v/image_0012.jpg", "");
  EXPECT_EQ(requireFrame(video, 12, {}, "l:1"), video + "/image_0012.jpg");
  writeBytes(folder / "v/000012.jpg", "");
  EXPECT_EQ(requireFrame(video, 12, {}, "l:1"), video + "/000012.jpg");
  EXPECT_EQ(requireFrame("v", 12, {folder / ""}, "l:1"), video + "/000012.jpg");
  expectError(ExitStatus::Unavailable,
              "l:1: frame '" + video + "/000013.jpg' not found",
              [&] { requireFrame(video, 13, {}, "l:1"); });
  expectError(ExitStatus::BadInput, "image_0012.jpg' is a file; a video is",
              [&] { requireFrame(video + "/image_0012.jpg", 1, {}, "l:1"); });
}

TEST_F(RecordLists, ReadsBoostWeights) {
  const auto entries =
      readBoosts("00000001_my cat.jpg 2.5\n\n  \nb\t 0\r\nc  1e3 ");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key, "00000001_my cat.jpg");
  EXPECT_EQ(entries[0].weight, 2.5);
  EXPECT_EQ(entries[1].key, "b");
  EXPECT_EQ(entries[1].line, 4u);
  EXPECT_EQ(entries[2].weight, 1000);
  expectRefused("", "lists no weights");
  expectRefused("a 1\nalone\n", "list:2: not a line of KEY WEIGHT");
  expectRefused(" 3\n", "list:1: not a line of KEY WEIGHT");
  expectRefused("a heavy\n", "list:1: not a line of KEY WEIGHT");
  expectRefused("a -1\n", "list:1: a weight must be finite and not negative");
  expectRefused("a inf\n", "list:1: a weight must be finite and not negative");
  expectRefused("a nan\n", "list:1: a weight must be finite and not negative");
  expectRefused("a 1\nb 1\na 2\n", "list:3: 'a' is already in line 1");
  expectError(ExitStatus::Unavailable, "boost_file: cannot read",
              [&] { readBoostList(folder / "absent"); });
}

TEST(RecordSelection, FollowsLayerSettings) {
  caffe::LayerParameter data = layerOfType("Data");
  EXPECT_TRUE(recordSelectionOf(data).isSequential());
  EXPECT_EQ(recordSelectionOf(data).recordsPerUnit(), 1u);
  data.mutable_data_param()->set_enable_pair_selection(true);
  EXPECT_TRUE(
      recordSelectionOf(data).isSequential()); // pairs are neighbours anyway
  EXPECT_EQ(recordSelectionOf(data).recordsPerUnit(), 2u);
  data.mutable_data_param()->set_images_per_blob(2);
  EXPECT_TRUE(recordSelectionOf(data).isSequential());
  data.mutable_data_param()->clear_enable_pair_selection();
  EXPECT_TRUE(recordSelectionOf(data).balanceMatches); // MyCaffe's default
  EXPECT_TRUE(recordSelectionOf(data).needsLabels());
  data.mutable_data_param()->set_balance_matches(false);
  EXPECT_TRUE(recordSelectionOf(data).isSequential());
  data.mutable_data_param()->set_boost_file("f");
  EXPECT_TRUE(recordSelectionOf(data).random);
  data.mutable_data_param()->set_images_per_blob(
      0); // only possible in a damaged plan
  EXPECT_EQ(recordSelectionOf(data).imagesPerItem, 1u);

  caffe::LayerParameter images = layerOfType("ImageData");
  images.mutable_data_param()->set_shuffle(true);
  EXPECT_TRUE(recordSelectionOf(images).isSequential());
  images.mutable_image_data_param()->set_shuffle(true);
  EXPECT_TRUE(recordSelectionOf(images).shuffle);
  images.mutable_image_data_param()->set_balance(caffe::DataParameter::LABEL);
  EXPECT_TRUE(recordSelectionOf(images).balanceLabels);

  caffe::LayerParameter windows = layerOfType("WindowData");
  windows.mutable_data_param()->set_shuffle(true);
  EXPECT_TRUE(recordSelectionOf(windows).isSequential());
  EXPECT_TRUE(recordSelectionOf(layerOfType("ReLU")).isSequential());
}
