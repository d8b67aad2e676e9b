//===- SolverChangeLog.cpp - Log of solver field changes ------------------===//

#include "runtime/train/watch/SolverChangeLog.h"

#include "support/AtomicFile.h"
#include "support/Error.h"
#include "support/NumberText.h"
#include "support/WriteAll.h"

#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace brew::runtime {
namespace {

/// Returns the iteration of a hook line; nullopt for a comment.
std::optional<int> iterationOfLine(const std::string &line) {
  std::istringstream words(line);
  std::string keyword, count;
  words >> keyword >> count;
  return keyword == "after" ? parseInteger(count) : std::nullopt;
}

/// Returns the hook line that repeats a change, or a comment if no hook line
/// can express the value.
std::string hookLine(int iteration, const std::string &field,
                     const std::string &value) {
  const std::string text = "after " + std::to_string(iteration) +
                           " iterations do set " + field + " \"" + value +
                           "\"\n";
  // A quoted value of a hook line cannot contain these characters.
  const bool isExpressible = value.find_first_of("\"\n\r") == value.npos;
  return isExpressible
             ? text
             : "# after " + std::to_string(iteration) + " iterations " + field +
                   " was set to a value that a line cannot contain\n";
}

} // namespace

void SolverChangeLog::startAt(int iteration) {
  std::ifstream file(path);
  std::string rewritten;
  bool changed = false;
  for (std::string line; std::getline(file, line);) {
    const std::optional<int> lineIteration = iterationOfLine(line);
    // Snapshots of an iteration contain its changes of parameters, but not the
    // fields of the solver, which are logged again below.
    const bool setsField = line.find(" iterations do set ") != line.npos;
    const bool isRepeated =
        lineIteration &&
        (*lineIteration > iteration ||
         (*lineIteration == iteration && (setsField || iteration == 0)));
    changed |= isRepeated;
    rewritten += (isRepeated ? "# replaced: " : "") + line + "\n";
  }
  if (file.bad())
    throw unavailable("cannot read '" + path + "'");
  file.close();
  if (changed)
    writeFileAtomically(path, rewritten);
  for (const auto &[field, value] : setFields)
    append(hookLine(iteration, field, value));
}

void SolverChangeLog::add(int iteration, const std::string &field,
                          const std::string &value) {
  setFields[field] = value;
  append(hookLine(iteration, field, value));
}

void SolverChangeLog::addAction(int iteration, const std::string &action) {
  append("after " + std::to_string(iteration) + " iterations do " + action +
         "\n");
}

void SolverChangeLog::append(const std::string &text) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const int error = fd < 0 ? errno : writeAll(fd, text);
  if (fd >= 0)
    ::close(fd);
  if (error)
    throw unavailable("cannot write '" + path + "': " + errnoText(error));
}

} // namespace brew::runtime
