//===- HostPluginTest.cpp - Host layers of the tools ----------------------===//
#include "tools/common/HostPlugin.h"
#include "OwnPlan.h"

#include <brew/brew.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace brew;
using namespace brew::test;

namespace {

/// Loads plugins; returns "STATUS: TEXT" of the error, "" without one.
std::string loadingError(const std::string &files) {
  try {
    tools::loadHostLayers(files);
  } catch (const api::Error &error) {
    return std::to_string(error.status()) + ": " + error.what();
  }
  return "";
}

class HostPlugin : public testing::Test {
protected:
  HostPlugin()
      : folder(std::filesystem::temp_directory_path() /
               ("brew-plugin-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder);
  }
  ~HostPlugin() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return (folder / name).string();
  }

  std::filesystem::path folder;
};

TEST_F(HostPlugin, ReturnsItsLayers) {
  const auto layers = tools::loadHostLayers(TEST_PLUGIN);
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_STREQ(layers[0].get().type, "Own");
  EXPECT_NE(layers[0].get().shapes, nullptr);
  EXPECT_EQ(tools::loadHostLayers("").size(), 0u);
  EXPECT_EQ(tools::loadHostLayers(TEST_PLUGIN "," TEST_PLUGIN).size(), 2u);
}

TEST_F(HostPlugin, IsFoundInTheWorkingDirectory) {
  const auto oldFolder = std::filesystem::current_path();
  std::filesystem::copy_file(TEST_PLUGIN, folder / "own.so");
  std::filesystem::current_path(folder);
  EXPECT_EQ(loadingError("own.so"), "");
  std::filesystem::current_path(oldFolder);
}

TEST_F(HostPlugin, UnusableFilesAreErrors) {
  EXPECT_EQ(loadingError("no/such.so"),
            "3: host layers 'no/such.so': No such file or directory");
  const std::string text = write("text.so", "hello");
  EXPECT_EQ(loadingError(text).rfind(
                "3: host layers '" + text + "': it cannot be loaded: ", 0),
            0u);
  // This library is not a plugin.
  EXPECT_EQ(loadingError(OTHER_LIBRARY),
            "1: host layers '" OTHER_LIBRARY
            "': it has no function 'brew_host_layers' (see "
            "brew/host_plugin.h)");
  EXPECT_EQ(loadingError(EMPTY_PLUGIN),
            "1: host layers '" EMPTY_PLUGIN "': it has no layers");
}

/// Runs a command and returns its exit status. Writes its output to `text`.
int runCommand(const std::string &command, std::string &text) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  text.clear();
  for (int c; (c = std::fgetc(pipe)) != EOF;)
    text += static_cast<char>(c);
  return WEXITSTATUS(pclose(pipe));
}

#ifdef BREWC
/// brewc uses the shapes that a plugin computes, and reports errors of plugins.
TEST_F(HostPlugin, ServesBrewc) {
  const std::string net =
      write("own.prototxt",
            "layer { name: 'in' type: 'Input' top: 'x'\n"
            "  input_param { shape { dim: 2 dim: 3 } } }\n"
            "layer { name: 'own' type: 'Own' bottom: 'x' top: 'y' }\n");
  const std::string plan = (folder / "net.plan").string();
  const std::string compile = BREWC " " + net + " -o " + plan;
  std::string text;
  EXPECT_EQ(runCommand(compile, text), BREW_BAD_INPUT);
  EXPECT_NE(text.find("unknown layer type 'Own'"), std::string::npos) << text;
  EXPECT_EQ(runCommand(compile + " --host-plugin " TEST_PLUGIN, text), 0)
      << text;
  EXPECT_EQ(runCommand(BREW_RUN " time " + plan +
                           " --iterations 1 --host-plugin " TEST_PLUGIN,
                       text),
            0)
      << text;
  EXPECT_EQ(runCommand(compile + " --host-plugin=no/such.so", text),
            BREW_UNAVAILABLE);
  EXPECT_NE(text.find("brewc: error: host layers 'no/such.so'"),
            std::string::npos)
      << text;
}
#endif

TEST_F(HostPlugin, ServesBrewRun) {
  const std::string plan = write("own.plan", ownPlan());
  auto run = [&](const std::string &flags, std::string &text) {
    return runCommand(BREW_RUN " time " + plan + " --iterations 1 " + flags,
                      text);
  };
  std::string text;
  EXPECT_EQ(run("--host-plugin " TEST_PLUGIN, text), 0) << text;
  EXPECT_EQ(run("", text), BREW_USAGE);
  EXPECT_NE(text.find("brew-run: error: layer 'own' (type 'Own'): "),
            std::string::npos)
      << text;
  EXPECT_EQ(run("-host_plugin=no/such.so", text), BREW_UNAVAILABLE);
  EXPECT_NE(text.find("host layers 'no/such.so'"), std::string::npos) << text;
}

} // namespace
