//===- LauncherOutputFilter.cpp - Filter of launcher output ---------------===//

#include "LauncherOutputFilter.h"

#include <algorithm>
#include <cstring>

namespace brew::run {
namespace {

/// Length of the rules above and below a block.
constexpr std::size_t kRule = 74;

/// Prefix of a rank's final error.
constexpr char kError[] = "brew-run: error: ";

/// Returns the text between two others in `line`, or "".
std::string between(const std::string &line, const char *before,
                    const char *after) {
  const std::size_t begin = line.find(before);
  if (begin == line.npos)
    return "";
  const std::size_t first = begin + std::strlen(before);
  const std::size_t end = *after ? line.find(after, first) : line.size();
  return end == line.npos ? "" : line.substr(first, end - first);
}

} // namespace

std::string LauncherOutputFilter::take(const std::string &line,
                                       bool &isFromRank) {
  isFromRank = false;
  const std::string rule(kRule, '-');
  if (line == rule) {
    inPage = !inPage;
    rank.clear();
    return "";
  }
  // The rule may follow an incomplete line of a killed rank.
  if (const std::size_t begin = line.size() - std::min(line.size(), kRule);
      !inPage && begin > 0 && line[begin - 1] != '-' &&
      line.compare(begin, line.npos, rule) == 0) {
    const std::string text = take(line.substr(0, begin), isFromRank);
    inPage = true;
    rank.clear();
    return text;
  }
  if (!inPage) {
    // The launcher's internal message when it kills all ranks.
    if (line.find("] ORTE_ERROR_LOG: ") != line.npos)
      return "";
    isFromRank = true;
    errorReported |= line.rfind(kError, 0) == 0;
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
  // A rank that ends with an error has already reported it, alone or for all.
  if (!status.empty() && !rank.empty() && !errorReported)
    return "rank " + rank + " ended with status " + status;
  return "";
}

} // namespace brew::run
