//===- main.cpp - caffe ---------------------------------------------------===//
//
// The `caffe` command, for scripts that call it. It compiles with brewc and
// then executes brew-run.
//
//===----------------------------------------------------------------------===//
#include "support/Error.h"
#include "support/PrintableText.h"
#include "support/Suggest.h"
#include "tools/caffe/FlagTable.h"
#include "tools/caffe/Flags.h"
#include "tools/caffe/GlogFlags.h"
#include "tools/caffe/Gpus.h"
#include "tools/caffe/PlanCache.h"
#include "tools/caffe/PythonPackage.h"
#include "tools/common/Programs.h"
#include "tools/common/StandardStreams.h"

#include <brew/device.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace {

using brew::caffe_command::CommandLine;

const std::vector<std::string> kActions = {"device_query", "test", "time",
                                           "train"};

constexpr char kUsage[] =
    "command line brew\n"
    "usage: caffe <command> <args>\n\n"
    "commands:\n"
    "  train           train or finetune a model\n"
    "  test            score a model\n"
    "  device_query    show GPU diagnostic information\n"
    "  time            benchmark model execution time\n\n"
    "Compiled plans are cached in $XDG_CACHE_HOME/brew/plans.\n"
    "brewc and brew-run do the same in two steps and take more flags.\n\n";

/// The flags that are forwarded to brew-run unchanged.
const std::vector<std::string> kForwardedFlags = {
    "weights", "snapshot", "iterations", "sigint_effect", "sighup_effect"};
/// The actions that use each flag. All actions use the flags missing here.
const std::map<std::string, std::vector<std::string>> kActionsOfFlag = {
    {"solver", {"train"}},
    {"model", {"test", "time"}},
    {"weights", {"train", "test", "time"}},
    {"snapshot", {"train"}},
    {"iterations", {"test", "time"}},
    {"phase", {"time"}},
    {"level", {"train", "test", "time"}},
    {"stage", {"train", "test", "time"}},
    {"sigint_effect", {"train"}},
    {"sighup_effect", {"train"}}};

bool isUsed(const std::string &flag, const std::string &action) {
  const auto found = kActionsOfFlag.find(flag);
  return found == kActionsOfFlag.end() ||
         std::find(found->second.begin(), found->second.end(), action) !=
             found->second.end();
}

/// Caffe accepts all flags with all actions, so an unused flag is only a
/// warning.
void warnOfUnused(const CommandLine &line) {
  if (!brew::caffe_command::isLogged(/*severity=*/1))
    return;
  for (const auto &[flag, value] : line.flags)
    if (brew::caffe_command::findFlag(flag)->owner ==
        brew::caffe_command::FlagOwner::GlogIgnored)
      std::fprintf(stderr, "caffe: warning: -%s has no effect in Brew\n",
                   flag.c_str());
    else if (!isUsed(flag, line.action))
      std::fprintf(stderr, "caffe: warning: -%s has no effect on '%s'\n",
                   flag.c_str(), line.action.c_str());
}

/// Returns the file that a flag names. Throws Error (2), which states the
/// `purpose`, if the flag is missing.
const std::string &requireFile(const CommandLine &line, const std::string &flag,
                               const std::string &purpose) {
  if (line[flag].empty())
    throw brew::usageError("need " + purpose + " (-" + flag + " FILE)");
  return line[flag];
}

/// Executes the package `caffe`, in which nets change their shapes.
[[noreturn]] void runWithImagesOfSeveralSizes(const CommandLine &line,
                                              const std::string &prototxt) {
  const std::string text = prototxt + " has images of several sizes";
  std::error_code error;
  if (!std::filesystem::is_regular_file(prototxt, error))
    throw brew::badInput(text + ": pass it as a file, not as a pipe");
  brew::caffe_command::execPythonPackage(line, text + ", which run");
}

/// Compiles the solver or net and executes brew-run in this process.
int compileAndRun(const CommandLine &line) {
  std::vector<std::string> compileFlags, runCommand = {line.action, ""};
  std::string prototxt;
  if (line.action == "train") {
    prototxt = requireFile(line, "solver", "a solver definition to train");
    if (line.has("snapshot") && line.has("weights"))
      throw brew::usageError("give a snapshot to resume training or weights "
                             "to finetune, but not both");
  } else {
    prototxt =
        requireFile(line, "model",
                    line.action == "test" ? "a model definition to score"
                                          : "a model definition to time");
    if (line.action == "test")
      requireFile(line, "weights", "model weights to score");
    const bool isTest = line.action == "test" || line["phase"] == "TEST";
    if (line.action == "time" && line.has("phase") && line["phase"] != "TEST" &&
        line["phase"] != "TRAIN")
      throw brew::usageError("-phase is TRAIN or TEST, not '" + line["phase"] +
                             "'");
    compileFlags.insert(compileFlags.end(),
                        {"--phase", isTest ? "test" : "train"});
    if (line.action == "time")
      compileFlags.push_back("--gradients");
  }
  if (const std::string file =
          brew::caffe_command::fileWithPythonLayer(prototxt);
      !file.empty()) {
    warnOfUnused(line);
    brew::caffe_command::execPythonPackage(
        line, file + " has layers of type Python, which run");
  }
  // As in Caffe, -level (default 0) overrides the level of the solver.
  if (line.has("level") || line.action == "train")
    compileFlags.push_back("--level=" +
                           (line.has("level") ? line["level"] : "0"));
  if (line.has("stage"))
    compileFlags.push_back("--stage=" + line["stage"]);
  const std::string gpus = brew::caffe_command::gpusOf(line);
  if (!gpus.empty())
    compileFlags.insert(
        compileFlags.end(),
        {"--target=cuda", "--gpu-arch=" + brew::caffe_command::gpuArch()});
  if (gpus.find(',') != gpus.npos)
    compileFlags.push_back("--distributed");
  warnOfUnused(line);
  for (const std::string &flag : kForwardedFlags)
    if (line.has(flag) && isUsed(flag, line.action))
      runCommand.push_back("--" + flag + "=" + line[flag]);
  // As in Caffe, layers without weights are initialized by their fillers.
  if (line.action != "train" && line.has("weights"))
    runCommand.push_back("--allow-missing-weights");
  if (line.action == "time")
    runCommand.push_back("--all");
  if (!gpus.empty())
    runCommand.push_back("--gpu=" + gpus);

  const brew::caffe_command::CachedPlan plan =
      brew::caffe_command::compileCached(prototxt, compileFlags,
                                         /*isSolver=*/line.action == "train");
  if (plan.status == static_cast<int>(brew::ExitStatus::ShapesVary))
    runWithImagesOfSeveralSizes(line, prototxt);
  if (plan.status != 0)
    return plan.status;
  runCommand[1] = plan.path;
  runCommand.insert(runCommand.begin(),
                    brew::tools::siblingProgram("brew-run", "caffe"));
  brew::tools::execProgram(runCommand);
}

void printUsage(std::FILE *stream) {
  std::fputs(kUsage, stream);
  std::fputs(brew::caffe_command::flagHelp().c_str(), stream);
}

int run(const std::vector<std::string> &arguments) {
  if (arguments.empty() || arguments[0] == "-h") {
    printUsage(arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  const CommandLine line = brew::caffe_command::readCommandLine(arguments);
  if (line.isTrue("help") || line.isTrue("helpshort") ||
      line.isTrue("helpfull")) {
    printUsage(stdout);
    return 0;
  }
  if (line.isTrue("version")) {
    std::printf("caffe, of brew %s\n", brew_version());
    return 0;
  }
  brew::caffe_command::exportGlogFlags(line);
  if (line.action == "device_query") {
    warnOfUnused(line);
    std::vector<std::string> command = {
        brew::tools::siblingProgram("brew-run", "caffe"), "device-query"};
    if (line.has("gpu"))
      command.push_back("--gpu=" + line["gpu"]);
    brew::tools::execProgram(command);
  }
  if (line.action.empty())
    throw brew::usageError("name a command: train, test, time or device_query");
  for (const std::string &action : kActions)
    if (line.action == action)
      return compileAndRun(line);
  throw brew::usageError("unknown action '" + line.action + "'" +
                         brew::didYouMean(line.action, kActions) +
                         " (see caffe -help)");
}

} // namespace

int main(int argc, char **argv) {
  brew::tools::protectStandardStreams();
  try {
    return run({argv + 1, argv + argc});
  } catch (const brew::Error &error) {
    std::fprintf(stderr, "caffe: error: %s\n",
                 brew::printableText(error.what()).c_str());
    return static_cast<int>(error.status());
  } catch (const brew::api::Error &error) {
    std::fprintf(stderr, "caffe: error: %s\n",
                 brew::printableText(error.what()).c_str());
    return static_cast<int>(error.status());
  } catch (const std::exception &error) {
    std::fprintf(stderr, "caffe: error: unexpected failure: %s\n",
                 error.what());
    return static_cast<int>(brew::ExitStatus::Bug);
  }
}
