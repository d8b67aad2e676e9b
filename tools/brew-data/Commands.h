//===- Commands.h - What brew-data does -------------------------*- C++ -*-===//
//
// One function per subcommand; each throws brew::Error and prints a summary to
// standard output.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Database.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace brew::data {

/// Set by the signal handler; the commands stop at the next record and remove
/// what they had begun.
extern std::atomic<bool> interrupted;

/// Thrown when `interrupted` was seen.
struct Interrupted {};

/// Where a conversion writes.
struct Output {
  std::string path;
  formats::DbBackend backend = formats::DbBackend::Lmdb;
  bool overwrite = false;
};

/// A pair of IDX files to a database; keys are 8-digit record numbers.
void convertMnist(const std::string &images, const std::string &labels,
                  int classes, const Output &output);

/// CIFAR-10 binary batches, in order, to a database; keys are record numbers of
/// at least 5 digits.
void convertCifar(const std::vector<std::string> &batches,
                  const Output &output);

/// The mean over all images of a database, value by value, as a binaryproto of
/// shape 1xCxHxW, or as an image if `output` ends in ".png"; "": only printed.
/// Without a backend the folder's contents tell.
void computeMean(const std::string &database,
                 std::optional<formats::DbBackend> backend,
                 const std::string &output);

/// What a database holds, after reading all of it: shapes, labels, the images
/// themselves.
struct Inspection {
  std::string database;
  std::optional<formats::DbBackend> backend;
  bool json = false;
  std::string sheet; ///< PNG file of the first images; "": none
  int sheetImages = 64;
};

/// Prints counts, shapes and the histogram of labels. Error(1) if a record is
/// damaged.
void inspectDatabase(const Inspection &inspection);

/// Reads every record and decodes every image; names the damaged ones by their
/// keys. Error(1) if there are any.
void verifyDatabase(const std::string &database,
                    std::optional<formats::DbBackend> backend);

/// The records of a database in a random order, under keys NUMBER_KEY. Memory
/// is bounded: a large database is read several times.
void shuffleDatabase(const std::string &database, uint64_t seed,
                     const Output &output);

/// Divides a database: each target takes its share of the records, by count, one
/// after the other or at random, in their order and under their keys.
struct SplitTarget {
  std::string path;
  double share; ///< of all; the sum is at most 1
};
void splitDatabase(const std::string &database, const std::vector<SplitTarget> &targets,
                   bool random, uint64_t seed, const Output &output);

/// The records of several databases one after the other, under keys NUMBER_KEY.
void mergeDatabases(const std::vector<std::string> &databases,
                    const Output &output);

/// Prints what a window file holds, and checks its windows against their
/// images. Error(1) if an image is missing or does not hold its windows.
void inspectWindows(const std::string &file, const std::string &root);

/// Prints backend, number of records and what the first one holds.
void listDatabase(const std::string &database,
                  std::optional<formats::DbBackend> backend);

} // namespace brew::data
