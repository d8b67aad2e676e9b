//===- BoundedLine.h - Lines of bounded memory ------------------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>

namespace brew {

/// A line of a file that may be damaged: of gigabytes, for example.
struct BoundedLine {
  /// The line without its line feed. Contains only the last kTailBytes bytes if
  /// the line is too long.
  std::string text;
  std::uint64_t bytes = 0; ///< read from the file
  bool isTooLong = false;
  bool isComplete = false; ///< the file does not end before the line does

  static constexpr std::size_t kTailBytes = 4096;
};

/// Reads the next line. A line of more than `maxBytes` bytes is too long.
/// Returns false at the end of the file and after an error.
bool readBoundedLine(std::istream &file, std::size_t maxBytes,
                     BoundedLine &line);

} // namespace brew
