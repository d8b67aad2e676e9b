//===- Folder.h - A folder removed at the end of its test -------*- C++ -*-===//
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace brew::test {

struct Folder {
  Folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "brewXXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  std::string operator/(const std::string &name) const {
    return (path / name).string();
  }
  std::filesystem::path path;
};

} // namespace brew::test
