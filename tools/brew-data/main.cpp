//===- main.cpp - brew-data -----------------------------------------------===//
//
// Command line of the tool that makes and inspects training databases.
//
//===----------------------------------------------------------------------===//
#include "formats/Error.h"
#include "tools/brew-data/Commands.h"
#include "tools/common/CliCompletion.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

namespace {

using namespace brew;

void onSignal(int) { data::interrupted.store(true); }

/// The status a shell reports for SIGINT.
constexpr int interruptedStatus = 130;

formats::DbBackend backendOf(const std::string &text) {
  return *formats::parseBackend(text); // CLI11 has checked it
}

void addBackend(CLI::App *command, std::string &backend,
                const std::string &description) {
  command->add_option("--backend", backend, description)
      ->check(CLI::IsMember({"lmdb", "leveldb"}, CLI::ignore_case));
}

int run(int argc, char **argv) {
  CLI::App app{"brew-data: makes and inspects training databases"};
  app.require_subcommand(1);

  std::string backend = "lmdb";
  data::Output output;
  auto addOutputOptions = [&](CLI::App *command) {
    addBackend(command, backend, "kind of database: lmdb (default) or leveldb");
    command->add_flag("--overwrite", output.overwrite,
                      "replace a database that exists");
  };

  std::string images, labels;
  int classes = 10;
  CLI::App *mnist = app.add_subcommand(
      "mnist", "MNIST's IDX files (plain or .gz) to a database");
  mnist->add_option("IMAGES", images, "IDX file of images")->required();
  mnist->add_option("LABELS", labels, "IDX file of labels")->required();
  mnist->add_option("OUT_DB", output.path, "database to make")->required();
  mnist
      ->add_option("--classes", classes,
                   "number of classes; a label beyond is an error (default 10)")
      ->check(CLI::Range(1, 256));
  addOutputOptions(mnist);

  std::vector<std::string> batches;
  CLI::App *cifar = app.add_subcommand(
      "cifar10", "CIFAR-10 binary batches (plain or .gz) to a database");
  cifar->add_option("BATCH", batches, "batch files, in order")->required();
  cifar->add_option("-o,--output", output.path, "database to make")->required();
  addOutputOptions(cifar);

  std::string database, meanFile, readBackend;
  const char *readDescription = "lmdb or leveldb (default: what the folder is)";
  CLI::App *mean = app.add_subcommand("mean", "mean image of a database");
  mean->add_option("DB", database, "database to read")->required();
  mean->add_option("OUT", meanFile, "binaryproto file to write")->required();
  addBackend(mean, readBackend, readDescription);

  CLI::App *list = app.add_subcommand("list", "what a database holds");
  list->add_option("DB", database, "database to read")->required();
  addBackend(list, readBackend, readDescription);

  if (tools::printCompletion(app, "brew-data", {argv + 1, argv + argc}))
    return 0;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // CLI11 has a status per kind of mistake, and zero for --help.
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::Usage);
  }

  output.backend = backendOf(backend);
  std::optional<formats::DbBackend> readFrom;
  if (!readBackend.empty())
    readFrom = backendOf(readBackend);
  if (*mnist)
    data::convertMnist(images, labels, classes, output);
  else if (*cifar)
    data::convertCifar(batches, output);
  else if (*mean)
    data::computeMean(database, readFrom, meanFile);
  else
    data::listDatabase(database, readFrom);
  if (std::fflush(stdout) != 0)
    throw machineLacks("cannot write to standard output");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  std::signal(SIGINT, onSignal);
  std::signal(SIGTERM, onSignal);
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN); // a file size limit is then a write error
#endif
  try {
    return run(argc, argv);
  } catch (const brew::Error &error) {
    std::fprintf(stderr, "brew-data: error: %s\n", error.what());
    return static_cast<int>(error.status());
  } catch (const data::Interrupted &) {
    std::fprintf(stderr, "brew-data: interrupted; nothing was written\n");
    return interruptedStatus;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "brew-data: error: not enough memory\n");
    return static_cast<int>(ExitStatus::MachineLacks);
  } catch (const std::exception &error) {
    std::fprintf(stderr,
                 "brew-data: internal error: %s\nThis is a bug in Brew; please "
                 "report it with the command line.\n",
                 error.what());
    return static_cast<int>(ExitStatus::Bug);
  }
}
