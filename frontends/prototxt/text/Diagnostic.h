//===- Diagnostic.h - Placed errors, warnings and notes ---------*- C++ -*-===//
//
// What a compilation has to say, from the text to the plan: the front end's
// messages name a file, line and column (1-based; columns count bytes), and
// several may come out of one run, so they are collected rather than thrown.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace brew::prototxt {

/// A location in a text file. Lines and columns count from 1; 0 means unknown,
/// and an empty file that there is no location.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;

  bool isValid() const { return line > 0; }
  /// "FILE:LINE:COL", "FILE" without a line, or nothing.
  std::string str() const;
};

enum class Severity { Error, Warning, Note };

/// Text about a layer, with the layer's name beside it.
struct LayerText {
  std::string layer;
  std::string text; ///< begins "layer 'ip1' (InnerProduct): "

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
  /// The layer it is about, where it is about one.
  std::string layer = {};

  /// Adds a note and returns the diagnostic, for chaining.
  Diagnostic &note(SourceLocation at, std::string noteText);
  /// "FILE:LINE:COL: error: TEXT", then one such line for each note.
  std::string str() const;
};

/// A failure that is no matter of the text, with the location in it that led
/// there.
class LocatedError : public Error {
public:
  LocatedError(ExitStatus status, SourceLocation where, const std::string &text)
      : Error(status, text), location(std::move(where)) {}
  const SourceLocation &where() const { return location; }

private:
  SourceLocation location;
};

/// The diagnostics of one run, in the order in which they were found.
/// References returned by error() and warning() stay valid.
class Diagnostics {
public:
  Diagnostic &error(SourceLocation where, std::string text);
  Diagnostic &warning(SourceLocation where, std::string text);
  Diagnostic &error(SourceLocation where, LayerText about);
  Diagnostic &warning(SourceLocation where, LayerText about);
  /// A copy of one found elsewhere.
  void add(const Diagnostic &diagnostic);

  bool hasErrors() const { return errors != 0; }
  size_t errorCount() const { return errors; }
  size_t size() const { return list.size(); }
  /// Takes one back, that a better one says; ends the others' references.
  void erase(size_t index);
  Diagnostic &at(size_t index) { return list.at(index); }
  const std::deque<Diagnostic> &items() const { return list; }

  /// All diagnostics as text, one line each, every line ended by a newline.
  std::string str() const;
  /// Throws brew::Error (bad input) with the text of all diagnostics if one of
  /// them is an error. For callers that want no collection.
  void throwIfErrors() const;

private:
  std::deque<Diagnostic> list;
  size_t errors = 0;
};

} // namespace brew::prototxt
