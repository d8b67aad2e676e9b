//===- Diagnostic.h - Placed errors, warnings and notes ---------*- C++ -*-===//
//
// What the text front end has to say about a prototxt: every message names a
// file, line and column (1-based; columns count bytes), and several may come
// out of one run, so they are collected rather than thrown.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace brew::prototxt {

/// A place in a text file. Lines and columns count from 1; 0 means unknown.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;

  bool isValid() const { return line > 0; }
  /// "FILE:LINE:COL".
  std::string str() const;
};

enum class Severity { Error, Warning };

/// A second place that explains a diagnostic.
struct Note {
  SourceLocation where;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLocation where;
  std::string text;
  std::vector<Note> notes;

  /// Adds a note and returns the diagnostic, for chaining.
  Diagnostic &note(SourceLocation at, std::string noteText);
  /// "FILE:LINE:COL: error: TEXT", then one such line for each note.
  std::string str() const;
};

/// The diagnostics of one run, in the order in which they were found.
/// References returned by error() and warning() stay valid.
class Diagnostics {
public:
  Diagnostic &error(SourceLocation where, std::string text);
  Diagnostic &warning(SourceLocation where, std::string text);

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
