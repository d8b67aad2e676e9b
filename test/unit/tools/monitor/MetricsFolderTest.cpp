//===- MetricsFolderTest.cpp - Comparison of runs from their logs ---------===//
#include "tools/monitor/MetricsFolder.h"

#include "test/common/TestFiles.h"

#include <brew/brew.hpp>

#include <fstream>
#include <gtest/gtest.h>

using namespace brew::monitor;
using brew::test::TempFolder;
using brew::test::writeBytes;
using Json = nlohmann::json;

namespace {

const char *const kRows =
    R"({"type":"train","iteration":0,"loss":2.5,"lr":0.1,"outputs":{"loss":2.5,"x":[1,2]}}
{"type":"train","iteration":10,"loss":1.5,"lr":0.1,"images_per_second":50,"outputs":{"loss":1.4}}
{"type":"test","iteration":10,"net":0,"outputs":{"accuracy":0.9,"loss":0.4}}
{"type":"test","iteration":10,"net":1,"outputs":{"accuracy":0.8}}
{"type":"episode","iteration":10,"outputs":{"reward":22,"entropy":0.6}}
)";

Json curvesOf(MetricsFolder &runs, const std::string &name) {
  return runs.get("run", {{"name", name}})["curves"];
}

} // namespace

TEST(MonitorMetricsFolder, FindsRunsAndTheirCurves) {
  TempFolder folder;
  std::filesystem::create_directories(folder / "a/b");
  writeBytes(folder / "a/b/metrics.jsonl", kRows);
  writeBytes(folder / "metrics.jsonl",
             R"({"type":"stop","iteration":7,"reason":"enough"})"
             "\n");
  MetricsFolder runs(folder.path());
  const Json state = runs.get("state", {});
  ASSERT_EQ(state["runs"].size(), 2u);
  EXPECT_EQ(state["runs"][0]["stopped"], "enough");
  EXPECT_EQ(state["runs"][0]["running"], false);
  EXPECT_EQ(state["runs"][1]["name"], "a/b");
  EXPECT_EQ(state["runs"][1]["iteration"], 10);
  EXPECT_EQ(state["runs"][1]["running"], true);
  const Json curves = curvesOf(runs, "a/b");
  EXPECT_EQ(curves["train.loss"], Json::parse("[[0.0, 2.5], [10.0, 1.5]]"));
  EXPECT_EQ(curves["test.accuracy"], Json::parse("[[10.0, 0.9]]"));
  EXPECT_EQ(curves["test1.accuracy"], Json::parse("[[10.0, 0.8]]"));
  EXPECT_EQ(curves["episode.reward"], Json::parse("[[10.0, 22.0]]"));
  EXPECT_EQ(curves["images/s"], Json::parse("[[10.0, 50.0]]"));
  EXPECT_FALSE(curves.contains("train.x"));
}

TEST(MonitorMetricsFolder, ReadsAppendedRowsAndRereadsShrunkLogs) {
  TempFolder folder;
  const std::string rows = kRows;
  writeBytes(folder / "metrics.jsonl", rows.substr(0, 120)); // half a line
  MetricsFolder runs(folder.path());
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"].size(), 1u);
  writeBytes(folder / "metrics.jsonl", rows);
  runs.get("state", {});
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"].size(), 2u);
  writeBytes(folder / "metrics.jsonl", rows.substr(0, rows.find('\n') + 1));
  runs.get("state", {});
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"].size(), 1u);
}

TEST(MonitorMetricsFolder, RereadsReplacedLogs) {
  TempFolder folder;
  auto row = [](int iteration, const char *loss) {
    return "{\"type\":\"train\",\"iteration\":" + std::to_string(iteration) +
           ",\"loss\":" + loss + "}\n";
  };
  writeBytes(folder / "metrics.jsonl", row(1, "2.5") + row(2, "1.5"));
  MetricsFolder runs(folder.path());
  // The new file has the same size and time.
  const auto time = std::filesystem::last_write_time(folder / "metrics.jsonl");
  writeBytes(folder / "metrics.jsonl", row(1, "2.5") + row(2, "3.5"));
  std::filesystem::last_write_time(folder / "metrics.jsonl", time);
  runs.get("state", {});
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"],
            Json::parse("[[1.0, 2.5], [2.0, 3.5]]"));
  // The new file is larger, after a run that was resumed from iteration 1.
  writeBytes(folder / "metrics.jsonl",
             row(1, "2.5") + row(2, "7.5") + row(3, "6.5"));
  runs.get("state", {});
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"],
            Json::parse("[[1.0, 2.5], [2.0, 7.5], [3.0, 6.5]]"));
  EXPECT_EQ(runs.get("state", {})["runs"][0]["iteration"], 3);
}

TEST(MonitorMetricsFolder, SkipsInvalidRows) {
  TempFolder folder;
  std::string rows = "nonsense\n[]\n{\"iteration\":\"x\"}\n"
                     "{\"type\":3,\"iteration\":1}\n"
                     "{\"type\":\"test\",\"iteration\":1,\"outputs\":[]}\n"
                     "{\"type\":\"train\",\"iteration\":1,\"loss\":\"\"}\n";
  // This row is nested too deeply to be copied or printed.
  rows +=
      "{\"type\":\"test\",\"iteration\":1,\"net\":" + std::string(200000, '[') +
      std::string(200000, ']') + "}\n";
  rows += std::string(1, '\0') + "\xff\n" + kRows;
  writeBytes(folder / "metrics.jsonl", rows);
  MetricsFolder runs(folder.path());
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"].size(), 2u);
}

TEST(MonitorMetricsFolder, ServesNoOtherFiles) {
  TempFolder folder;
  std::filesystem::create_directories(folder / "in");
  writeBytes(folder / "metrics.jsonl", kRows);
  MetricsFolder runs(folder / "in");
  EXPECT_TRUE(runs.get("state", {})["runs"].empty());
  for (const char *name : {"..", "../", ".", ""})
    EXPECT_THROW(runs.get("run", {{"name", name}}), HttpError) << name;
  EXPECT_THROW(runs.get("run", {}), HttpError);
  EXPECT_THROW(runs.post("stop", Json::object()), HttpError);
  EXPECT_THROW(MetricsFolder(folder / "none"), brew::api::Error);
}

TEST(MonitorMetricsFolder, SkipsLinesOfGigabytes) {
  TempFolder folder;
  const std::string path = folder / "metrics.jsonl";
  writeBytes(path, kRows);
  std::filesystem::resize_file(path, 64 << 20); // sparse zeros, no line feed
  MetricsFolder runs(folder.path());
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"].size(), 2u);
  std::ofstream(path, std::ios::app)
      << "\n{\"type\":\"train\",\"iteration\":20,\"loss\":1}\n";
  runs.get("state", {});
  EXPECT_EQ(curvesOf(runs, ".")["train.loss"].size(), 3u);
}
