//===- Commands.h - Commands of brew-data -----------------------*- C++ -*-===//
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

/// Set by the signal handler. The commands then stop at the next record and
/// remove incomplete outputs.
extern std::atomic<bool> interrupted;

/// Thrown when `interrupted` is set.
struct Interrupted {};

/// The output database of a conversion.
struct Output {
  std::string path;
  formats::DbBackend backend = formats::DbBackend::Lmdb;
  bool overwrite = false;
};

/// Converts a pair of IDX files; keys are 8-digit record numbers.
void convertMnist(const std::string &images, const std::string &labels,
                  int classes, const Output &output);

/// Converts CIFAR-10 binary batches, in order; keys are record numbers of at
/// least 5 digits.
void convertCifar(const std::vector<std::string> &batches,
                  const Output &output);

/// Computes the elementwise mean of all images of a database and prints the
/// mean of each channel. Writes the mean as a binaryproto of shape 1xCxHxW, or
/// as an image if `output` ends in ".png", or not at all if `output` is empty.
/// A missing backend is detected from the folder.
void computeMean(const std::string &database,
                 std::optional<formats::DbBackend> backend,
                 const std::string &output);

/// Options of inspectDatabase().
struct Inspection {
  std::string database;
  std::optional<formats::DbBackend> backend;
  bool json = false;
  std::string sheet; ///< PNG file for the first images; "": no file
  int sheetImages = 64;
};

/// Reads all records and prints counts, shapes and the histogram of labels.
/// Throws Error (1) if a record is damaged.
void inspectDatabase(const Inspection &inspection);

/// Decodes all records and prints the keys of damaged ones. Throws Error (1) if
/// there are any.
void verifyDatabase(const std::string &database,
                    std::optional<formats::DbBackend> backend);

/// Writes the records in random order under the keys NUMBER_KEY. Memory is
/// bounded: a large database is read several times.
void shuffleDatabase(const std::string &database, uint64_t seed,
                     const Output &output);

/// One output of splitDatabase().
struct SplitTarget {
  std::string path;
  double share; ///< fraction of all records; the sum is at most 1
};
/// Distributes the records over the targets by their shares, consecutively or
/// at random. Order and keys remain unchanged.
void splitDatabase(const std::string &database,
                   const std::vector<SplitTarget> &targets, bool random,
                   uint64_t seed, const Output &output);

/// Concatenates databases under the keys NUMBER_KEY.
void mergeDatabases(const std::vector<std::string> &databases,
                    const Output &output);

/// Prints a summary of a window file and checks its windows against the images.
/// Throws Error (1) if an image is missing or does not contain its windows.
void inspectWindows(const std::string &file, const std::string &root);

/// Prints the backend, the number of records and a summary of the first one.
void listDatabase(const std::string &database,
                  std::optional<formats::DbBackend> backend);

} // namespace brew::data
