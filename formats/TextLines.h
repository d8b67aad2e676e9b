//===- TextLines.h - Text files of one entry a line -------------*- C++ -*-===//
//
// What the readers of lists have in common: lines with their numbers, their
// words, and the message about a line of another form.
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

/// All lines of a file. `form` says for messages what a line looks like, such
/// as "FILE LABEL"; `where` as readFileBytes() takes it. Error(3): the file
/// cannot be read; Error(1): it holds zero bytes, so is no text.
std::vector<TextLine> readTextLines(const std::string &path,
                                    const std::string &form,
                                    const std::string &where = "");

/// A line's words, which white space separates.
std::vector<std::string> wordsOf(std::string_view text);

/// "PATH:LINE", for messages.
std::string lineLocation(const std::string &path, size_t line);

/// Error(1) for a line that is not of that form.
Error malformedLine(const std::string &path, const TextLine &line,
                const std::string &form);

} // namespace brew::formats
