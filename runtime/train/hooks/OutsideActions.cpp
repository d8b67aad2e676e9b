//===- OutsideActions.cpp - Hook actions that tell the outside ------------===//

#include "runtime/train/hooks/HookAction.h"

#include "runtime/log/Log.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <utility>

extern char **environ;

namespace brew::runtime {
namespace {

/// Logs a text with values of metrics.
class Print : public HookAction {
public:
  struct Piece {
    std::string text;
    std::optional<MetricName> metric; ///< after the text
  };
  explicit Print(std::vector<Piece> pieces) : pieces(std::move(pieces)) {}

  DeferredWork run(HookCall &call) override {
    std::string line = linePrefix(call);
    for (const Piece &piece : pieces) {
      line += piece.text;
      if (!piece.metric)
        continue;
      const std::optional<double> value = call.values.value(*piece.metric);
      line += value ? log::number(*value) : "?";
    }
    return logLine(std::move(line));
  }
  bool isReadOnly() const override { return true; }
  std::vector<MetricName> metrics() const override {
    std::vector<MetricName> names;
    for (const Piece &piece : pieces)
      if (piece.metric)
        names.push_back(*piece.metric);
    return names;
  }

private:
  std::vector<Piece> pieces;
};

/// Returns the name of an environment variable: "BREW_TEST_ACCURACY".
std::string variableOf(const std::string &metric) {
  std::string name = "BREW_";
  for (unsigned char c : metric)
    if (c != ']')
      name += std::isalnum(c) ? static_cast<char>(std::toupper(c)) : '_';
  return name;
}

/// Returns the shortest text of a value. Only integers have more than the
/// digits of a float.
std::string textOf(double value) {
  return std::floor(value) == value ? shortestText(value)
                                    : shortestText(static_cast<float>(value));
}

class SpawnSettings {
public:
  SpawnSettings() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&files);
    // This process may block or ignore signals.
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings &) = delete;
  SpawnSettings &operator=(const SpawnSettings &) = delete;

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
};

/// Runs a command line with /bin/sh and waits for its end. Throws Error (3) if
/// it fails.
void runCommand(const std::string &command,
                const std::vector<std::string> &variables) {
  const SpawnSettings settings;
  std::vector<char *> environment;
  for (char **variable = environ; *variable; ++variable)
    environment.push_back(*variable);
  for (const std::string &variable : variables)
    environment.push_back(const_cast<char *>(variable.c_str()));
  environment.push_back(nullptr);
  char *arguments[] = {const_cast<char *>("sh"), const_cast<char *>("-c"),
                       const_cast<char *>(command.c_str()), nullptr};
  pid_t child = 0;
  if (const int error =
          posix_spawn(&child, "/bin/sh", &settings.files, &settings.attributes,
                      arguments, environment.data()))
    throw unavailable("cannot run '" + command + "': " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno == ECHILD)
      return; // its status is lost: this process ignores SIGCHLD
    else if (errno != EINTR)
      throw unavailable("cannot wait for '" + command +
                        "': " + std::strerror(errno));
  if (status != 0)
    throw unavailable("'" + command + "' ended with " +
                      (WIFSIGNALED(status)
                           ? "signal " + std::to_string(WTERMSIG(status))
                           : "status " + std::to_string(WEXITSTATUS(status))));
}

/// Runs a command line with the values of metrics in its environment.
class RunCommand : public HookAction {
public:
  explicit RunCommand(std::string command) : command(std::move(command)) {}

  DeferredWork run(HookCall &call) override {
    std::vector<std::string> variables = {
        "BREW_HOOK=" + call.name, "BREW_REASON=" + call.reason,
        "BREW_ITERATION=" + std::to_string(call.iteration)};
    for (const auto &[name, value] : call.values.all())
      variables.push_back(variableOf(name) + "=" + textOf(value));
    return [this, variables = std::move(variables)] {
      runCommand(command, variables);
      return std::vector<std::string>();
    };
  }
  bool isReadOnly() const override { return true; }

private:
  const std::string command;
};

} // namespace

std::unique_ptr<HookAction> makePrint(ActionWords &words,
                                      const ActionContext &context) {
  const HookWord &word = words.next("a text");
  std::vector<Print::Piece> pieces;
  const std::string &text = word.text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    Print::Piece piece{text.substr(at, open - at), std::nullopt};
    at = text.size();
    if (open != text.npos) {
      const std::size_t offset = word.offset + word.quoted + open + 1;
      const std::size_t close = text.find('}', open);
      if (close == text.npos)
        throw TextError{offset, "the brace is not closed"};
      try {
        piece.metric = parseMetricName(text.substr(open + 1, close - open - 1),
                                       context.scope);
      } catch (const TextError &problem) {
        throw TextError{offset + problem.offset, problem.text};
      }
      at = close + 1;
    }
    pieces.push_back(std::move(piece));
  }
  return std::make_unique<Print>(std::move(pieces));
}

std::unique_ptr<HookAction> makeRun(ActionWords &words,
                                    const ActionContext &context) {
  const HookWord &command = words.next("a command line in quotes");
  if (!context.trainer.allowsCommands())
    throw TextError{command.offset,
                    "hooks may run programs only with --allow-commands"};
  return std::make_unique<RunCommand>(command.text);
}

} // namespace brew::runtime
