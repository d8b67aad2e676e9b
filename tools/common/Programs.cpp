//===- Programs.cpp - Execution of Brew's programs ------------------------===//
#include "tools/common/Programs.h"

#include "support/AtomicFile.h"
#include "support/Error.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace brew::tools {
namespace {

std::vector<char *> argvOf(const std::vector<std::string> &command) {
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

[[noreturn]] void throwStartError(const std::string &path, int error) {
  throw unavailable("cannot start '" + path + "': " + errnoText(error));
}

} // namespace

std::string siblingProgram(const std::string &name, const std::string &caller) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = self.parent_path() / name;
  if (error || ::access(path.c_str(), X_OK) != 0)
    throw unavailable(caller + " needs " + name +
                      ", which is not in this program's folder");
  return path;
}

std::string findInPath(const std::string &name) {
  const char *const variable = std::getenv("PATH");
  std::istringstream folders(variable ? variable : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error) &&
        ::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "";
}

int runProgram(const std::vector<std::string> &command,
               const std::function<bool()> &isInterrupted) {
  std::vector<char *> argv = argvOf(command);
  pid_t child = 0;
  if (const int error =
          posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ))
    throwStartError(command[0], error);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno == EINTR) {
      if (isInterrupted && isInterrupted())
        kill(child, SIGTERM);
    } else
      throw unavailable("cannot wait for '" + command[0] +
                        "': " + errnoText(errno));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void execProgram(const std::vector<std::string> &command) {
  execv(command[0].c_str(), argvOf(command).data());
  throwStartError(command[0], errno);
}

} // namespace brew::tools
