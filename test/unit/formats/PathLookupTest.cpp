//===- PathLookupTest.cpp -------------------------------------------------===//
#include "formats/PathLookup.h"
#include "test/common/TestFiles.h"

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

/// Changes the working folder until the end of the scope.
struct WorkingFolder {
  explicit WorkingFolder(const std::string &folder)
      : previous(std::filesystem::current_path()) {
    std::filesystem::current_path(folder);
  }
  ~WorkingFolder() { std::filesystem::current_path(previous); }
  std::filesystem::path previous;
};

TEST(PathLookup, SearchesWorkingFolderThenOthersInOrder) {
  TempFolder folder;
  for (const char *name : {"cwd", "one", "two"})
    std::filesystem::create_directory(folder / name);
  WorkingFolder here(folder / "cwd");
  std::vector<std::string> folders{"", folder / "one", folder / "two"};
  EXPECT_EQ(findPath("f", folders), std::nullopt);
  writeBytes(folder / "two/f", "");
  EXPECT_EQ(findPath("f", folders), folder / "two/f");
  writeBytes(folder / "one/f", "");
  EXPECT_EQ(findPath("f", folders), folder / "one/f");
  writeBytes(folder / "cwd/f", "");
  EXPECT_EQ(findPath("f", folders), "f");
  EXPECT_EQ(requirePath("f", folders, "net"), "f");
}

TEST(PathLookup, FindsFoldersButNotMissingOrEmptyPaths) {
  TempFolder folder;
  EXPECT_EQ(findPath(folder.path(), {}), folder.path()); // a folder is found
  EXPECT_EQ(findPath(folder / "none", {folder.path()}), std::nullopt);
  EXPECT_EQ(findPath("", {folder.path()}), std::nullopt);
}

TEST(PathLookup, AbsolutePathsAreNormalized) {
  const std::string absolute = absolutePath("a");
  EXPECT_EQ(absolute[0], '/');
  for (const char *name : {"./a", "a/", "b/../a", "./a/./"})
    EXPECT_EQ(absolutePath(name), absolute) << name;
  EXPECT_NE(absolutePath("b"), absolute);
  EXPECT_EQ(absolutePath("/"), "/");
}

TEST(PathLookup, ErrorNamesTheSearchedFolders) {
  TempFolder folder;
  WorkingFolder here(folder.path());
  expectError(
      ExitStatus::Unavailable,
      "mean file 'm.binaryproto' not found; looked for " +
          std::filesystem::current_path().string() +
          "/m.binaryproto, /nets/m.binaryproto",
      [&] {
        requirePath("m.binaryproto", {folder.path(), "/nets"}, "mean file");
      });
  expectError(ExitStatus::BadInput, "empty",
              [&] { requirePath("", {}, "mean file"); });
}

TEST(PathLookup, FolderOfFileDropsTheFileName) {
  EXPECT_EQ(folderOfFile("a/b.prototxt"), "a");
  EXPECT_EQ(folderOfFile("b.prototxt"), "");
}

} // namespace
