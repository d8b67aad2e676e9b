//===- UrlFile.h - Private file with the URL of a page ----------*- C++ -*-===//
#pragma once

#include <string>

namespace brew::monitor {

/// A file that only this user can read, in $XDG_RUNTIME_DIR or else the folder
/// for temporary files. The destructor removes it.
class UrlFile {
public:
  /// Throws Error (3) if the file cannot be written.
  explicit UrlFile(const std::string &url);
  ~UrlFile();
  UrlFile(const UrlFile &) = delete;
  UrlFile &operator=(const UrlFile &) = delete;

  const std::string &path() const { return name; }

private:
  std::string name;
};

} // namespace brew::monitor
