//===- Diagnostic.h - Errors, warnings and notes with locations -*- C++ -*-===//
//
// Diagnostics of a compilation, from parsing to the plan. They are collected
// rather than thrown, since a compilation may report several. Locations consist
// of file, line and column (1-based; columns count bytes).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace brew::prototxt {

/// A location in a text file. Lines and columns count from 1; 0 means unknown.
/// An empty file name means that there is no location.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;

  bool isValid() const { return line > 0; }
  /// Returns "FILE:LINE:COL", "FILE" without a line, or "".
  std::string str() const;
};

enum class Severity { Error, Warning, Note };

/// Text about a layer, with the layer's name.
struct LayerText {
  std::string layer;
  std::string text; ///< begins with "layer 'ip1' (InnerProduct): "

  /// `type` may be empty.
  LayerText(std::string layer, const std::string &type);
  LayerText() = default;

  friend LayerText operator+(LayerText left, const std::string &right) {
    left.text += right;
    return left;
  }
};

/// A second location that explains a diagnostic.
struct Note {
  SourceLocation where;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLocation where;
  std::string text;
  std::vector<Note> notes = {};
  /// The layer that the diagnostic is about, or empty.
  std::string layer = {};
  /// The unknown layer type that the error is about, or empty.
  std::string unknownType = {};
  /// The exit status of the tool if this is the first error.
  ExitStatus status = ExitStatus::BadInput;

  /// Adds a note and returns the diagnostic, for chaining.
  Diagnostic &note(SourceLocation noteLocation, std::string noteText);
  /// Returns "FILE:LINE:COL: error: TEXT", and a line for each note.
  std::string str() const;
};

/// A failure whose cause is not in the text, such as a missing file, with the
/// location in the text that led to it.
class LocatedError : public Error {
public:
  LocatedError(ExitStatus status, SourceLocation where, const std::string &text)
      : Error(status, text), location(std::move(where)) {}
  const SourceLocation &where() const { return location; }

private:
  SourceLocation location;
};

/// The diagnostics of one compilation, in order. References returned by error()
/// and warning() stay valid.
class Diagnostics {
public:
  Diagnostic &error(SourceLocation where, std::string text);
  Diagnostic &warning(SourceLocation where, std::string text);
  Diagnostic &error(SourceLocation where, LayerText message);
  Diagnostic &warning(SourceLocation where, LayerText message);
  /// Adds a copy of a diagnostic.
  void add(const Diagnostic &diagnostic);

  bool hasErrors() const { return errors != 0; }
  size_t errorCount() const { return errors; }
  /// Returns the status of the first error, or Success.
  ExitStatus exitStatus() const;
  size_t size() const { return list.size(); }
  /// Removes a diagnostic that a better one replaces. Invalidates references.
  void erase(size_t index);
  Diagnostic &at(size_t index) { return list.at(index); }
  const std::deque<Diagnostic> &items() const { return list; }

  /// Returns all diagnostics as text. Every line ends with a newline.
  std::string str() const;
  /// Throws brew::Error (bad input) with the text of all diagnostics if one of
  /// them is an error.
  void throwIfErrors() const;

private:
  std::deque<Diagnostic> list;
  size_t errors = 0;
};

} // namespace brew::prototxt
