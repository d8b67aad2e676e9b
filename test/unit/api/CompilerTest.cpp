//===- CompilerTest.cpp - Tests of the compiler's API ---------------------===//
// Uses only the public headers and the shared library.
//===----------------------------------------------------------------------===//
#include <brew/compiler.hpp>

#include "test/common/CommaLocale.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>

using namespace brew::api;

namespace {

/// Returns a net of one convolution with windows of `kernel` over 8 x 8 pixels.
std::string convolutionNet(int kernel, const std::string &name = "conv") {
  return "name: '" + name +
         "'\n"
         "layer { name: 'in' type: 'Input' top: 'x'\n"
         "  input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }\n"
         "layer { name: 'conv' type: 'Convolution' bottom: 'x' top: 'y'\n"
         "  convolution_param { num_output: 4 kernel_size: " +
         std::to_string(kernel) +
         " } }\n"
         "layer { name: 'act' type: 'Sigmoid' bottom: 'y' top: 'z' }\n";
}

/// Returns options for a fixed CPU: with the host's CPU, the bytes of a plan
/// would depend on the machine.
CompilerOptions fixedCpuOptions() {
  CompilerOptions options;
  options.set("cpu", "x86-64-v2");
  return options;
}

/// A temporary folder.
class Folder {
public:
  Folder() {
    std::string pattern = testing::TempDir() + "brew-api-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(*this / name) << text;
    return *this / name;
  }
  std::string path;
};

std::string contentOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Captures the standard output and standard error of the process.
class Capture {
public:
  Capture() {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i)
      saved[i] = dup(i + 1);
    file = std::tmpfile();
    for (int i = 0; i < 2; ++i)
      dup2(fileno(file), i + 1);
  }
  /// Ends the capture and returns the output.
  std::string end() {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      dup2(saved[i], i + 1);
      close(saved[i]);
    }
    std::string text(static_cast<size_t>(lseek(fileno(file), 0, SEEK_END)),
                     '\0');
    EXPECT_EQ(pread(fileno(file), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
    std::fclose(file);
    return text;
  }

private:
  int saved[2];
  std::FILE *file;
};

/// Sets an option. Returns the message of the usage error, "" without one.
std::string usageErrorOf(CompilerOptions &options, const std::string &name,
                         const std::string &value) {
  try {
    options.set(name, value);
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), BREW_USAGE);
    return error.what();
  }
  return "";
}

} // namespace

TEST(CompilerApi, ReturnsItsVersion) {
  EXPECT_EQ(brew_compiler_abi_version(), BREW_COMPILER_ABI_VERSION);
  EXPECT_STREQ(brew_compiler_version(), BREW_VERSION);
}

TEST(CompilerApi, CompilesText) {
  Compilation compilation =
      Compilation::ofText(convolutionNet(3), "n", fixedCpuOptions());
  EXPECT_EQ(compilation.status(), BREW_OK) << compilation.message();
  EXPECT_EQ(compilation.message(), "");
  EXPECT_EQ(compilation.plan().substr(0, 8), "BREWPLAN");
  EXPECT_TRUE(compilation.artifacts().empty());
  EXPECT_TRUE(compilation.report().empty());
}

TEST(CompilerApi, FileAndTextGiveTheSamePlan) {
  Folder folder;
  const std::string path = folder.write("n.prototxt", convolutionNet(3));
  Compilation ofFile = Compilation::ofFile(path, fixedCpuOptions());
  Compilation ofText = Compilation::ofText(convolutionNet(3), path,
                                           fixedCpuOptions(), folder.path);
  ASSERT_TRUE(ofFile.succeeded()) << ofFile.message();
  EXPECT_EQ(ofFile.plan(), ofText.plan());
}

TEST(CompilerApi, TextNamesFilesInItsFolder) {
  Folder folder;
  folder.write("net.prototxt", convolutionNet(3));
  const std::string solver = "net: 'net.prototxt' base_lr: 0.1 "
                             "lr_policy: 'fixed' test_iter: 1\n";
  CompilerOptions options = fixedCpuOptions();
  options.set("phase", "test");
  Compilation inFolder = Compilation::ofText(solver + "test_interval: 1", "s",
                                             options, folder.path);
  EXPECT_EQ(inFolder.status(), BREW_OK) << inFolder.message();
  Compilation withoutFolder =
      Compilation::ofText(solver + "test_interval: 1", "s", options);
  EXPECT_EQ(withoutFolder.status(), BREW_UNAVAILABLE);
  ASSERT_EQ(withoutFolder.diagnostics().size(), 1u);
  // The diagnostic has the location of the file's name.
  EXPECT_EQ(withoutFolder.diagnostics()[0].file, "s");
  EXPECT_EQ(withoutFolder.diagnostics()[0].line, 1);
  EXPECT_EQ(withoutFolder.diagnostics()[0].column, 6);
}

TEST(CompilerApi, ReturnsDiagnosticsOfTheText) {
  std::string text = convolutionNet(3);
  text += "layer { name: 'last' type: 'ReLU' bottom: 'zz' top: 'w'\n"
          "  relu_param { slope: 1 } }\n";
  Compilation compilation = Compilation::ofText(text, "net.prototxt");
  EXPECT_EQ(compilation.status(), BREW_BAD_INPUT);
  EXPECT_TRUE(compilation.plan().empty());
  const std::vector<Diagnostic> diagnostics = compilation.diagnostics();
  ASSERT_EQ(diagnostics.size(), 2u);
  for (const Diagnostic &diagnostic : diagnostics) {
    EXPECT_EQ(diagnostic.severity, BREW_ERROR);
    EXPECT_EQ(diagnostic.file, "net.prototxt");
    EXPECT_EQ(diagnostic.layer, "last");
  }
  EXPECT_EQ(diagnostics[0].line, 8);
  EXPECT_EQ(diagnostics[0].column, 16);
  EXPECT_NE(diagnostics[0].message.find("unknown field 'slope'"),
            std::string::npos);
  EXPECT_EQ(diagnostics[1].line, 7);
  EXPECT_EQ(diagnostics[1].column, 35);
  EXPECT_NE(diagnostics[1].message.find("did you mean 'z'?"),
            std::string::npos);
  EXPECT_EQ("net.prototxt:8:16: error: " + diagnostics[0].message,
            compilation.message());
}

TEST(CompilerApi, NotesHaveLocations) {
  std::string text = convolutionNet(3);
  text += "layer { name: 'gone' type: 'ReLU' bottom: 'z' top: 'w'\n"
          "  include { phase: TRAIN } }\n"
          "layer { name: 'user' type: 'ReLU' bottom: 'w' top: 'v' }\n";
  const auto diagnostics = Compilation::ofText(text, "n").diagnostics();
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].layer, "user");
  ASSERT_EQ(diagnostics[0].notes.size(), 1u);
  EXPECT_EQ(diagnostics[0].notes[0].file, "n");
  EXPECT_EQ(diagnostics[0].notes[0].line, 8);
  EXPECT_NE(diagnostics[0].notes[0].message.find("'gone'"), std::string::npos);
  EXPECT_EQ(diagnostics[0].str(),
            "n:9:35: error: " + diagnostics[0].message +
                "\nn:8:3: note: " + diagnostics[0].notes[0].message + "\n");
}

TEST(CompilerApi, ReturnsDiagnosticsOfPasses) {
  // An MLIR pass, shape inference, detects the error.
  const auto diagnostics =
      Compilation::ofText(convolutionNet(9), "n.prototxt").diagnostics();
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].file, "n.prototxt");
  EXPECT_EQ(diagnostics[0].line, 4);
  EXPECT_EQ(diagnostics[0].column, 1);
  EXPECT_EQ(diagnostics[0].layer, "conv");
  EXPECT_EQ(diagnostics[0].message.rfind("layer 'conv' (Convolution): ", 0), 0u)
      << diagnostics[0].message;
}

TEST(CompilerApi, ErrorsOfPassesHaveAStatus) {
  Compilation compilation = Compilation::ofText(
      "layer { name: 'd' type: 'Data' top: 'x'\n"
      "  data_param { source: 'no-such-lmdb' batch_size: 1 } }",
      "n");
  EXPECT_EQ(compilation.status(), BREW_UNAVAILABLE) << compilation.message();
  ASSERT_FALSE(compilation.diagnostics().empty());
  EXPECT_EQ(compilation.diagnostics().back().layer, "d");

  CompilerOptions options;
  options.set("keep", "nothing");
  Compilation wrong = Compilation::ofText(convolutionNet(3), "n", options);
  EXPECT_EQ(wrong.status(), BREW_USAGE);
  EXPECT_EQ(wrong.message(), "error: --keep: the net has no blob 'nothing'");
}

TEST(CompilerApi, AMissingFileIsUnavailable) {
  Compilation compilation = Compilation::ofFile("/no/such.prototxt");
  EXPECT_EQ(compilation.status(), BREW_UNAVAILABLE);
  ASSERT_EQ(compilation.diagnostics().size(), 1u);
  EXPECT_EQ(compilation.diagnostics()[0].file, "");
  EXPECT_NE(compilation.message().find("/no/such.prototxt"), std::string::npos);
}

TEST(CompilerApi, ReportsDiagnosticsImmediately) {
  CompilerOptions options;
  std::vector<std::string> messages;
  options.onDiagnostic([&](const Diagnostic &diagnostic) {
    messages.push_back(diagnostic.message);
  });
  Compilation compilation =
      Compilation::ofText(convolutionNet(9), "n", options);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0], compilation.diagnostics()[0].message);
}

TEST(CompilerApi, PrintsNothing) {
  CompilerOptions options;
  options.set("emit", "all");
  options.set("report", "text");
  Capture capture;
  Compilation good = Compilation::ofText(convolutionNet(3), "n", options);
  Compilation bad = Compilation::ofText(convolutionNet(9), "n", options);
  Compilation syntax = Compilation::ofText("layer {", "n");
  Compilation wrong = Compilation::ofText("layer { type: 3 }", "n");
  EXPECT_EQ(capture.end(), "");
  EXPECT_TRUE(good.succeeded()) << good.message();
  EXPECT_FALSE(bad.succeeded());
  EXPECT_FALSE(syntax.succeeded());
  EXPECT_FALSE(wrong.succeeded());
}

TEST(CompilerApi, ReturnsRequestedOutputs) {
  CompilerOptions options = fixedCpuOptions();
  options.set("emit", "all");
  options.set("report", "json");
  options.set("check-only");
  Compilation compilation =
      Compilation::ofText(convolutionNet(3), "n", options);
  ASSERT_TRUE(compilation.succeeded()) << compilation.message();
  EXPECT_TRUE(compilation.plan().empty());
  EXPECT_EQ(compilation.report().substr(0, 1), "{");
  std::string names;
  for (const CompilerArtifact &artifact : compilation.artifacts()) {
    EXPECT_FALSE(artifact.text.empty());
    names += std::string(artifact.name) + " ";
  }
  EXPECT_EQ(names, "import.mlir graph.mlir fused.mlir plan.mlir kernels.mlir "
                   "kernels.ll kernels.s ");
}

TEST(CompilerApi, AFailureKeepsEarlierArtifacts) {
  CompilerOptions options;
  options.set("emit", "all");
  Compilation compilation =
      Compilation::ofText(convolutionNet(9), "n", options);
  ASSERT_EQ(compilation.artifacts().size(), 1u);
  EXPECT_EQ(compilation.artifacts()[0].name, "import.mlir");
}

TEST(CompilerApi, WritesPlans) {
  Folder folder;
  Compilation compilation =
      Compilation::ofText(convolutionNet(3), "n", fixedCpuOptions());
  compilation.write(BREW_OUTPUT_PLAN, folder / "n.plan");
  EXPECT_EQ(contentOf(folder / "n.plan"), compilation.plan());
  try {
    compilation.write(BREW_OUTPUT_PLAN, folder / "none/n.plan");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), BREW_UNAVAILABLE);
    EXPECT_NE(std::string(error.what()).find("none/n.plan"), std::string::npos);
  }
  EXPECT_THROW(compilation.write(BREW_OUTPUT_REPORT, folder / "r"), Error);
}

TEST(CompilerApi, SuccessfulWritesRestoreTheMessage) {
  Folder folder;
  CompilerOptions options = fixedCpuOptions();
  options.set("report", "text");
  options.set("weights", folder.write("w.caffemodel", "no weights"));
  Compilation compilation =
      Compilation::ofText(convolutionNet(3), "n", options);
  EXPECT_EQ(compilation.status(), BREW_BAD_INPUT);
  const std::string message = compilation.message();
  EXPECT_NE(message.find("w.caffemodel"), std::string::npos) << message;
  // The report was complete before the error.
  compilation.write(BREW_OUTPUT_REPORT, folder / "report");
  EXPECT_EQ(compilation.message(), message);
  EXPECT_THROW(compilation.write(BREW_OUTPUT_PLAN, folder / "plan"), Error);
  EXPECT_NE(compilation.message(), message);
  compilation.write(BREW_OUTPUT_REPORT, folder / "report");
  EXPECT_EQ(compilation.message(), message);
}

TEST(CompilerApi, EmptyOutputsAreWritten) {
  Folder folder;
  Compilation compilation = Compilation::upgradeText("", "n");
  ASSERT_TRUE(compilation.succeeded()) << compilation.message();
  compilation.write(BREW_OUTPUT_UPGRADED, folder / "n");
  EXPECT_TRUE(std::filesystem::exists(folder / "n"));
  EXPECT_EQ(contentOf(folder / "n"), "");
}

TEST(CompilerApi, WeightsAreCheckedWithoutAPlan) {
  Folder folder;
  CompilerOptions options = fixedCpuOptions();
  options.set("check-only");
  options.set("weights", "/no/such.caffemodel");
  Compilation missing = Compilation::ofText(convolutionNet(3), "n", options);
  EXPECT_EQ(missing.status(), BREW_UNAVAILABLE);
  EXPECT_NE(missing.message().find("/no/such.caffemodel"), std::string::npos);
  options.set("weights", folder.write("w.caffemodel", "no weights"));
  EXPECT_EQ(Compilation::ofText(convolutionNet(3), "n", options).status(),
            BREW_BAD_INPUT);
}

TEST(CompilerApi, TrainingPlansStoreTheFolderOfTheirWeights) {
  const Folder folder;
  const std::filesystem::path file =
      std::filesystem::relative(folder.write("w.caffemodel", ""));
  CompilerOptions options = fixedCpuOptions();
  options.set("weights", file.string());
  Compilation compilation = Compilation::ofText(
      convolutionNet(3) + "layer { name: 'loss' type: 'Reduction' bottom: 'z' "
                          "top: 'l' loss_weight: 1 }",
      "n", options);
  ASSERT_TRUE(compilation.succeeded()) << compilation.message();
  EXPECT_NE(compilation.plan().find(std::filesystem::current_path().string()),
            std::string::npos);
}

TEST(CompilerApi, NamesThatAreNotUtf8AreErrors) {
  // The name of a net or a blob is in Latin-1.
  EXPECT_EQ(Compilation::ofText(convolutionNet(3, "caf\xe9"), "n").status(),
            BREW_BAD_INPUT);
  const std::string text =
      convolutionNet(3) +
      "layer { name: 'r' type: 'ReLU' bottom: 'z' top: 'w\xe9' }";
  Compilation compilation = Compilation::ofText(text, "n");
  EXPECT_EQ(compilation.status(), BREW_BAD_INPUT);
  const auto diagnostics = compilation.diagnostics();
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].layer, "r");
  EXPECT_EQ(diagnostics[0].message,
            "layer 'r' (ReLU): 'top' is not UTF-8: it has "
            "the byte 0xE9; is the file in another encoding?");
  // Messages that quote a text and reports that name a file are UTF-8.
  const auto quoted =
      Compilation::ofText("layer { loss_weight: '\xe9' }", "n").diagnostics();
  ASSERT_EQ(quoted.size(), 1u);
  EXPECT_NE(quoted[0].message.find("'\xef\xbf\xbd'"), std::string::npos);
  CompilerOptions options = fixedCpuOptions();
  options.set("check-only");
  for (const char *form : {"json", "html"}) {
    options.set("report", form);
    compilation = Compilation::ofText(convolutionNet(3), "caf\xe9", options);
    ASSERT_TRUE(compilation.succeeded()) << compilation.message();
    EXPECT_EQ(std::string(compilation.report()).find('\xe9'),
              std::string::npos);
  }
}

TEST(CompilerApi, EveryDiagnosticOfALayerNamesIt) {
  const auto unknown =
      Compilation::ofText(convolutionNet(3) +
                              "layer { name: 'frob' type: 'Frobnicate' "
                              "bottom: 'z' top: 'w' frob_param { a: 1 } }",
                          "n")
          .diagnostics();
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].layer, "frob");

  CompilerOptions options = fixedCpuOptions();
  options.set("phase", "train");
  options.set("gradients");
  options.set("check-only");
  const auto blocked =
      Compilation::ofText(
          "layer { name: 'in' type: 'Input' top: 'x' top: 'cont' top: 'z'\n"
          "  input_param { shape { dim: 2 dim: 3 dim: 4 }\n"
          "    shape { dim: 2 dim: 3 } shape { dim: 1 dim: 3 dim: 2 } } }\n"
          "layer { name: 'before' type: 'InnerProduct' bottom: 'z' top: 'h0'\n"
          "  inner_product_param { num_output: 5 axis: 2 } }\n"
          "layer { name: 'r' type: 'RNN' bottom: 'x' bottom: 'cont'\n"
          "  bottom: 'h0' top: 'y' top: 'h'\n"
          "  recurrent_param { num_output: 5 expose_hidden: true } }\n"
          "layer { name: 'loss' type: 'Reduction' bottom: 'y' top: 'l'\n"
          "  loss_weight: 1 }\n"
          "layer { name: 'quiet' type: 'Silence' bottom: 'h' }\n",
          "n", options)
          .diagnostics();
  ASSERT_EQ(blocked.size(), 1u);
  EXPECT_EQ(blocked[0].severity, BREW_WARNING);
  EXPECT_EQ(blocked[0].layer, "r");
}

TEST(CompilerApi, NumbersDoNotDependOnTheLocale) {
  const std::string net = convolutionNet(3) +
                          "layer { name: 'p' type: 'Power' bottom: 'z' top: 'p'"
                          "  power_param { scale: 0.3 shift: 0.25 } }\n";
  CompilerOptions options;
  options.set("target", "cuda");
  options.set("gpu-arch", "sm_90");
  options.set("no-library");
  options.set("emit", "kernels");
  options.set("report", "text");
  options.set("check-only");
  auto allTexts = [&] {
    Compilation compilation = Compilation::ofText(net, "n", options);
    std::string text =
        compilation.message() + std::string(compilation.report());
    for (const CompilerArtifact &artifact : compilation.artifacts())
      text += artifact.text;
    return text;
  };
  const std::string before = allTexts();
  EXPECT_NE(before.find("0.3f"), std::string::npos) << before;
  const brew::test::CommaLocale locale;
  if (!locale)
    GTEST_SKIP()
        << "no locale has decimal commas, and localedef could not create one";
  EXPECT_EQ(allTexts(), before);
}

TEST(CompilerApi, Upgrades) {
  const std::string old =
      "layers { name: 'r' type: RELU bottom: 'x' top: 'x' }";
  Compilation compilation = Compilation::upgradeText(old, "n");
  ASSERT_TRUE(compilation.succeeded()) << compilation.message();
  EXPECT_NE(compilation.upgraded().find("type: \"ReLU\""), std::string::npos);
  EXPECT_TRUE(compilation.plan().empty());
  Folder folder;
  EXPECT_EQ(Compilation::upgradeFile(folder.write("n", old)).upgraded(),
            compilation.upgraded());
  EXPECT_EQ(Compilation::upgradeText("layers {", "n").status(), BREW_BAD_INPUT);
}

TEST(CompilerOptionsApi, EveryOptionCanBeSet) {
  const std::vector<Option> table = compilerOptions();
  EXPECT_EQ(table.size(), brew_compiler_option_count());
  for (const Option &option : table) {
    CompilerOptions options;
    EXPECT_FALSE(option.help.empty()) << option.name;
    if (!option.defaultValue.empty())
      EXPECT_EQ(usageErrorOf(options, option.name, option.defaultValue), "");
    for (const auto &[value, meaning] : option.values) {
      EXPECT_EQ(usageErrorOf(options, option.name, value), "");
      EXPECT_FALSE(meaning.empty());
    }
    if (option.impliedValue)
      EXPECT_NO_THROW(options.set(option.name)) << option.name;
    else
      EXPECT_THROW(options.set(option.name), Error) << option.name;
    if (!option.values.empty())
      EXPECT_NE(usageErrorOf(options, option.name, "nonsense"), "")
          << option.name;
  }
}

TEST(CompilerOptionsApi, RejectsUnknownOptions) {
  CompilerOptions options;
  EXPECT_EQ(usageErrorOf(options, "tarket", "cpu"),
            "there is no option 'tarket'; did you mean 'target'?");
  EXPECT_EQ(usageErrorOf(options, "layout", "nwhc"),
            "--layout: unknown layout 'nwhc' (auto, nchw, nhwc)");
  EXPECT_EQ(usageErrorOf(options, "no-library", "conv,pool"),
            "--no-library: unknown group 'pool' (conv, ip, all)");
  EXPECT_NE(usageErrorOf(options, "batch", "many"), "");
  EXPECT_NE(usageErrorOf(options, "loss-scale", "many"), "");
  EXPECT_NE(usageErrorOf(options, "gradients", "maybe"), "");
  EXPECT_NE(usageErrorOf(options, "phase", "predict"), "");
  // Values of the right type, but out of range.
  for (const char *batch : {"0", "-3"})
    EXPECT_EQ(usageErrorOf(options, "batch", batch),
              "--batch must be at least 1");
  EXPECT_EQ(usageErrorOf(options, "level", "99999999999"),
            "--level must be a number of 32 bits");
  for (const char *scale : {"3", "0.5", "33554432", "nan", "inf"})
    EXPECT_EQ(usageErrorOf(options, "loss-scale", scale),
              "--loss-scale must be a power of two from 1 to 16777216");
  EXPECT_EQ(usageErrorOf(options, "loss-scale-window", "-1"),
            "--loss-scale-window must not be negative");
  EXPECT_EQ(usageErrorOf(options, "dump-dir", ""),
            "--dump-dir must name a folder");
  // Rejected values have no effect.
  EXPECT_TRUE(Compilation::ofText(convolutionNet(3), "n", options).succeeded());
}

TEST(CompilerOptionsApi, ContradictionsAreReportedByCompilations) {
  CompilerOptions options;
  options.set("gpu-arch", "sm_90");
  Compilation compilation =
      Compilation::ofText(convolutionNet(3), "n", options);
  EXPECT_EQ(compilation.status(), BREW_USAGE);
  EXPECT_EQ(compilation.message(),
            "error: --gpu-arch and --no-kernel-cache are for --target cuda");
  CompilerOptions dump;
  dump.set("dump-dir", "folder");
  EXPECT_EQ(Compilation::ofText(convolutionNet(3), "n", dump).message(),
            "error: --dump-dir is for --emit");
}

TEST(CompilerOptionsApi, LaterValuesReplaceEarlierOnesAndListsAccumulate) {
  CompilerOptions options;
  options.set("emit", "graph");
  options.set("check-only");
  options.set("keep", "x");
  options.set("keep", "y,z");
  options.set("phase", "train");
  options.set("phase", "test");
  Compilation compilation =
      Compilation::ofText(convolutionNet(3), "n", options);
  ASSERT_TRUE(compilation.succeeded()) << compilation.message();
  const std::string graph(compilation.artifacts().at(0).text);
  for (const char *blob : {"x", "y", "z"})
    EXPECT_NE(graph.find("brew.pin  data \"" + std::string(blob) + "\""),
              std::string::npos)
        << graph;
  EXPECT_NE(graph.find("brew.program @main  test"), std::string::npos) << graph;
}

TEST(CompilerApi, ConcurrentCompilationsAreIndependent) {
  // Threads compile nets with different kernels at the same time.
  constexpr int nets = 4, rounds = 3;
  auto compile = [](int net) {
    Compilation compilation = Compilation::ofText(
        convolutionNet(net + 1, "net" + std::to_string(net)), "n",
        fixedCpuOptions());
    return compilation.succeeded() ? std::string(compilation.plan())
                                   : compilation.message();
  };
  std::vector<std::string> sequential, concurrent[rounds];
  for (int net = 0; net < nets; ++net)
    sequential.push_back(compile(net));
  EXPECT_NE(sequential[0], sequential[1]);
  for (auto &round : concurrent) {
    round.resize(nets);
    std::vector<std::thread> threads;
    for (int net = 0; net < nets; ++net)
      threads.emplace_back([&, net] { round[net] = compile(net); });
    for (std::thread &thread : threads)
      thread.join();
    for (int net = 0; net < nets; ++net)
      EXPECT_TRUE(round[net] == sequential[net]) << "net " << net;
  }
}

TEST(CompilerApi, ConcurrentFailuresCanShareOptions) {
  const CompilerOptions options = fixedCpuOptions();
  std::vector<std::thread> threads;
  std::string messages[4];
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      messages[i] =
          Compilation::ofText(convolutionNet(9), std::to_string(i), options)
              .message();
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(messages[i].rfind(std::to_string(i) + ":4:1: error: layer", 0),
              0u)
        << messages[i];
}

TEST(CompilerCApi, RejectsNull) {
  brew_compilation *compilation = nullptr;
  EXPECT_EQ(brew_compile_file(nullptr, nullptr, &compilation), BREW_USAGE);
  EXPECT_EQ(brew_compile_text(nullptr, nullptr, 3, "n", nullptr, &compilation),
            BREW_USAGE);
  EXPECT_EQ(brew_compile_file(nullptr, "n", nullptr), BREW_USAGE);
  EXPECT_EQ(brew_compiler_options_create(nullptr), BREW_USAGE);
  EXPECT_EQ(brew_compiler_options_set(nullptr, "target", "cpu"), BREW_USAGE);
  EXPECT_EQ(brew_compilation_status(nullptr), BREW_USAGE);
  EXPECT_STREQ(brew_compilation_message(nullptr), "");
  EXPECT_EQ(brew_compilation_diagnostic_count(nullptr), 0u);
  brew_compilation_destroy(nullptr);
  brew_compiler_options_destroy(nullptr);
  // Without options, name and bytes, the text is an empty net.
  EXPECT_EQ(
      brew_compile_text(nullptr, nullptr, 0, nullptr, nullptr, &compilation),
      brew_compilation_status(compilation));
  brew_compilation_destroy(compilation);
}

TEST(CompilerCApi, InvalidCallsReturnNoCompilation) {
  brew_compilation *const stale = reinterpret_cast<brew_compilation *>(16);
  brew_compilation *compilation = stale;
  EXPECT_EQ(brew_compile_file(nullptr, nullptr, &compilation), BREW_USAGE);
  EXPECT_EQ(compilation, nullptr);
  compilation = stale;
  EXPECT_EQ(brew_compile_text(nullptr, nullptr, 1, "n", nullptr, &compilation),
            BREW_USAGE);
  EXPECT_EQ(compilation, nullptr);
  compilation = stale;
  EXPECT_EQ(brew_upgrade_file(nullptr, nullptr, &compilation), BREW_USAGE);
  EXPECT_EQ(compilation, nullptr);
  compilation = stale;
  EXPECT_EQ(brew_upgrade_text(nullptr, nullptr, 1, "n", &compilation),
            BREW_USAGE);
  EXPECT_EQ(compilation, nullptr);
}

TEST(CompilerCApi, FillsNoMoreThanTheCallersStructure) {
  // The caller was compiled with a header in which the structure ended with
  // `severity`.
  struct Old {
    size_t struct_size;
    brew_severity severity;
    int guard;
  } old = {offsetof(Old, guard), BREW_NOTE, 77};
  Compilation compilation = Compilation::ofText("layer {", "n");
  ASSERT_EQ(
      brew_compilation_diagnostic(compilation.get(), 0,
                                  reinterpret_cast<brew_diagnostic *>(&old)),
      BREW_OK);
  EXPECT_EQ(old.struct_size, offsetof(Old, guard));
  EXPECT_EQ(old.severity, BREW_ERROR);
  EXPECT_EQ(old.guard, 77);
  // A structure without a size is a usage error.
  auto option = makeStruct<brew_option>();
  EXPECT_EQ(brew_compiler_option_get(0, &option), BREW_OK);
  old.struct_size = option.struct_size = 0;
  EXPECT_EQ(brew_compiler_option_get(0, &option), BREW_USAGE);
  EXPECT_EQ(
      brew_compilation_diagnostic(compilation.get(), 0,
                                  reinterpret_cast<brew_diagnostic *>(&old)),
      BREW_USAGE);
}

TEST(CompilerCApi, TheSonameIsTheAbiVersion) {
  const std::string name =
      "libbrew_compiler.so." + std::to_string(BREW_COMPILER_ABI_VERSION);
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << name;
  dlclose(library);
}

// These tests are last, because LLVM's options apply to the whole process.
TEST(CompilerProcess, LlvmArguments) {
  try {
    setLlvmArguments({"--no-such-flag"});
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), BREW_USAGE);
    EXPECT_EQ(
        std::string(error.what()).rfind("unknown option '--no-such-flag'", 0),
        0u)
        << error.what();
  }
  for (const char *flag : {"--help", "-h", "--help-hidden", "--version"})
    EXPECT_THROW(setLlvmArguments({flag}), Error) << flag;
  CompilerOptions options;
  options.set("emit", "graph");
  options.set("check-only");
  auto graph = [&] {
    Compilation compilation =
        Compilation::ofText(convolutionNet(3), "n", options);
    return compilation.succeeded()
               ? std::string(compilation.artifacts().at(0).text)
               : compilation.message();
  };
  EXPECT_EQ(graph().find("loc("), std::string::npos);
  setLlvmArguments({"--mlir-print-debuginfo"});
  EXPECT_NE(graph().find("loc("), std::string::npos);
  setLlvmArguments({});
  EXPECT_EQ(graph().find("loc("), std::string::npos);
  Capture capture;
  setLlvmArguments({"--mlir-print-ir-after=brew-infer-shapes"});
  graph();
  setLlvmArguments({});
  EXPECT_NE(capture.end().find("IR Dump After InferShapes"), std::string::npos);
}

TEST(CompilerProcess, LlvmArgumentsOutliveLinking) {
  CompilerOptions options = fixedCpuOptions();
  options.set("emit", "graph");
  setLlvmArguments({"--mlir-print-debuginfo"});
  for (int i = 0; i < 3; ++i) {
    Compilation compilation =
        Compilation::ofText(convolutionNet(3), "n", options);
    ASSERT_FALSE(compilation.plan().empty()) << compilation.message();
    EXPECT_NE(compilation.artifacts().at(0).text.find("loc("),
              std::string::npos)
        << i;
  }
  setLlvmArguments({});
}

TEST(CompilerProcess, RejectedLlvmArgumentsChangeNothing) {
  CompilerOptions options;
  options.set("emit", "graph");
  options.set("check-only");
  auto hasLocations = [&] {
    Compilation compilation =
        Compilation::ofText(convolutionNet(3), "n", options);
    return compilation.artifacts().at(0).text.find("loc(") != std::string::npos;
  };
  EXPECT_THROW(setLlvmArguments({"--mlir-print-debuginfo", "--no-such-flag"}),
               Error);
  EXPECT_FALSE(hasLocations());
  setLlvmArguments({"--mlir-print-debuginfo"});
  EXPECT_THROW(setLlvmArguments({"--no-such-flag"}), Error);
  EXPECT_TRUE(hasLocations());
  setLlvmArguments({});
}

namespace {

/// Encodes a length-delimited field of less than 128 bytes.
std::string field(int number, const std::string &content) {
  std::string tag(1, static_cast<char>((number << 3 | 2) & 127));
  if (number > 15) {
    tag[0] = static_cast<char>(((number << 3 | 2) & 127) | 128);
    tag += static_cast<char>(number >> 4);
  }
  return tag + static_cast<char>(content.size()) + content;
}

/// Encodes a layer of a NetParameter; `more` contains further fields.
std::string layer(const std::string &name, const std::string &type,
                  const std::string &more) {
  return field(100, field(1, name) + field(2, type) + more);
}

} // namespace

TEST(CompilerApi, DescribesANet) {
  const std::string python = field(130, field(1, "m") + field(2, "L"));
  const std::string net =
      layer("in", "Input", field(4, "x")) +
      layer("p", "Python", field(3, "x") + field(4, "y") + python) +
      layer("l", "EuclideanLoss",
            field(3, "y") + field(3, "x") + field(4, "loss")) +
      layer("left out", "Silence",
            field(3, "x") + field(8, std::string("\x08\x01", 2)));
  CompilerOptions options;
  options.set("phase", "train");
  options.setParamCount("p", 1);
  const Compilation described = Compilation::describeNet(net, "n", options);
  ASSERT_TRUE(described.succeeded()) << described.message();
  EXPECT_EQ(described.net().find("left out"), std::string::npos);
  EXPECT_EQ(described.net().find("Split"), std::string::npos);
  const std::string split = layer("x_in_0_split", "Split",
                                  field(3, "x") + field(4, "x_in_0_split_0") +
                                      field(4, "x_in_0_split_1"));
  EXPECT_NE(described.splitNet().find(split), std::string::npos);
  EXPECT_EQ(described.report(),
            R"({"layers":[{"bottom_gradients":[],"loss_weights":[0.0],)"
            R"("needs_backward":false,"params":[]},)"
            R"({"bottom_gradients":[false],"loss_weights":[0.0,0.0],)"
            R"("needs_backward":false,"params":[]},)"
            R"({"bottom_gradients":[false],"loss_weights":[0.0],)"
            R"("needs_backward":true,"params":[{"has_gradient":true,)"
            R"("is_statistic":false,"number":0}]},)"
            R"({"bottom_gradients":[true,false],"loss_weights":[1.0],)"
            R"("needs_backward":true,"params":[]}],)"
            R"("params":[{"decay_mult":1.0,"lr_mult":1.0}]})");
}

TEST(CompilerApi, DescribesALossWithoutTops) {
  const std::string net =
      layer("in", "Input", field(4, "x") + field(4, "t")) +
      layer("l", "EuclideanLoss", field(3, "x") + field(3, "t"));
  CompilerOptions options;
  options.set("phase", "train");
  const Compilation described = Compilation::describeNet(net, "n", options);
  const std::string withTop =
      layer("l", "EuclideanLoss",
            field(3, "x") + field(3, "t") + field(4, "(automatic) l"));
  EXPECT_NE(described.net().find(withTop), std::string::npos);
  EXPECT_NE(described.splitNet().find(withTop), std::string::npos);
  EXPECT_NE(described.report().find("\"loss_weights\":[1.0]"),
            std::string::npos);
}

TEST(CompilerApi, DescribesOnlyNetsWithoutErrors) {
  CompilerOptions options;
  options.set("phase", "test");
  const std::string net = layer("r", "ReLU", field(3, "x") + field(4, "y"));
  const Compilation wrong = Compilation::describeNet(net, "n", options);
  EXPECT_EQ(wrong.status(), BREW_BAD_INPUT);
  EXPECT_EQ(wrong.diagnostics().at(0).message,
            "layer 'r' (ReLU): bottom blob 'x' is not produced by any layer "
            "before it");
  EXPECT_NE(wrong.net().find("ReLU"), std::string::npos);
  EXPECT_EQ(wrong.splitNet(), "");

  EXPECT_EQ(Compilation::describeNet("garbage", "n", options).status(),
            BREW_USAGE);
  EXPECT_EQ(Compilation::describeNet(net, "n", {}).status(), BREW_USAGE);
  EXPECT_THROW(options.setParamCount("r", -1), Error);
}
