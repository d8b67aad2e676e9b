//===- TestFiles.h - Folders and files for tests ----------------*- C++ -*-===//
#pragma once

#include "support/Error.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <unistd.h>

namespace brew::test {

/// A new folder, removed with its contents.
class TempFolder {
public:
  TempFolder() {
    std::string pattern = testing::TempDir() + "brew-formats-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
  }
  std::string operator/(const std::string &name) const {
    return folder + "/" + name;
  }
  const std::string &path() const { return folder; }
  /// Returns the number of entries of the folder, to detect leftover files.
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder),
                      std::filesystem::directory_iterator()));
  }

private:
  std::string folder;
};

inline std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Overwrites a file in place: some file systems flush a truncated file, which
/// makes thousands of damaged versions slow.
inline void writeBytes(const std::string &path, const std::string &bytes) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_GE(fd, 0) << path;
  EXPECT_EQ(write(fd, bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(ftruncate(fd, static_cast<off_t>(bytes.size())), 0);
  close(fd);
}

/// Returns the path of a file of the repository that Caffe recorded.
inline std::string referencePath(const std::string &name) {
  return std::string(BREW_REFERENCE_DIR) + "/" + name;
}

/// Returns the path of a recorded file, or "" if it is absent.
inline std::string sharedPath(const std::string &name) {
  const char *folder = std::getenv("BREW_SHARED_DIR");
  std::string path =
      std::string(folder ? folder : BREW_SHARED_DIR) + "/" + name;
  return std::filesystem::exists(path) ? path : "";
}

/// Runs `action`, which must throw an Error of `status` whose text contains
/// `message`.
inline void expectError(ExitStatus status, const std::string &message,
                        const std::function<void()> &action) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one with: " << message;
  } catch (const Error &error) {
    EXPECT_EQ(static_cast<int>(error.status()), static_cast<int>(status))
        << error.what();
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos)
        << error.what() << "\nlacks: " << message;
  }
}

/// Runs `action` on damaged input, which must succeed (not every bit matters)
/// or throw an Error of status BadInput. Returns whether it threw.
inline bool refusedAsBadInput(const std::function<void()> &action) {
  try {
    action();
    return false;
  } catch (const Error &error) {
    EXPECT_EQ(static_cast<int>(error.status()),
              static_cast<int>(ExitStatus::BadInput))
        << error.what();
    return true;
  }
}

} // namespace brew::test

#define SKIP_WITHOUT(path)                                                     \
  if ((path).empty())                                                          \
  GTEST_SKIP() << "recorded data absent (BREW_SHARED_DIR)"
