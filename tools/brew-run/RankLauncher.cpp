//===- RankLauncher.cpp - Launcher of local ranks -------------------------===//

#include "RankLauncher.h"

#include "LauncherOutputFilter.h"
#include "Log.h"
#include "RepeatedStop.h"
#include "Session.h"
#include "SignalActions.h"

#include "support/Caller.h"
#include "support/ThreadWithoutSignals.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace brew::run {
namespace {

constexpr char kLauncher[] = "mpirun";
/// Exit status of shells for a program that is not found.
constexpr int kNotFound = 127;
constexpr std::chrono::seconds kResendInterval(1);

/// The launcher handles SIGINT, SIGHUP and SIGTERM itself, but forwards SIGUSR1
/// and SIGUSR2 to all ranks, where they stop and take a snapshot
/// (SignalActions.h).
constexpr int kForwardedSignals[] = {SIGINT, SIGHUP, SIGTERM};
constexpr int kSignalsForRanks[] = {SIGUSR1, SIGUSR2};

volatile pid_t launcher = 0;
volatile std::sig_atomic_t stopRequested = 0, terminateRequested = 0;
volatile std::sig_atomic_t forwardedInterrupt = BREW_ACTION_STOP,
                           forwardedHangUp = BREW_ACTION_SNAPSHOT;

void sendToLauncher(int signal) {
  if (launcher > 0)
    kill(launcher, signal);
}

void forwardSignal(int signal) {
  const int savedErrno = errno;
  const int action = signal == SIGINT   ? forwardedInterrupt
                     : signal == SIGHUP ? forwardedHangUp
                                        : BREW_ACTION_STOP;
  if (action == BREW_ACTION_STOP) {
    stopRequested = 1;
    terminateRequested |= signal == SIGTERM;
    // The launcher ends the ranks if it is terminated.
    sendToLauncher(isRepeatedStop(signal) ? SIGTERM : SIGUSR1);
  } else if (action == BREW_ACTION_SNAPSHOT) {
    sendToLauncher(SIGUSR2);
  }
  errno = savedErrno;
}

/// Forwards signals during its lifetime.
class SignalForwarder {
public:
  SignalForwarder() {
    struct sigaction action = {};
    action.sa_handler = forwardSignal;
    sigfillset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < std::size(kForwardedSignals); ++i)
      sigaction(kForwardedSignals[i], &action, &saved[i]);
  }
  ~SignalForwarder() {
    for (std::size_t i = 0; i < std::size(kForwardedSignals); ++i)
      sigaction(kForwardedSignals[i], &saved[i], nullptr);
  }
  SignalForwarder(const SignalForwarder &) = delete;
  SignalForwarder &operator=(const SignalForwarder &) = delete;

private:
  struct sigaction saved[std::size(kForwardedSignals)];
};

/// During its lifetime, repeats a stop: the launcher loses signals while it
/// starts, before it can forward them.
class StopRepeater {
public:
  StopRepeater() : thread(startThreadWithoutSignals([this] { run(); })) {}
  ~StopRepeater() {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      hasEnded = true;
    }
    ended.notify_all();
    thread.join();
  }
  StopRepeater(const StopRepeater &) = delete;
  StopRepeater &operator=(const StopRepeater &) = delete;

private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (!ended.wait_for(lock, kResendInterval, [this] { return hasEnded; }))
      if (stopRequested)
        sendToLauncher(SIGUSR1);
  }

  std::mutex mutex;
  std::condition_variable ended;
  bool hasEnded = false;
  std::thread thread; // last: it uses the others
};

/// A folder that the destructor removes with its files.
class TemporaryFolder {
public:
  /// Throws Error (3) if the folder cannot be created.
  TemporaryFolder() {
    std::error_code error;
    name = std::filesystem::temp_directory_path(error) / "brew-run-XXXXXX";
    if (error || !mkdtemp(name.data()))
      throw unavailable("cannot create the temporary folder '" + name +
                        "': " + std::strerror(errno));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  const std::string &path() const { return name; }

private:
  std::string name;
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

std::vector<std::string> launcherCommand(const LaunchOptions &options) {
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

/// Prints the output of the ranks, and of the launcher's output only errors.
void printRankOutput(int readEnd) {
  std::FILE *stream = fdopen(readEnd, "r");
  if (!stream) {
    close(readEnd);
    return;
  }
  LauncherOutputFilter filter;
  char *text = nullptr;
  std::size_t capacity = 0;
  for (ssize_t length; (length = getline(&text, &capacity, stream)) > 0;) {
    const bool hasNewline = text[length - 1] == '\n';
    bool isFromRank = false;
    const std::string shown = filter.take(
        std::string(text, static_cast<std::size_t>(length - hasNewline)),
        isFromRank);
    if (isFromRank)
      std::fprintf(stderr, hasNewline ? "%s\n" : "%s", shown.c_str());
    else if (!shown.empty())
      std::fprintf(stderr, "%serror: %s\n", messagePrefix("brew-run").c_str(),
                   shown.c_str());
  }
  std::free(text);
  std::fclose(stream);
}

/// Runs a command to completion. Returns its status, or 128 + N for signal N.
int runToCompletion(const std::vector<std::string> &command) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  int pipeEnds[2];
  if (pipe2(pipeEnds, O_CLOEXEC) != 0)
    throw unavailable("cannot start " + command.front() + ": " +
                      std::strerror(errno));
  const pid_t child = fork();
  if (child < 0)
    throw unavailable("cannot start " + command.front() + ": " +
                      std::strerror(errno));
  if (child == 0) {
    // Deliver a terminal's Ctrl-C only to this process, which forwards it.
    setpgid(0, 0);
    const int devNull = open("/dev/null", O_RDONLY);
    if (devNull >= 0)
      dup2(devNull, STDIN_FILENO);
    dup2(pipeEnds[1], STDERR_FILENO);
    for (const int signal : kForwardedSignals)
      std::signal(signal, SIG_DFL);
    // Until the launcher can forward them.
    for (const int signal : kSignalsForRanks)
      std::signal(signal, SIG_IGN);
    execvp(arguments[0], arguments.data());
    _exit(kNotFound);
  }
  launcher = child;
  close(pipeEnds[1]);
  {
    const StopRepeater stopRepeater;
    printRankOutput(pipeEnds[0]);
    // The process remains: signals must not reach another one of its number.
    siginfo_t ignored;
    while (waitid(P_PID, static_cast<id_t>(child), &ignored,
                  WEXITED | WNOWAIT) < 0 &&
           errno == EINTR)
      ;
    launcher = 0;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Whether a restart could help. It cannot after success, invalid input, a
/// missing launcher or a signal that stops the ranks.
bool mayRestart(int status) {
  return status != BREW_OK && status != BREW_BAD_INPUT &&
         status != BREW_USAGE && status != kNotFound && !stopRequested;
}

} // namespace

LaunchResult launchRanks(const LaunchOptions &options) {
  forwardedInterrupt = options.onInterrupt;
  forwardedHangUp = options.onHangUp;
  const SignalForwarder signalForwarder;
  std::vector<std::string> command = launcherCommand(options);
  // The ranks write the list when they first start. Later ones resume only
  // snapshots that it lacks: the others belong to other runs.
  std::optional<TemporaryFolder> folder;
  if (options.maxRestarts) {
    folder.emplace();
    command.push_back("--earlier-snapshots");
    command.push_back(folder->path() + "/snapshots");
  }
  int status = runToCompletion(command);
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
    status = runToCompletion(command);
  }
  // The stop has reached a process that did not handle it yet.
  if (stopRequested && status == statusOfSignal(SIGUSR1))
    status = statusOfSignal(terminateRequested ? SIGTERM : SIGINT);
  return {status, terminateRequested != 0};
}

} // namespace brew::run
