//===- LauncherOutputFilterTest.cpp - Tests of the output filter ----------===//
#include "LauncherOutputFilter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using brew::run::LauncherOutputFilter;

namespace {

/// Returns the text that the filter shows. Lines of ranks have the prefix "> ".
std::vector<std::string> filterLines(const std::vector<std::string> &lines) {
  LauncherOutputFilter outputFilter;
  std::vector<std::string> result;
  for (const std::string &line : lines) {
    bool isFromRank = false;
    const std::string text = outputFilter.take(line, isFromRank);
    if (isFromRank || !text.empty())
      result.push_back((isFromRank ? "> " : "") + text);
  }
  return result;
}

const std::string rule(74, '-');
using Lines = std::vector<std::string>;

} // namespace

TEST(LauncherOutputFilterTest, PreservesOutputOfRanks) {
  EXPECT_EQ(filterLines({"a", "---", "[n:7] [[1,0],0] ORTE_ERROR_LOG: No", ""}),
            (Lines{"> a", "> ---", "> "}));
}

TEST(LauncherOutputFilterTest, ReportsKilledRank) {
  EXPECT_EQ(
      filterLines(
          {"before", rule,
           "Primary job  terminated normally, but 1 process returned", rule,
           rule,
           "mpirun noticed that process rank 1 with PID 0 on node n exited "
           "on signal 9 (Killed).",
           rule, "behind"}),
      (Lines{"> before", "rank 1 was ended by signal 9 (Killed)", "> behind"}));
}

TEST(LauncherOutputFilterTest, ReportsExitedRank) {
  EXPECT_EQ(filterLines(
                {rule, "mpirun detected that one or more processes exited", "",
                 "  Process name: [[44343,1],2]", "  Exit code:    5", rule}),
            (Lines{"rank 2 ended with status 5"}));
}

TEST(LauncherOutputFilterTest, ReportsAnErrorOnce) {
  EXPECT_EQ(
      filterLines({"brew-run: error: nothing works", rule,
                   "mpirun detected that one or more processes exited", "",
                   "  Process name: [[44343,1],1]", "  Exit code:    1", rule}),
      (Lines{"> brew-run: error: nothing works"}));
}

TEST(LauncherOutputFilterTest, HandlesBlocksThatBeginWithinALine) {
  EXPECT_EQ(filterLines(
                {"net.cpp:1] Cre" + rule, "MPI_ABORT was invoked", rule, "b"}),
            (Lines{"> net.cpp:1] Cre", "> b"}));
  EXPECT_EQ(
      filterLines({"brew-run: error: no" + rule, "",
                   "  Process name: [[44343,1],1]", "  Exit code:    1", rule}),
      (Lines{"> brew-run: error: no"}));
  // An incomplete rule may come from a rank.
  EXPECT_EQ(filterLines({rule + "-", "a " + rule.substr(1)}),
            (Lines{"> " + rule + "-", "> a " + rule.substr(1)}));
}
