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
/// shape 1xCxHxW. Without a backend the folder's contents tell.
void computeMean(const std::string &database,
                 std::optional<formats::DbBackend> backend,
                 const std::string &output);

/// Prints backend, number of records and what the first one holds.
void listDatabase(const std::string &database,
                  std::optional<formats::DbBackend> backend);

} // namespace brew::data
