//===- ExtractFeatures.cpp - Caffe's extract_features ---------------------===//
#include "tools/brew-data/ExtractFeatures.h"

#include "formats/AtomicFile.h"
#include "formats/Error.h"
#include "tools/brew-data/Commands.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace brew::data {
namespace {

/// The program of that name in this one's folder.
std::string besideThis(const std::string &name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = self.parent_path() / name;
  if (error || ::access(path.c_str(), X_OK) != 0)
    throw machineLacks("extract_features needs " + name +
                       ", which is not in this program's folder");
  return path;
}

/// Runs a program to its end; returns its exit status.
int runProgram(const std::vector<std::string> &words) {
  std::vector<char *> argv;
  for (const std::string &word : words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  if (const int error =
          posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ))
    throw machineLacks("cannot start '" + words[0] +
                       "': " + formats::errnoText(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      throw machineLacks("cannot wait for '" + words[0] +
                         "': " + formats::errnoText(errno));
  if (interrupted.load())
    throw Interrupted{};
  if (WIFSIGNALED(status))
    throw Error(ExitStatus::Bug, "'" + words[0] + "' was ended by signal " +
                                     std::to_string(WTERMSIG(status)));
  return WEXITSTATUS(status);
}

/// A folder that goes away with it.
struct Scratch {
  std::string path;
  Scratch() {
    std::error_code error;
    path = std::filesystem::temp_directory_path(error) / "brew-features-XXXXXX";
    if (error)
      throw machineLacks("there is no folder for temporary files: " +
                         error.message());
    if (!mkdtemp(path.data()))
      throw machineLacks("cannot make a folder '" + path +
                         "': " + formats::errnoText(errno));
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

} // namespace

int extractFeatures(const std::vector<std::string> &arguments) {
  if (arguments.size() < 6 || arguments.size() > 8)
    throw usageError(
        "usage: extract_features WEIGHTS NET BLOB[,BLOB...] "
        "DATABASE[,DATABASE...] BATCHES lmdb|leveldb [CPU|GPU] [DEVICE_ID=N]");
  bool onGpu = false;
  std::string device = "0";
  for (size_t i = 6; i < arguments.size(); ++i) {
    const std::string &word = arguments[i];
    const std::string prefix = "DEVICE_ID=";
    if (word == "GPU" || word == "CPU")
      onGpu = word == "GPU";
    else if (word.compare(0, prefix.size(), prefix) == 0)
      device = word.substr(prefix.size());
    else
      throw usageError("'" + word + "' is neither CPU nor GPU nor DEVICE_ID=N");
  }
  const std::string brewc = besideThis("brewc"), run = besideThis("brew-run");
  const Scratch scratch;
  const std::string plan = scratch.path + "/features.plan";
  std::vector<std::string> compile = {brewc,    arguments[1], "--phase", "test",
                                      "--keep", arguments[2], "-o",      plan};
  if (onGpu)
    compile.insert(compile.end(), {"--target", "cuda"});
  if (const int status = runProgram(compile))
    return status;
  std::vector<std::string> words = {
      run,          "features",   plan,        "--weights",  arguments[0],
      "--blobs",    arguments[2], "--outputs", arguments[3], "--batches",
      arguments[4], "--format",   arguments[5]};
  if (onGpu)
    words.insert(words.end(), {"--gpu", device});
  return runProgram(words);
}

} // namespace brew::data
