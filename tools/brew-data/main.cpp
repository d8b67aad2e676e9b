//===- main.cpp - brew-data -----------------------------------------------===//
//
// Command line of the tool that makes and inspects training databases.
//
//===----------------------------------------------------------------------===//
#include "support/Error.h"
#include "tools/brew-data/AnnotatedSet.h"
#include "tools/brew-data/CaffeToolNames.h"
#include "tools/brew-data/Commands.h"
#include "tools/brew-data/ExtractFeatures.h"
#include "tools/brew-data/ImageSet.h"
#include "tools/common/CliCompletion.h"

#include "support/NumberText.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
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

/// "PATH=SHARE".
data::SplitTarget parseSplitTarget(const std::string &text) {
  const size_t equals = text.rfind('=');
  double share = 0;
  if (equals != std::string::npos)
    share = parseDouble(text.substr(equals + 1)).value_or(0);
  if (equals == std::string::npos || equals == 0 || !(share > 0 && share <= 1))
    throw usageError("'" + text +
                     "' is no target; write DB=SHARE, a share from 0 to 1");
  return {text.substr(0, equals), share};
}

/// Declares convert_imageset's arguments and flags.
void addImageSet(CLI::App *command, data::ImageSetOptions &options,
                 const std::function<void(CLI::App *)> &addOutputOptions) {
  command
      ->add_option("ROOT", options.root,
                   "what stands before the names of the list, e.g. a folder/")
      ->required();
  command->add_option("LIST", options.list, "text file of lines FILE LABEL")
      ->required();
  command->add_option("OUT_DB", options.output.path, "database to make")
      ->required();
  command->add_flag("--gray", options.gray, "treat images as grayscale ones");
  command->add_flag("--shuffle", options.shuffle,
                    "shuffle the order of images");
  command->add_option("--seed", options.seed,
                      "what the order is drawn from (default 0)");
  command
      ->add_option("--resize_width,--resize-width", options.resizeWidth,
                   "width images are resized to (0: as they are)")
      ->check(CLI::Range(0, 1 << 16));
  command
      ->add_option("--resize_height,--resize-height", options.resizeHeight,
                   "height images are resized to (0: as they are)")
      ->check(CLI::Range(0, 1 << 16));
  command->add_flag("--check_size,--check-size", options.checkSize,
                    "check that all the datums have the same size");
  command->add_flag("--encoded", options.encoded,
                    "save the encoded image in the datum");
  command->add_option("--encode_type,--encode-type", options.encodeType,
                      "what type images are encoded as: png, jpg");
  command
      ->add_option("--threads", options.threads,
                   "threads that decode (0: one per core)")
      ->check(CLI::Range(0, 4096));
  addOutputOptions(command);
}

int run(const std::vector<std::string> &arguments) {
  CLI::App app{"brew-data: makes and inspects training databases", "brew-data"};
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

  data::ImageSetOptions imageSet;
  CLI::App *imageset = app.add_subcommand(
      "imageset", "a list of images to a database, as convert_imageset");
  addImageSet(imageset, imageSet, addOutputOptions);
  CLI::App *convert =
      app.add_subcommand("convert_imageset", "Caffe's name of imageset");
  addImageSet(convert, imageSet, addOutputOptions);

  data::AnnotatedSetOptions annotatedSet;
  CLI::App *annotated = app.add_subcommand(
      "annoset", "images with their objects to a database, for AnnotatedData");
  annotated
      ->add_option("ROOT", annotatedSet.root,
                   "what stands before the names of the list, e.g. a folder/")
      ->required();
  annotated
      ->add_option("LIST", annotatedSet.list,
                   "text file of lines IMAGE ANNOTATIONS")
      ->required();
  annotated->add_option("OUT_DB", annotatedSet.output.path, "database to make")
      ->required();
  addOutputOptions(annotated);

  CLI::App *caffeMean = app.add_subcommand(
      "compute_image_mean", "Caffe's name of mean; the file may be left out");
  caffeMean->add_option("DB", database, "database to read")->required();
  caffeMean->add_option("OUT", meanFile, "binaryproto file to write");
  addBackend(caffeMean, readBackend, readDescription);

  std::vector<std::string> featureWords;
  CLI::App *features = app.add_subcommand(
      "extract_features", "Caffe's extract_features: WEIGHTS NET BLOB[,...] "
                          "DB[,...] BATCHES lmdb|leveldb [CPU|GPU] "
                          "[DEVICE_ID=N]");
  features->add_option("WORDS", featureWords, "as Caffe's tool takes them")
      ->required();

  data::Inspection inspection;
  CLI::App *inspect = app.add_subcommand(
      "inspect", "counts, shapes, labels and first images of a database");
  inspect->add_option("DB", inspection.database, "database to read")
      ->required();
  inspect->add_flag("--json", inspection.json, "print JSON");
  inspect->add_option("--sheet", inspection.sheet,
                      "PNG file of the first images to write");
  inspect
      ->add_option("--images", inspection.sheetImages,
                   "images on the sheet (default 64)")
      ->check(CLI::Range(1, 4096));
  addBackend(inspect, readBackend, readDescription);

  CLI::App *verify =
      app.add_subcommand("verify", "read everything and name damaged records");
  verify->add_option("DB", database, "database to read")->required();
  addBackend(verify, readBackend, readDescription);

  uint64_t seed = 0;
  auto addSeed = [&](CLI::App *command) {
    command->add_option("--seed", seed,
                        "what the order is drawn from (default 0)");
  };
  CLI::App *shuffle =
      app.add_subcommand("shuffle", "the records in a random order");
  shuffle->add_option("DB", database, "database to read")->required();
  shuffle->add_option("OUT_DB", output.path, "database to make")->required();
  addSeed(shuffle);
  addOutputOptions(shuffle);

  std::vector<std::string> targets;
  bool random = false;
  CLI::App *split =
      app.add_subcommand("split", "divide a database, e.g. for validation");
  split->add_option("DB", database, "database to read")->required();
  split->add_option("PART", targets, "OUT_DB=SHARE, shares of 1 in all")
      ->required();
  split->add_flag(
      "--random", random,
      "draw the records of the targets (default: one after the other)");
  addSeed(split);
  addOutputOptions(split);

  std::vector<std::string> databases;
  CLI::App *merge =
      app.add_subcommand("merge", "several databases one after the other");
  merge->add_option("DB", databases, "databases to read, in order")->required();
  merge->add_option("-o,--output", output.path, "database to make")->required();
  addOutputOptions(merge);

  std::string windowFile, windowRoot;
  CLI::App *windows = app.add_subcommand(
      "windows", "check a window file of WindowData against its images");
  windows->add_option("FILE", windowFile, "window file")->required();
  windows->add_option("--root", windowRoot,
                      "what stands before the images' names, e.g. a folder/");

  CLI::App *list = app.add_subcommand("list", "what a database holds");
  list->add_option("DB", database, "database to read")->required();
  addBackend(list, readBackend, readDescription);

  if (tools::printCompletion(app, "brew-data", arguments))
    return 0;
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed); // as CLI11 takes them
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
  else if (*imageset || *convert) {
    imageSet.output.backend = output.backend;
    imageSet.output.overwrite = output.overwrite;
    data::convertImageSet(imageSet);
  } else if (*annotated) {
    annotatedSet.output.backend = output.backend;
    annotatedSet.output.overwrite = output.overwrite;
    data::convertAnnotatedSet(annotatedSet);
  } else if (*features)
    return data::extractFeatures(featureWords);
  else if (*inspect) {
    inspection.backend = readFrom;
    data::inspectDatabase(inspection);
  } else if (*verify)
    data::verifyDatabase(database, readFrom);
  else if (*shuffle)
    data::shuffleDatabase(database, seed, output);
  else if (*split) {
    std::vector<data::SplitTarget> shares;
    for (const std::string &target : targets)
      shares.push_back(parseSplitTarget(target));
    data::splitDatabase(database, shares, random, seed, output);
  } else if (*merge)
    data::mergeDatabases(databases, output);
  else if (*windows)
    data::inspectWindows(windowFile, windowRoot);
  else if (*mean || *caffeMean)
    data::computeMean(database, readFrom, meanFile);
  else
    data::listDatabase(database, readFrom);
  if (std::fflush(stdout) != 0)
    throw unavailable("cannot write to standard output");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  // Without SA_RESTART: whoever waits for another program hears of it.
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN); // a file size limit is then a write error
#endif
  try {
    return run(data::normalizeCommandLine(argc ? argv[0] : "",
                                 {argv + std::min(argc, 1), argv + argc}));
  } catch (const brew::Error &error) {
    std::fprintf(stderr, "brew-data: error: %s\n", error.what());
    return static_cast<int>(error.status());
  } catch (const data::Interrupted &) {
    std::fprintf(stderr, "brew-data: interrupted; nothing was written\n");
    return interruptedStatus;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "brew-data: error: not enough memory\n");
    return static_cast<int>(ExitStatus::Unavailable);
  } catch (const std::exception &error) {
    std::fprintf(stderr,
                 "brew-data: internal error: %s\nThis is a bug in Brew; please "
                 "report it with the command line.\n",
                 error.what());
    return static_cast<int>(ExitStatus::Bug);
  }
}
