//===- RunFixture.h - Runs brew-run on a test plan --------------*- C++ -*-===//
#pragma once

#include "test/common/LinearModelData.h"
#include "test/common/TestFiles.h"
#include "test/unit/runtime/train/TestPlan.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace brew::test {

/// The exit status and output of a finished command.
struct Finished {
  int status = -1; ///< exit status, or -signal
  std::string out, err;
};

/// A folder with ten rows of data for the linear model, in which brew-run runs.
class RunFixture : public testing::Test {
protected:
  RunFixture() { writeBytes(folder / "list.txt", "data.h5\n"); }
  /// Kills commands that still run because an assertion failed.
  ~RunFixture() override {
    for (const pid_t child : started) {
      if (waitpid(child, nullptr, WNOHANG) == 0) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
      }
    }
  }

  static std::string hdf5DataLayer() {
    return "name: 'data' type: 'HDF5Data' top: 'x' top: 'target' "
           "hdf5_data_param { source: 'list.txt' batch_size: 4 }";
  }
  static std::string inputLayer() {
    return "name: 'in' type: 'Input' top: 'x' top: 'target'";
  }

  void writePlan(const std::string &feed, const std::string &solver,
                 const std::string &name = "net.plan") {
    writeBytes(folder / name,
               planBytes(linearModel(feed, "random_seed: 1 "
                                           "snapshot_prefix: 'snap' " +
                                               solver)));
  }
  void writeTrainingPlan() {
    writePlan(hdf5DataLayer(),
              "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 "
              "display: 2 max_iter: 10 snapshot: 5 test_iter: 2 "
              "test_interval: 5");
  }

  /// Starts brew-run in the folder. Output goes to the files `out` and `err`,
  /// or is discarded if the size of files is limited.
  pid_t start(const std::vector<std::string> &arguments,
              rlim_t fileSize = RLIM_INFINITY) {
    const pid_t child = fork();
    if (child != 0) {
      started.push_back(child);
      return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // if the test is killed
    std::vector<char *> argv = {const_cast<char *>(BREW_RUN)};
    for (const std::string &argument : arguments)
      argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    auto redirect = [](int fd, const std::string &path) {
      const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
      dup2(file, fd);
      close(file);
    };
    const bool isLimited = fileSize != RLIM_INFINITY;
    redirect(STDOUT_FILENO, isLimited ? "/dev/null" : folder / "out");
    redirect(STDERR_FILENO, isLimited ? "/dev/null" : folder / "err");
    if (isLimited) {
      rlimit limit = {fileSize, fileSize};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (chdir(folder.path().c_str()) == 0)
      execv(BREW_RUN, argv.data());
    _exit(127);
  }

  Finished finish(pid_t child) {
    Finished result;
    int status = 0;
    waitpid(child, &status, 0);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    result.out = readBytes(folder / "out");
    result.err = readBytes(folder / "err");
    return result;
  }

  Finished run(const std::vector<std::string> &arguments) {
    return finish(start(arguments));
  }

  static bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
  }
  static int count(const std::string &text, const std::string &part) {
    int matches = 0;
    for (std::size_t at = text.find(part); at != std::string::npos;
         at = text.find(part, at + part.size()))
      ++matches;
    return matches;
  }

  TempFolder folder;
  const LinearModelData data{folder};
  const std::vector<float> &x = data.x, &target = data.target;

private:
  std::vector<pid_t> started;
};

} // namespace brew::test
