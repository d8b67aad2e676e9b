//===- LauncherOutputFilter.h - What Open MPI's launcher says ----------*- C++ -*-===//
#pragma once

#include <string>

namespace brew::run {

/// Tells the launcher's own words from what ranks write, line by line: pages
/// between two rules, of which one sentence matters at most.
class LauncherOutputFilter {
public:
  /// What to show for a line (without its end): the line itself if a rank has
  /// written it, an error that names the rank which has ended, or nothing: "".
  /// `isFromRank` tells which.
  std::string take(const std::string &line, bool &isFromRank);

private:
  bool inPage = false;
  std::string rank;  ///< of this page
  bool errorReported = false; ///< a rank has errorReported an error
};

} // namespace brew::run
