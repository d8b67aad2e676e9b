//===- LauncherOutputFilter.h - Filter of launcher output -------*- C++ -*-===//
#pragma once

#include <string>

namespace brew::run {

/// Separates the launcher's own messages from the output of ranks, line by
/// line. The launcher prints blocks between two rules; at most one sentence of
/// a block is relevant.
class LauncherOutputFilter {
public:
  /// Returns the text to show for a line (without its newline): the line itself
  /// if a rank wrote it (sets `isFromRank`), an error that names the rank that
  /// ended, or "".
  std::string take(const std::string &line, bool &isFromRank);

private:
  bool inBlock = false;
  std::string rank;           ///< named in this block
  bool errorReported = false; ///< a rank has reported an error
};

} // namespace brew::run
