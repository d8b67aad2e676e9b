//===- RankLauncher.cpp - Launcher of local ranks -------------------------===//

#include "RankLauncher.h"

#include "LauncherOutputFilter.h"
#include "Log.h"
#include "Session.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace brew::run {
namespace {

constexpr char kLauncher[] = "mpirun";
/// Exit status of shells for a program that is not found.
constexpr int kNotFound = 127;

/// The forwarded signals and what they are sent as: the launcher would handle
/// SIGINT and SIGHUP itself, but forwards others to all ranks
/// (SignalActions.cpp).
struct Passed {
  int signal, as;
};
constexpr Passed kPassed[] = {
    {SIGINT, SIGUSR1}, {SIGHUP, SIGUSR2}, {SIGTERM, SIGTERM}};

volatile pid_t launcher = 0;
volatile std::sig_atomic_t stopped = 0;
/// Whether SIGINT and SIGHUP stop the ranks.
volatile std::sig_atomic_t interruptStops = 1, hangUpStops = 0;

void pass(int signal) {
  if (signal == SIGINT ? interruptStops : signal == SIGHUP ? hangUpStops : 1)
    stopped = 1;
  for (const Passed &passed : kPassed)
    if (passed.signal == signal && launcher > 0)
      kill(launcher, passed.as);
}

/// Forwards signals during its lifetime.
class PassSignals {
public:
  PassSignals() {
    struct sigaction action = {};
    action.sa_handler = pass;
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < std::size(kPassed); ++i)
      sigaction(kPassed[i].signal, &action, &saved[i]);
  }
  ~PassSignals() {
    for (std::size_t i = 0; i < std::size(kPassed); ++i)
      sigaction(kPassed[i].signal, &saved[i], nullptr);
  }
  PassSignals(const PassSignals &) = delete;
  PassSignals &operator=(const PassSignals &) = delete;

private:
  struct sigaction saved[std::size(kPassed)];
};

/// Returns the arguments of this process without its name.
std::vector<std::string> ownArguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');)
    arguments.push_back(argument);
  if (!arguments.empty())
    arguments.erase(arguments.begin());
  return arguments;
}

std::string ownPath() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof path))
    throw unavailable("cannot determine the path of brew-run: " +
                      std::string(std::strerror(errno)));
  return std::string(path, static_cast<std::size_t>(length));
}

std::vector<std::string> commandOf(const LaunchOptions &options) {
  std::vector<std::string> command = {
      kLauncher, "-n", std::to_string(options.ranks),
      // Each rank limits its number of threads to its share of the cores.
      "--bind-to", "none", "--oversubscribe"};
  if (geteuid() == 0)
    command.push_back("--allow-run-as-root");
  command.push_back(ownPath());
  for (std::string &argument : ownArguments())
    command.push_back(std::move(argument));
  return command;
}

/// Prints the output of ranks and reduces the launcher's output to errors.
void showLines(int from) {
  std::FILE *stream = fdopen(from, "r");
  if (!stream) {
    close(from);
    return;
  }
  LauncherOutputFilter lines;
  char *text = nullptr;
  std::size_t capacity = 0;
  for (ssize_t length; (length = getline(&text, &capacity, stream)) > 0;) {
    const bool ends = text[length - 1] == '\n';
    bool isFromRank = false;
    const std::string shown = lines.take(
        std::string(text, static_cast<std::size_t>(length - ends)), isFromRank);
    if (isFromRank)
      std::fprintf(stderr, ends ? "%s\n" : "%s", shown.c_str());
    else if (!shown.empty())
      std::fprintf(stderr, "brew-run: error: %s\n", shown.c_str());
  }
  std::free(text);
  std::fclose(stream);
}

/// Runs a command to completion. Returns its status, or 128 + N for signal N.
int runToEnd(const std::vector<std::string> &command) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  int words[2];
  if (pipe2(words, O_CLOEXEC) != 0)
    throw unavailable("cannot start " + command.front() + ": " +
                      std::strerror(errno));
  const pid_t child = fork();
  if (child < 0)
    throw unavailable("cannot start " + command.front() + ": " +
                      std::strerror(errno));
  if (child == 0) {
    // Deliver a terminal's Ctrl-C only to this process, which forwards it.
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0)
      dup2(nothing, STDIN_FILENO);
    dup2(words[1], STDERR_FILENO);
    for (const Passed &passed : kPassed)
      std::signal(passed.signal, SIG_DFL);
    execvp(arguments[0], arguments.data());
    _exit(kNotFound);
  }
  launcher = child;
  close(words[1]);
  showLines(words[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  launcher = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Whether a restart could help: not if the input is invalid.
bool mayRestart(int status) {
  return status != BREW_OK && status != BREW_BAD_INPUT &&
         status != BREW_USAGE && status != kNotFound && !stopped;
}

} // namespace

int launchRanks(const LaunchOptions &options) {
  interruptStops = options.interruptStops;
  hangUpStops = options.hangUpStops;
  const PassSignals passing;
  std::vector<std::string> command = commandOf(options);
  const std::time_t begin = std::time(nullptr);
  int status = runToEnd(command);
  if (status == kNotFound)
    throw unavailable(
        "--ranks starts the ranks with mpirun, which was not found or cannot "
        "be run: install openmpi-bin");
  for (int restart = 1; restart <= options.maxRestarts && mayRestart(status);
       ++restart) {
    log::warning(log::site::brew, "The ranks ended with status " +
                                      std::to_string(status) + "; restart " +
                                      std::to_string(restart) + " of " +
                                      std::to_string(options.maxRestarts) +
                                      ", from the last snapshot");
    if (restart == 1) {
      // Older snapshots belong to other runs.
      command.push_back("--resume-newest");
      command.push_back(std::to_string(begin));
    }
    status = runToEnd(command);
  }
  return status;
}

} // namespace brew::run
