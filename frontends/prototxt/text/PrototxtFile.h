//===- PrototxtFile.h - A parsed prototxt file ------------------*- C++ -*-===//
//
// Reads a prototxt, determines whether it is a solver or a net, and parses it,
// without upgrading or filtering.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/caffe.pb.h"
#include "frontends/prototxt/text/SourceMap.h"

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace brew::prototxt {

enum class FileKind { Net, Solver };

/// A parsed file. `locations` refers to the message by its address.
struct PrototxtFile {
  FileKind kind = FileKind::Net;
  std::shared_ptr<SourceMap> locations;
  std::unique_ptr<caffe::NetParameter> net;       ///< set if kind is Net
  std::unique_ptr<caffe::SolverParameter> solver; ///< set if kind is Solver
  /// The text had no error.
  bool complete = false;
  /// The text was parsed to its end. All errors, if any, concern single fields;
  /// the other fields are present.
  bool reachedEnd = false;
};

/// A text to compile, from a file or from memory.
struct SourceText {
  std::string text;
  std::string name;   ///< shown in diagnostics; a file's path
  std::string folder; ///< for the lookup of files that the text names

  /// Reads a file. Throws as readTextFile() does.
  static SourceText ofFile(const std::string &path);
};

/// Returns the content of a text file. Throws brew::Error: status 3 if the file
/// does not exist or cannot be read, 1 if it is a directory or too large.
std::string readTextFile(const std::string &path);

/// Returns the kind of the file with the content `text`, judged by the fields
/// at its top level; for damaged text, the more likely kind. An empty text is a
/// net, as in Caffe.
FileKind detectKind(const std::string &text);

/// Parses a text. With `expected`, reports a single error for a file that is
/// clearly of the other kind. `hostTypes` are layer types that the host program
/// computes.
PrototxtFile parsePrototxt(const SourceText &source, Diagnostics &diagnostics,
                           std::optional<FileKind> expected = std::nullopt,
                           const std::set<std::string> &hostTypes = {});
/// Parses the text of file `file`.
PrototxtFile parsePrototxt(const std::string &text, const std::string &file,
                           Diagnostics &diagnostics,
                           std::optional<FileKind> expected = std::nullopt);

/// Reads and parses a file.
PrototxtFile readPrototxt(const std::string &path, Diagnostics &diagnostics,
                          std::optional<FileKind> expected = std::nullopt,
                          const std::set<std::string> &hostTypes = {});

} // namespace brew::prototxt
