//===- TextLines.h - Text files with one entry a line -----------*- C++ -*-===//
//
// Common functions of the readers of lists: numbered lines, their words, and
// the error for a malformed line.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "support/Error.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace brew::formats {

struct TextLine {
  std::string text;
  size_t number = 0; ///< from 1
};

/// Returns all lines of a file. `lineFormat` describes a line in messages, such
/// as "FILE LABEL"; `where` is as in readFileBytes(). Throws Error(3) if the
/// file cannot be read, Error(1) if it contains zero bytes and thus is not
/// text.
std::vector<TextLine> readTextLines(const std::string &path,
                                    const std::string &lineFormat,
                                    const std::string &where = "");

/// Returns the words of a line, separated by white space.
std::vector<std::string> wordsOf(std::string_view text);

/// Returns "PATH:LINE", for messages.
std::string lineLocation(const std::string &path, size_t line);

/// Returns the Error(1) for a line that does not have the format.
Error malformedLine(const std::string &path, const TextLine &line,
                    const std::string &lineFormat);

} // namespace brew::formats
