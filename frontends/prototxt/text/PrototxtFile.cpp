//===- PrototxtFile.cpp - A parsed prototxt file --------------------------===//

#include "frontends/prototxt/text/PrototxtFile.h"

#include "formats/ExpectedFile.h"
#include "formats/PathLookup.h"
#include "frontends/prototxt/text/TextParser.h"
#include "frontends/prototxt/text/TopLevelScan.h"
#include "support/Error.h"
#include "support/RegularFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace brew::prototxt {

namespace fs = std::filesystem;

namespace {

/// Maximum size of a text: protobuf's tokenizer counts in int.
constexpr uintmax_t kMaxTextBytes = std::numeric_limits<int>::max();

/// Returns the problem of a file that is no prototxt but looks like text, or
/// "".
std::string foreignTextProblem(const std::string &text,
                               const std::string &file) {
  const bool looksForeign =
      text.compare(0, 1, "<") == 0 || text.compare(0, 12, "version http") == 0;
  return looksForeign ? formats::otherKindText(file, formats::prototxtFile())
                      : "";
}

/// Returns the offset of a zero byte near the start of the text, or nullopt.
/// Only weights and other binary files contain zero bytes.
std::optional<size_t> findBinaryByte(const std::string &text) {
  constexpr size_t kSearchedBytes = 4096;
  size_t found = text.substr(0, kSearchedBytes).find('\0');
  return found == std::string::npos ? std::nullopt
                                    : std::optional<size_t>(found);
}

SourceLocation locateOffset(const std::string &text, const std::string &file,
                            size_t offset) {
  SourceLocation location{file, 1, 1};
  size_t lineStart = 0;
  for (size_t i = 0; i < offset; ++i)
    if (text[i] == '\n') {
      ++location.line;
      lineStart = i + 1;
    }
  location.column = static_cast<int>(offset - lineStart) + 1;
  return location;
}

const char *kindName(FileKind kind) {
  return kind == FileKind::Net ? "a net" : "a solver";
}

} // namespace

std::string readTextFile(const std::string &path) {
  std::error_code ignoredError;
  if (fs::is_directory(path, ignoredError))
    throw badInput(path + ": is a directory, not a prototxt file");
  refuseSpecialFile(path);
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw unavailable(path + ": cannot open the file: " +
                      (errno ? std::strerror(errno) : "unknown reason"));
  std::string text;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(stream.gcount()));
    if (text.size() > kMaxTextBytes)
      throw badInput(path + ": is larger than 2 GiB, too large for a prototxt");
  }
  if (stream.bad())
    throw unavailable(path + ": cannot read the file");
  return text;
}

FileKind detectKind(const std::string &text) { return scanTopLevel(text).kind; }

SourceText SourceText::ofFile(const std::string &path) {
  return {readTextFile(path), path, formats::folderOfFile(path)};
}

PrototxtFile parsePrototxt(const std::string &text, const std::string &file,
                           Diagnostics &diagnostics,
                           std::optional<FileKind> expected) {
  return parsePrototxt({text, file, formats::folderOfFile(file)}, diagnostics,
                       expected);
}

PrototxtFile parsePrototxt(const SourceText &source, Diagnostics &diagnostics,
                           std::optional<FileKind> expected,
                           const std::set<std::string> &hostTypes) {
  const std::string &text = source.text, &file = source.name;
  PrototxtFile result;
  result.locations = std::make_shared<SourceMap>(file, source.folder);
  result.locations->setText(text);
  result.kind = expected.value_or(FileKind::Net);
  bool canParse = true;
  if (std::optional<size_t> binary = findBinaryByte(text)) {
    const std::string problem =
        formats::otherKindText(file, formats::prototxtFile());
    diagnostics.error(locateOffset(text, file, *binary),
                      problem.empty()
                          ? "this is a binary file, not a prototxt (weights "
                            "are given with --weights)"
                          : "this file " + problem);
    canParse = false;
  } else if (const std::string problem = foreignTextProblem(text, file);
             !problem.empty()) {
    diagnostics.error({file, 1, 1}, "this file " + problem);
    canParse = false;
  } else {
    TopLevelScan scan = scanTopLevel(text);
    if (expected && scan.evidence && scan.kind != *expected) {
      diagnostics.error({file, scan.evidence->line, scan.evidence->column},
                        "this file is " + std::string(kindName(scan.kind)) +
                            " (it has '" + scan.evidenceName + "'); " +
                            kindName(*expected) + " is needed here");
      canParse = false;
    } else if (!expected) {
      result.kind = scan.kind;
    }
  }
  google::protobuf::Message *root;
  if (result.kind == FileKind::Net) {
    result.net = std::make_unique<caffe::NetParameter>();
    root = result.net.get();
  } else {
    result.solver = std::make_unique<caffe::SolverParameter>();
    root = result.solver.get();
  }
  if (canParse) {
    TextParser parser(text, *result.locations, diagnostics, hostTypes);
    result.complete = parser.parse(*root);
    result.reachedEnd = parser.reachedEnd();
  }
  return result;
}

PrototxtFile readPrototxt(const std::string &path, Diagnostics &diagnostics,
                          std::optional<FileKind> expected,
                          const std::set<std::string> &hostTypes) {
  return parsePrototxt(SourceText::ofFile(path), diagnostics, expected,
                       hostTypes);
}

} // namespace brew::prototxt
