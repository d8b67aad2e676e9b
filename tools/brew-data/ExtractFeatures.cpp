//===- ExtractFeatures.cpp - Caffe's extract_features ---------------------===//
#include "tools/brew-data/ExtractFeatures.h"

#include "support/AtomicFile.h"
#include "support/Caller.h"
#include "support/Error.h"
#include "tools/brew-data/Commands.h"
#include "tools/common/Programs.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace brew::data {
namespace {

/// Runs a program to completion and returns its exit status. Throws Interrupted
/// if a signal ended it.
int runProgram(const std::vector<std::string> &words) {
  const int status =
      tools::runProgram(words, [] { return interrupted.load(); });
  if (interrupted.load() && status != 0)
    throw Interrupted{};
  return status;
}

/// A temporary folder that the destructor removes.
struct TemporaryFolder {
  std::string path;
  TemporaryFolder() {
    std::error_code error;
    path = std::filesystem::temp_directory_path(error) / "brew-features-XXXXXX";
    if (error)
      throw unavailable("there is no folder for temporary files: " +
                        error.message());
    if (!mkdtemp(path.data()))
      throw unavailable("cannot make a folder '" + path +
                        "': " + errnoText(errno));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// Throws Error (1) if one of the databases "A,B" exists.
void requireNew(const std::string &databases) {
  std::istringstream names(databases);
  for (std::string name; std::getline(names, name, ',');) {
    std::error_code ignored;
    if (std::filesystem::exists(name, ignored))
      throw badInput("'" + name + "' exists; remove it first");
  }
}

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
      throw usageError("'" + word + "' is not CPU, GPU or DEVICE_ID=N");
  }
  requireNew(arguments[3]);
  ::setenv(kCallerVariable, "extract_features", 1);
  const std::string brewc = tools::siblingProgram("brewc", "extract_features"),
                    brewRun =
                        tools::siblingProgram("brew-run", "extract_features");
  const TemporaryFolder folder;
  const std::string plan = folder.path + "/features.plan";
  std::vector<std::string> compile = {brewc,    arguments[1], "--phase", "test",
                                      "--keep", arguments[2], "-o",      plan};
  if (onGpu)
    compile.insert(compile.end(), {"--target", "cuda"});
  if (const int status = runProgram(compile))
    return status;
  std::vector<std::string> words = {
      brewRun,      "features",   plan,        "--weights",  arguments[0],
      "--blobs",    arguments[2], "--outputs", arguments[3], "--batches",
      arguments[4], "--format",   arguments[5]};
  // As in Caffe, layers without weights are initialized by their fillers.
  words.push_back("--allow-missing-weights");
  if (onGpu)
    words.insert(words.end(), {"--gpu", device});
  return runProgram(words);
}

} // namespace brew::data
