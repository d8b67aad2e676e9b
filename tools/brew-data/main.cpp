//===- main.cpp - brew-data -----------------------------------------------===//
//
// Command line of the tool that creates and inspects training databases.
//
//===----------------------------------------------------------------------===//
#include "support/Error.h"
#include "support/PrintableText.h"
#include "tools/brew-data/AnnotatedSet.h"
#include "tools/brew-data/CaffeToolNames.h"
#include "tools/brew-data/Commands.h"
#include "tools/brew-data/ExtractFeatures.h"
#include "tools/brew-data/FolderSet.h"
#include "tools/brew-data/ImageSet.h"
#include "tools/common/CliCompletion.h"
#include "tools/common/CliErrors.h"
#include "tools/common/StandardStreams.h"

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
      ->transform(CLI::IsMember({"lmdb", "leveldb"}, CLI::ignore_case));
}

/// Parses "PATH=SHARE".
data::SplitTarget parseSplitTarget(const std::string &text) {
  const size_t equals = text.rfind('=');
  double share = 0;
  if (equals != std::string::npos)
    share = parseDouble(text.substr(equals + 1)).value_or(0);
  if (equals == std::string::npos || equals == 0 || !(share > 0 && share <= 1))
    throw usageError("'" + text + "' is not DB=SHARE with a share from 0 to 1");
  return {text.substr(0, equals), share};
}

/// Declares convert_imageset's arguments and flags.
void addImageSet(CLI::App *command, data::ImageSetOptions &options,
                 const std::function<void(CLI::App *)> &addOutputOptions) {
  command
      ->add_option("ROOT", options.root,
                   "prefix of the names in the list, e.g. a folder/")
      ->required();
  command->add_option("LIST", options.list, "text file of lines FILE LABEL")
      ->required();
  command->add_option("OUT_DB", options.output.path, "database to create")
      ->required();
  command->add_flag("--gray", options.gray, "convert images to grayscale");
  command->add_flag("--shuffle", options.shuffle,
                    "shuffle the order of images");
  command->add_option("--seed", options.seed,
                      "random seed of the order (default 0)");
  command
      ->add_option("--resize_width,--resize-width", options.resizeWidth,
                   "width of resized images (0: original)")
      ->check(CLI::Range(0, 1 << 16));
  command
      ->add_option("--resize_height,--resize-height", options.resizeHeight,
                   "height of resized images (0: original)")
      ->check(CLI::Range(0, 1 << 16));
  command->add_flag("--check_size,--check-size", options.checkSize,
                    "check that all the datums have the same size");
  command->add_flag("--encoded", options.encoded,
                    "save the encoded image in the datum");
  command
      ->add_option("--encode_type,--encode-type", options.encodeType,
                   "format of encoded images: png or jpg")
      ->type_name("png|jpg");
  command
      ->add_option("--threads", options.threads,
                   "decoding threads (0: one per core)")
      ->check(CLI::Range(0, 4096));
  addOutputOptions(command);
}

/// Parses "N" or "H,W", numbers of pixels.
std::vector<int> parseSize(const std::string &option, const std::string &text) {
  constexpr int64_t kMaxSide = 1 << 16;
  std::vector<int> numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::optional<int64_t> number =
        parseInteger(text.substr(begin, comma - begin));
    if (!number || *number < 1 || *number > kMaxSide || numbers.size() == 2)
      throw CLI::ValidationError(
          option,
          "'" + text + "' is not N or H,W with numbers from 1 to 65536");
    numbers.push_back(static_cast<int>(*number));
    begin = comma + 1;
  }
  return numbers;
}

/// Declares the conversion of a folder of classes.
void addFolderSet(CLI::App *command, data::FolderSetOptions &options) {
  command
      ->add_option("FOLDER", options.folder,
                   "folder with a subfolder of images for each class")
      ->required();
  command
      ->add_option("OUT", options.output.path,
                   "folder for train_lmdb, test_lmdb, labels.txt and "
                   "mean.binaryproto")
      ->required();
  command
      ->add_option_function<std::string>(
          "--resize",
          [&options](const std::string &text) {
            options.resize = parseSize("--resize", text);
          },
          "N: resize the shorter side to N and keep the aspect ratio; H,W: "
          "resize "
          "to that height and width")
      ->type_name("N|H,W");
  command
      ->add_option_function<std::string>(
          "--crop",
          [&options](const std::string &text) {
            options.crop = parseSize("--crop", text);
          },
          "N or H,W: crop the centre of the (resized) image")
      ->type_name("N|H,W");
  command
      ->add_option("--test", options.testShare,
                   "share of each class for testing (default 0.2; 0: no test "
                   "database)")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 0.99));
  command->add_flag("--gray", options.gray, "convert images to grayscale");
  command
      ->add_option("--encode-type", options.encodeType,
                   "store images as png or jpg (default: raw pixels)")
      ->check(CLI::IsMember({"png", "jpg"}));
  command->add_flag("--skip-bad-images", options.skipBadImages,
                    "leave images out that cannot be read");
  command->add_option("--seed", options.seed,
                      "random seed of split and order (default 0)");
  command
      ->add_option("--threads", options.threads,
                   "decoding threads (0: one per core)")
      ->check(CLI::Range(0, 4096));
}

int run(const std::vector<std::string> &arguments) {
  CLI::App app{"brew-data: creates and inspects training databases",
               "brew-data"};
  app.require_subcommand(1);

  std::string backend = "lmdb";
  data::Output output;
  auto addOutputOptions = [&](CLI::App *command) {
    addBackend(command, backend, "kind of database: lmdb (default) or leveldb");
    command->add_flag("--overwrite", output.overwrite,
                      "replace an existing database");
  };

  std::string images, labels;
  int classes = 10;
  CLI::App *mnist =
      app.add_subcommand("mnist", "convert MNIST's IDX files (plain or .gz)");
  mnist->add_option("IMAGES", images, "IDX file of images")->required();
  mnist->add_option("LABELS", labels, "IDX file of labels")->required();
  mnist->add_option("OUT_DB", output.path, "database to create")->required();
  mnist
      ->add_option("--classes", classes,
                   "number of classes; larger labels are errors (default 10)")
      ->check(CLI::Range(1, 256));
  addOutputOptions(mnist);

  std::vector<std::string> batches;
  CLI::App *cifar = app.add_subcommand(
      "cifar10", "convert CIFAR-10 binary batches (plain or .gz)");
  cifar->add_option("BATCH", batches, "batch files, in order")->required();
  cifar->add_option("-o,--output", output.path, "database to create")
      ->type_name("OUT_DB")
      ->required();
  addOutputOptions(cifar);

  std::string database, meanFile, readBackend;
  const char *readDescription = "lmdb or leveldb (default: detected)";
  CLI::App *mean =
      app.add_subcommand("mean", "compute the mean image of a database");
  mean->add_option("DB", database, "database to read")->required();
  mean->add_option("OUT", meanFile, "binaryproto file to write")->required();
  addBackend(mean, readBackend, readDescription);

  data::ImageSetOptions imageSet;
  CLI::App *imageset = app.add_subcommand(
      "imageset", "convert a list of images, like Caffe's convert_imageset");
  addImageSet(imageset, imageSet, addOutputOptions);
  CLI::App *convert =
      app.add_subcommand("convert_imageset", "Caffe's name of imageset");
  addImageSet(convert, imageSet, addOutputOptions);

  data::FolderSetOptions folderSet;
  CLI::App *folder = app.add_subcommand(
      "images", "convert a folder with a subfolder of images for each class");
  addFolderSet(folder, folderSet);
  addOutputOptions(folder);

  data::AnnotatedSetOptions annotatedSet;
  CLI::App *annotated = app.add_subcommand(
      "annoset", "convert images with annotated objects, for AnnotatedData");
  annotated
      ->add_option("ROOT", annotatedSet.root,
                   "prefix of the names in the list, e.g. a folder/")
      ->required();
  annotated
      ->add_option("LIST", annotatedSet.list,
                   "text file of lines IMAGE ANNOTATIONS")
      ->required();
  annotated
      ->add_option("OUT_DB", annotatedSet.output.path, "database to create")
      ->required();
  addOutputOptions(annotated);

  CLI::App *caffeMean = app.add_subcommand(
      "compute_image_mean", "Caffe's name of mean; the file is optional");
  caffeMean->add_option("DB", database, "database to read")->required();
  caffeMean->add_option("OUT", meanFile, "binaryproto file to write");
  addBackend(caffeMean, readBackend, readDescription);

  std::vector<std::string> featureWords;
  CLI::App *features = app.add_subcommand(
      "extract_features", "Caffe's extract_features: WEIGHTS NET BLOB[,...] "
                          "DB[,...] BATCHES lmdb|leveldb [CPU|GPU] "
                          "[DEVICE_ID=N]");
  features->add_option("WORDS", featureWords, "the arguments of Caffe's tool")
      ->required();

  data::Inspection inspection;
  CLI::App *inspect = app.add_subcommand(
      "inspect", "show counts, shapes, labels and first images of a database");
  inspect->add_option("DB", inspection.database, "database to read")
      ->required();
  inspect->add_flag("--json", inspection.json, "print JSON");
  inspect
      ->add_option("--sheet", inspection.sheet,
                   "PNG file to write with the first images")
      ->type_name("FILE");
  inspect
      ->add_option("--images", inspection.sheetImages,
                   "number of images on the sheet (default 64)")
      ->check(CLI::Range(1, 4096));
  addBackend(inspect, readBackend, readDescription);

  CLI::App *verify =
      app.add_subcommand("verify", "read all records and list damaged ones");
  verify->add_option("DB", database, "database to read")->required();
  addBackend(verify, readBackend, readDescription);

  uint64_t seed = 0;
  auto addSeed = [&](CLI::App *command) {
    command->add_option("--seed", seed, "random seed of the order (default 0)");
  };
  CLI::App *shuffle =
      app.add_subcommand("shuffle", "write the records in random order");
  shuffle->add_option("DB", database, "database to read")->required();
  shuffle->add_option("OUT_DB", output.path, "database to create")->required();
  addSeed(shuffle);
  addOutputOptions(shuffle);

  std::vector<std::string> targets;
  bool random = false;
  CLI::App *split =
      app.add_subcommand("split", "split a database, e.g. for validation");
  split->add_option("DB", database, "database to read")->required();
  split
      ->add_option("PART", targets,
                   "OUT_DB=SHARE; the sum of the shares is at most 1")
      ->required();
  split->add_flag(
      "--random", random,
      "draw the records of the targets (default: one after the other)");
  addSeed(split);
  addOutputOptions(split);

  std::vector<std::string> databases;
  CLI::App *merge = app.add_subcommand("merge", "concatenate databases");
  merge->add_option("DB", databases, "databases to read, in order")->required();
  merge->add_option("-o,--output", output.path, "database to create")
      ->type_name("OUT_DB")
      ->required();
  addOutputOptions(merge);

  std::string windowFile, windowRoot;
  CLI::App *windows = app.add_subcommand(
      "windows", "check a window file of WindowData against its images");
  windows->add_option("FILE", windowFile, "window file")->required();
  windows
      ->add_option("--root", windowRoot,
                   "prefix of the images' names, e.g. a folder/")
      ->type_name("PREFIX");

  CLI::App *list = app.add_subcommand(
      "list", "show the size and first record of a database");
  list->add_option("DB", database, "database to read")->required();
  addBackend(list, readBackend, readDescription);

  tools::addVersionFlags(app, "brew-data " BREW_VERSION);
  if (tools::printCompletion(app, "brew-data", arguments))
    return 0;
  if (const std::string text =
          tools::unknownCommandText(app, arguments.empty() ? "" : arguments[0]);
      !text.empty())
    throw usageError(text);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed); // the order that CLI11 expects
  } catch (const CLI::ExtrasError &) {
    throw usageError(tools::unexpectedText(app));
  } catch (const CLI::ParseError &error) {
    // CLI11 returns a status per kind of error, and 0 for --help.
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
  } else if (*folder) {
    folderSet.output.backend = output.backend;
    folderSet.output.overwrite = output.overwrite;
    data::convertFolder(folderSet);
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
  if (!brew::tools::flushResults())
    throw unavailable("cannot write to standard output");
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  brew::tools::protectStandardStreams();
  // Omit SA_RESTART, so that signals interrupt the wait for another program.
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
#ifdef SIGXFSZ
  std::signal(SIGXFSZ, SIG_IGN); // report file size limits as write errors
#endif
  try {
    return run(data::normalizeCommandLine(
        argc ? argv[0] : "", {argv + std::min(argc, 1), argv + argc}));
  } catch (const brew::Error &error) {
    std::fprintf(stderr, "brew-data: error: %s\n",
                 printableText(error.what()).c_str());
    return static_cast<int>(error.status());
  } catch (const data::Interrupted &) {
    std::fprintf(stderr, "brew-data: interrupted; nothing was written\n");
    return interruptedStatus;
  } catch (const std::bad_alloc &) {
    std::fprintf(stderr, "brew-data: error: out of memory\n");
    return static_cast<int>(ExitStatus::Unavailable);
  } catch (const std::exception &error) {
    std::fprintf(stderr,
                 "brew-data: internal error: %s\nThis is a bug in Brew; please "
                 "report it with the command line.\n",
                 error.what());
    return static_cast<int>(ExitStatus::Bug);
  }
}
