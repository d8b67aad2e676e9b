//===- PrefixLockTest.cpp - Tests of locks of snapshot prefixes -----------===//
#include "runtime/train/snapshots/PrefixLock.h"

#include "test/common/Folder.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace brew;
using runtime::PrefixLock;

namespace {

class PrefixLockTest : public testing::Test {
protected:
  const test::Folder folder;
  const std::string prefix = folder / "snap", lockPath = prefix + ".lock";
};

TEST_F(PrefixLockTest, ChildProcessesDoNotKeepIt) {
  int ready[2], end[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const PrefixLock lock(prefix);
    if (fork() == 0) { // lives until the test ends
      close(end[1]);
      char byte = 'x';
      (void)!write(ready[1], &byte, 1);
      (void)!read(end[0], &byte, 1);
    } else {
      char byte;
      (void)!read(ready[0], &byte, 1);
    }
    _exit(0); // without destructors
  }
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(lockPath));
  EXPECT_NO_THROW(PrefixLock{prefix});
  for (const int fd : {ready[0], ready[1], end[0], end[1]})
    close(fd);
}

TEST_F(PrefixLockTest, AChildProcessDoesNotReleaseIt) {
  const PrefixLock lock(prefix);
  const pid_t child = fork();
  if (child == 0) {
    try {
      const PrefixLock other(prefix);
    } catch (const Error &) {
      _exit(0);
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists(lockPath));
}

TEST_F(PrefixLockTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 1000; ++j)
        EXPECT_NO_THROW(PrefixLock{prefix});
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_FALSE(std::filesystem::exists(lockPath));
}

TEST_F(PrefixLockTest, RelativePathsShareIt) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(prefix).parent_path());
  {
    const PrefixLock first("snap");
    EXPECT_NO_THROW(PrefixLock("snap"));
    EXPECT_NO_THROW(PrefixLock{prefix});
  }
  std::filesystem::current_path(before);
}

TEST_F(PrefixLockTest, KeepsTheFileOfAnotherLock) {
  {
    const PrefixLock lock(prefix);
    std::filesystem::remove(lockPath);
    test::writeBytes(lockPath, "another");
  }
  EXPECT_TRUE(std::filesystem::exists(lockPath));
}

TEST_F(PrefixLockTest, LocksFilesOfOtherUsers) {
  const int fd = open(lockPath.c_str(), O_RDWR | O_CREAT, 0444);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  chmod(std::filesystem::path(lockPath).parent_path().c_str(), 0755);
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0) // of this thread
    setfsuid(kNobody);
  test::expectError(ExitStatus::Unavailable, "another run writes snapshots",
                    [&] { PrefixLock lock(prefix); });
  close(fd);
  EXPECT_NO_THROW(PrefixLock{prefix});
  if (geteuid() == 0)
    setfsuid(0);
}

TEST_F(PrefixLockTest, TriesAgainAfterAFailure) {
  const PrefixLock none(folder / "missing/snap");
  std::filesystem::create_directory(folder / "missing");
  const PrefixLock lock(folder / "missing/snap");
  EXPECT_TRUE(std::filesystem::exists(folder / "missing/snap.lock"));
}

} // namespace
