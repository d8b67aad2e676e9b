//===- FileInputTest.cpp - Pipes, damaged lines, unfinished files ---------===//
#include "support/BoundedLine.h"
#include "support/Error.h"
#include "support/RegularFile.h"
#include "support/TemporaryName.h"
#include "test/common/Folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

using namespace brew;

TEST(RegularFile, RefusesPipesAndDevices) {
  const test::Folder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(refuseSpecialFile(pipe), Error);
  EXPECT_THROW(refuseSpecialFile("/dev/zero"), Error);
  std::ofstream(folder / "file") << "text";
  for (const std::string &path : {folder / "file", folder / "missing",
                                  folder / "", std::string("/dev/stdin")})
    EXPECT_NO_THROW(refuseSpecialFile(path)) << path;
}

TEST(BoundedLine, KeepsOnlyTheEndOfLongLines) {
  const std::string longLine(100000, 'x');
  std::istringstream file("first\n\n" + longLine + "yz\nlast\nrest");
  BoundedLine line;
  ASSERT_TRUE(readBoundedLine(file, 50000, line));
  EXPECT_EQ(line.text, "first");
  EXPECT_EQ(line.bytes, 6u);
  ASSERT_TRUE(readBoundedLine(file, 50000, line));
  EXPECT_TRUE(line.isComplete && line.text.empty());
  ASSERT_TRUE(readBoundedLine(file, 50000, line));
  EXPECT_TRUE(line.isTooLong && line.isComplete);
  EXPECT_EQ(line.bytes, longLine.size() + 3);
  EXPECT_EQ(line.text, longLine.substr(0, BoundedLine::kTailBytes - 2) + "yz");
  ASSERT_TRUE(readBoundedLine(file, 50000, line));
  EXPECT_EQ(line.text, "last");
  ASSERT_TRUE(readBoundedLine(file, 50000, line));
  EXPECT_FALSE(line.isComplete);
  EXPECT_EQ(line.text, "rest");
  EXPECT_FALSE(readBoundedLine(file, 50000, line));
}

TEST(TemporaryName, TellsWhetherItsWriterRuns) {
  const test::Folder folder;
  const std::string name = temporaryName(folder / "x");
  EXPECT_NE(name, temporaryName(folder / "x"));
  EXPECT_FALSE(isAbandoned(name));
  EXPECT_FALSE(isAbandoned(folder / "x"));
  // A later process of the same number has started at another time.
  const std::size_t end = name.rfind('-'), begin = name.rfind('-', end - 1) + 1;
  std::string earlier = name;
  earlier.replace(begin, end - begin, "1");
  EXPECT_TRUE(isAbandoned(earlier));
  // Machines have namespaces of the same number.
  struct stat info;
  ASSERT_EQ(stat("/proc/self/ns/pid", &info), 0);
  EXPECT_EQ(name.find("-" + std::to_string(info.st_ino) + "-"), name.npos);
}

TEST(TemporaryName, EndsWithACompleteWriter) {
  const test::Folder folder;
  const std::string parent = folder / "run.tmp-gone-1-2-3-4";
  std::filesystem::create_directory(parent);
  for (const char *name : {"snap_iter_1.caffemodel", "x.tmp-gone-1-2-3",
                           "x.tmp-gone-1-2-3-4_iter_1.solverstate",
                           "x.tmp-aB3d_iter_1.solverstate"}) {
    const std::string path = parent + "/" + name;
    std::ofstream(path) << "complete";
    std::filesystem::last_write_time(
        path,
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(50));
    EXPECT_FALSE(isAbandoned(path)) << path;
  }
}
