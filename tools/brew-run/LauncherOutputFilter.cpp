//===- LauncherOutputFilter.cpp - Filter of launcher output ---------------===//

#include "LauncherOutputFilter.h"

#include <algorithm>
#include <cstring>

namespace brew::run {
namespace {

/// Length of the rules above and below a block.
constexpr std::size_t kRuleLength = 74;

/// Returns the text of `line` between `before` and `after`, or after `before`
/// if `after` is empty. Returns "" if one of them is missing.
std::string between(const std::string &line, const char *before,
                    const char *after) {
  const std::size_t begin = line.find(before);
  if (begin == line.npos)
    return "";
  const std::size_t first = begin + std::strlen(before);
  const std::size_t end = *after ? line.find(after, first) : line.size();
  return end == line.npos ? "" : line.substr(first, end - first);
}

/// Returns whether a line is a rank's final error: "brew-run: error: ..." or,
/// if another command runs it, "caffe: error: ...".
bool isError(const std::string &line) {
  const std::size_t nameEnd = line.find(": error: ");
  return nameEnd != line.npos && line.find(' ') == nameEnd + 1;
}

} // namespace

std::string LauncherOutputFilter::take(const std::string &line,
                                       bool &isFromRank) {
  isFromRank = false;
  const std::string rule(kRuleLength, '-');
  if (line == rule) {
    inBlock = !inBlock;
    rank.clear();
    return "";
  }
  // The rule may follow an incomplete line of a killed rank.
  if (const std::size_t begin =
          line.size() - std::min(line.size(), kRuleLength);
      !inBlock && begin > 0 && line[begin - 1] != '-' &&
      line.compare(begin, line.npos, rule) == 0) {
    const std::string text = take(line.substr(0, begin), isFromRank);
    inBlock = true;
    rank.clear();
    return text;
  }
  if (!inBlock) {
    // The launcher's internal message when it kills all ranks.
    if (line.find("] ORTE_ERROR_LOG: ") != line.npos)
      return "";
    isFromRank = true;
    errorReported |= isError(line);
    return line;
  }
  // "mpirun noticed that process rank 1 with PID 0 on node n exited on signal 9
  // (Killed)."
  const std::string killed = between(line, "noticed that process rank ", " ");
  const std::string signal = between(line, "exited on signal ", ".");
  if (!killed.empty() && !signal.empty())
    return "rank " + killed + " was ended by signal " + signal;
  // "Process name: [[44343,1],1]", then "Exit code:    5".
  if (const std::string name = between(line, "Process name: [[", "]");
      !name.empty())
    rank = between(line, "],", "]");
  std::string status = between(line, "Exit code:", "");
  status.erase(0, status.find_first_not_of(' '));
  // A rank that fails usually reports its error itself, before it ends.
  if (!status.empty() && !rank.empty() && !errorReported)
    return "rank " + rank + " ended with status " + status;
  return "";
}

} // namespace brew::run
