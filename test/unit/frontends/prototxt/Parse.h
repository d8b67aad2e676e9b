//===- Parse.h - Helpers of the prototxt tests ------------------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/Programs.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace brew::prototxt {

/// A parsed text with its diagnostics.
struct Parsed {
  Diagnostics diagnostics;
  PrototxtFile file;
};

inline Parsed parseText(const std::string &text,
                        std::optional<FileKind> kind = std::nullopt) {
  Parsed result;
  result.file = parsePrototxt(text, "f.prototxt", result.diagnostics, kind);
  return result;
}

/// Returns all diagnostics of a text, including diagnostics of upgrades and
/// checks.
inline std::string diagnosticsOf(const std::string &text,
                                 std::optional<FileKind> kind = std::nullopt) {
  Parsed parsed = parseText(text, kind);
  if (parsed.file.kind == FileKind::Net)
    NetDocument::fromParsed(std::move(parsed.file), parsed.diagnostics);
  else
    SolverDocument::fromParsed(std::move(parsed.file), parsed.diagnostics);
  return parsed.diagnostics.str();
}

inline std::shared_ptr<const NetDocument> netOf(const std::string &text,
                                                Diagnostics &diagnostics) {
  return NetDocument::fromParsed(
      parsePrototxt(text, "f.prototxt", diagnostics, FileKind::Net),
      diagnostics);
}

/// A folder that is removed at the end of the test.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "prototxtXXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &text) const {
    std::filesystem::create_directories(
        std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

private:
  std::string folder;
};

} // namespace brew::prototxt
