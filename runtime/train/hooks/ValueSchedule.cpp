//===- ValueSchedule.cpp - Solver values by iteration ---------------------===//

#include "runtime/train/hooks/ValueSchedule.h"

#include "formats/PathLookup.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace brew::runtime {

ValueSchedule::ValueSchedule(
    const std::string &name, const std::vector<std::string> &folders,
    bool isLinear, const std::function<void(const std::string &)> &check)
    : linear(isLinear) {
  const std::string path = formats::requirePath(name, folders, "schedule");
  std::ifstream file(path);
  if (!file)
    throw unavailable("cannot read '" + path + "'");
  int lineNumber = 0;
  for (std::string line; std::getline(file, line);) {
    ++lineNumber;
    auto fail = [&](const std::string &problem) {
      throw badInput(path + ":" + std::to_string(lineNumber) + ": " + problem);
    };
    std::istringstream words(line.substr(0, line.find('#')));
    std::string iteration, value, more;
    if (!(words >> iteration))
      continue;
    const std::optional<int> firstIteration = parseInteger(iteration);
    if (!firstIteration || *firstIteration < 0)
      fail("expected a number of iterations, found '" + iteration + "'");
    if (!(words >> value))
      fail("expected a value after the number of iterations");
    if (words >> more)
      fail("expected the end of the line, found '" + more + "'");
    if (!entries.empty() && *firstIteration <= entries.back().iteration)
      fail("the numbers of iterations do not ascend");
    try {
      check(value);
    } catch (const Error &error) {
      fail(error.what());
    }
    entries.push_back(
        {*firstIteration, value, linear ? parseDouble(value).value_or(0) : 0});
  }
  if (file.bad())
    throw unavailable("cannot read '" + path + "'");
  if (entries.empty())
    throw badInput(path + ": has no values");
}

std::optional<std::string> ValueSchedule::at(int iteration) const {
  const auto after = std::upper_bound(
      entries.begin(), entries.end(), iteration,
      [](int target, const Entry &entry) { return target < entry.iteration; });
  if (after == entries.begin())
    return {};
  const Entry &begin = *(after - 1);
  if (!linear || after == entries.end() || iteration == begin.iteration)
    return begin.value;
  const double fraction = double(iteration - begin.iteration) /
                          (after->iteration - begin.iteration);
  return shortestText(static_cast<float>(
      begin.number + fraction * (after->number - begin.number)));
}

} // namespace brew::runtime
