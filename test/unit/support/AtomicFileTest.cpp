//===- AtomicFileTest.cpp -------------------------------------------------===//
#include "support/AtomicFile.h"
#include "test/common/TestFiles.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace brew;
using namespace brew::test;

namespace {

TEST(AtomicFile, WritesAndReplaces) {
  TempFolder folder;
  writeFileAtomically(folder / "a", "first");
  EXPECT_EQ(readBytes(folder / "a"), "first");
  std::string large(3 << 20, 'x'); // beyond the buffer
  writeFileAtomically(folder / "a", large);
  EXPECT_EQ(readBytes(folder / "a"), large);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, ChangesNothingWithoutCommit) {
  TempFolder folder;
  writeBytes(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write("new");
    EXPECT_EQ(readBytes(folder / "a"), "old");
  }
  EXPECT_EQ(readBytes(folder / "a"), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, PermissionsFollowTheUmask) {
  TempFolder folder;
  mode_t previousMask = umask(027);
  writeFileAtomically(folder / "a", "x");
  umask(previousMask);
  struct stat info;
  ASSERT_EQ(stat((folder / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(AtomicFile, ReportsMissingFolder) {
  TempFolder folder;
  expectError(ExitStatus::Unavailable, "none/a': No such file",
              [&] { writeFileAtomically(folder / "none/a", "x"); });
}

TEST(AtomicFile, RefusesFolderAsTarget) {
  TempFolder folder;
  expectError(ExitStatus::Unavailable, "Is a directory",
              [&] { writeFileAtomically(folder.path(), "x"); });
}

TEST(AtomicFile, ReportsUnwritableFolder) {
  if (geteuid() == 0)
    GTEST_SKIP() << "root may write anywhere";
  TempFolder folder;
  chmod(folder.path().c_str(), 0500);
  expectError(ExitStatus::Unavailable, "Permission denied",
              [&] { writeFileAtomically(folder / "a", "x"); });
  chmod(folder.path().c_str(), 0700);
}

TEST(AtomicFile, RequireWritableReportsUnwritableTargets) {
  TempFolder folder;
  writeBytes(folder / "a", "old");
  requireWritable(folder / "a");
  requireWritable(folder / "b");
  EXPECT_EQ(readBytes(folder / "a"), "old");
  EXPECT_EQ(folder.entries(), 1u);
  expectError(ExitStatus::Unavailable, "none/a': No such file",
              [&] { requireWritable(folder / "none/a"); });
  expectError(ExitStatus::Unavailable, "a/b': Not a directory",
              [&] { requireWritable(folder / "a/b"); });
  expectError(ExitStatus::Unavailable, "Is a directory",
              [&] { requireWritable(folder.path()); });
  // Opening the pipe would wait for a reader, and end the reader's input.
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  requireWritable(folder / "pipe");
}

TEST(AtomicFile, WritesThroughSymbolicLinks) {
  TempFolder folder;
  writeBytes(folder / "real", "old");
  std::filesystem::create_symlink("real", folder / "link");
  writeFileAtomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(readBytes(folder / "real"), "new");
}

TEST(AtomicFile, DeviceStaysADevice) {
  writeFileAtomically("/dev/null", "x");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AtomicFile, ReportsFullDevice) {
  expectError(ExitStatus::Unavailable,
              "cannot write '/dev/full': No space left on device",
              [] { writeFileAtomically("/dev/full", "x"); });
}

// A file size limit simulates a full disk: writes fail in the middle of a file.
TEST(AtomicFile, ShortWriteLeavesTheOldFile) {
  TempFolder folder;
  writeBytes(folder / "a", "old");
  auto previousHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit previous, limit;
  getrlimit(RLIMIT_FSIZE, &previous);
  limit = previous;
  limit.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string caught;
  try {
    writeFileAtomically(folder / "a", std::string(2 << 20, 'x'));
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), ExitStatus::Unavailable);
    caught = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &previous);
  std::signal(SIGXFSZ, previousHandler);
  EXPECT_NE(caught.find("File too large"), std::string::npos) << caught;
  EXPECT_EQ(readBytes(folder / "a"), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

// A child rewrites the file repeatedly until it is killed. The file must always
// be a complete version.
TEST(AtomicFile, KillLeavesACompleteFile) {
  TempFolder folder;
  auto version = [](int i) {
    return std::string(400000, static_cast<char>('a' + i % 26));
  };
  for (int round = 0; round < 15; ++round) {
    writeFileAtomically(folder / "a", version(0));
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 1;; ++i)
        writeFileAtomically(folder / "a", version(i));
    }
    usleep(static_cast<useconds_t>(500 + 1700 * round));
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    std::string bytes = readBytes(folder / "a");
    ASSERT_EQ(bytes.size(), 400000u);
    EXPECT_EQ(bytes.find_first_not_of(bytes[0]), std::string::npos);
  }
}

} // namespace
