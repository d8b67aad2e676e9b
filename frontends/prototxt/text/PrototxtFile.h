//===- PrototxtFile.h - One prototxt file, read and parsed ------*- C++ -*-===//
//
// Reads a prototxt, decides whether it holds a solver or a net, and parses it.
// What comes out is the text's own content: nothing upgraded or filtered.
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

/// A parsed file. The message is at a fixed address, which `locations` refers
/// to.
struct PrototxtFile {
  FileKind kind = FileKind::Net;
  std::shared_ptr<SourceMap> locations;
  std::unique_ptr<caffe::NetParameter> net;       ///< set if kind is Net
  std::unique_ptr<caffe::SolverParameter> solver; ///< set if kind is Solver
  /// The text had no error.
  bool complete = false;
  /// The text was read to its end: errors, if any, were of single fields, and
  /// the rest of the content is there.
  bool reachedEnd = false;
};

/// A text to compile, from a file or from memory.
struct SourceText {
  std::string text;
  std::string name;   ///< shown in diagnostics; a file's path
  std::string folder; ///< where files that it names are looked for

  /// What a file holds. Throws as readTextFile() does.
  static SourceText ofFile(const std::string &path);
};

/// The content of a text file. Throws brew::Error: status 3 if the file is not
/// there or cannot be read, 1 if it is a directory or too large.
std::string readTextFile(const std::string &path);

/// Which kind of file `text` is, by the fields at its top level; damaged text
/// gets the likelier kind. An empty text is a net, as it is to Caffe.
FileKind detectKind(const std::string &text);

/// Parses a text. With `expected`, a file that is clearly of the other kind is
/// one error that says so. `hostTypes` are layer types that the program
/// computes itself.
PrototxtFile parsePrototxt(const SourceText &source, Diagnostics &diagnostics,
                           std::optional<FileKind> expected = std::nullopt,
                           const std::set<std::string> &hostTypes = {});
/// The same for the text of file `file`.
PrototxtFile parsePrototxt(const std::string &text, const std::string &file,
                           Diagnostics &diagnostics,
                           std::optional<FileKind> expected = std::nullopt);

/// readTextFile() and parsePrototxt().
PrototxtFile readPrototxt(const std::string &path, Diagnostics &diagnostics,
                          std::optional<FileKind> expected = std::nullopt,
                          const std::set<std::string> &hostTypes = {});

} // namespace brew::prototxt
