//===- Hdf5.h - Named datasets in HDF5 files --------------------*- C++ -*-===//
//
// Reads and writes complete numeric datasets by path ("/param_diff/conv1/0").
// The library's printing of errors is off. Calls are serialised, as the
// library may not be thread-safe.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Blob.h"
#include "support/AtomicFile.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace brew::formats {

/// An HDF5 file open for reading. Members throw Error(1) with the names of the
/// file and the dataset, also for values in other files: external links,
/// external storage and virtual datasets are refused. The leading '/' of a name
/// is optional.
class Hdf5Reader {
public:
  /// Throws Error(3) if the file is not found or not readable, Error(1) if it
  /// is not HDF5 or truncated.
  explicit Hdf5Reader(const std::string &path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader &) = delete;
  Hdf5Reader &operator=(const Hdf5Reader &) = delete;

  const std::string &path() const { return filePath; }
  /// Returns the full paths of all datasets below `group`, sorted by name.
  std::vector<std::string> datasets(const std::string &group = "/") const;
  /// Returns whether there is a dataset of that name. Throws Error(1) if there
  /// is a damaged object instead.
  bool has(const std::string &name) const;
  bool hasGroup(const std::string &name) const;
  /// Returns the shape; empty for a scalar.
  std::vector<int64_t> dims(const std::string &name) const;
  /// Returns whether the values are stored as 64-bit floats.
  bool isDouble(const std::string &name) const;
  /// Reads floats, doubles or integers of any size, and converts them.
  std::vector<float> readFloats(const std::string &name) const;
  std::vector<double> readDoubles(const std::string &name) const;
  /// Reads a dataset of one integer. Throws Error(1) if it does not fit an int.
  int readInt(const std::string &name) const;
  /// Reads a string of fixed length, without its trailing zeros.
  std::string readString(const std::string &name) const;
  /// Reads bytes written with writeBytes().
  std::string readBytes(const std::string &name) const;
  /// Reads the shape and the values, converted to floats.
  Blob read(const std::string &name) const;
  /// Reads the shape and the values, in the precision of the file.
  Blob readInFilePrecision(const std::string &name) const;

private:
  /// Throws Error(1) if the file would claim too many bytes that it does not
  /// contain. The values of a dataset need `bytes` without compression, and
  /// `memoryBytes` when they are read.
  void checkClaimedBytes(std::uint64_t bytes, std::uint64_t storedBytes,
                         std::uint64_t memoryBytes,
                         const std::string &where) const;
  template <typename T>
  std::vector<T> readAs(const std::string &name, int64_t memoryType) const;

  std::string filePath;
  int64_t file = -1;
  /// Bytes that were read of datasets without stored bytes for them.
  mutable std::uint64_t unstoredBytes = 0;
  /// Stored bytes that were read of all other datasets.
  mutable std::uint64_t storedBytesRead = 0;
  /// Names of datasets that are included in these sums.
  mutable std::set<std::string> datasetsRead;
};

/// An HDF5 file being written. commit() or commitWithChecksum() creates the
/// file. Groups in names are created as needed; a name can be written only
/// once.
///
/// The file is assembled in memory: after a failed write to a disk, the library
/// cannot close its file, and crashes when the process ends.
class Hdf5Writer {
public:
  explicit Hdf5Writer(const std::string &path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer &) = delete;
  Hdf5Writer &operator=(const Hdf5Writer &) = delete;

  /// Writes a dataset with as many values as the product of `dims`; without
  /// `dims`, a scalar.
  void write(const std::string &name, const std::vector<int64_t> &dims,
             const float *values);
  void write(const std::string &name, const std::vector<int64_t> &dims,
             const double *values);
  void write(const std::string &name, const std::vector<int64_t> &dims,
             const int32_t *values);
  /// Writes a blob in its own precision.
  void write(const std::string &name, const Blob &blob);
  void writeInt(const std::string &name, int value);
  /// Writes a scalar string of fixed length that ends in a zero, as H5LT does.
  void writeString(const std::string &name, const std::string &text);
  /// Writes bytes as a vector of integers.
  void writeBytes(const std::string &name, const std::string &bytes);
  /// Creates a group, unless it exists.
  void makeGroup(const std::string &name);
  void commit();
  /// Commits with a checksum line (FileChecksum.h) after the HDF5 content.
  void commitWithChecksum();

private:
  std::vector<char> finish();
  void writeAs(const std::string &name, const std::vector<int64_t> &dims,
               const void *values, int64_t fileType, int64_t memoryType);
  [[noreturn]] void fail(const std::string &problem);

  std::string filePath;
  AtomicFile target;
  int64_t file = -1;
};

/// Returns whether a file begins with HDF5's signature; false if it cannot be
/// read.
bool isHdf5File(const std::string &path);

/// Reads the list of files of an HDF5Data source: names separated by white
/// space, each looked up from the working directory and then in `folders`.
/// Throws Error(3) if the list or a file in it is missing, Error(1) if the list
/// is empty.
std::vector<std::string> readHdf5List(const std::string &listPath,
                                      const std::vector<std::string> &folders);

/// Reads the tops of an HDF5Data layer from one file: one tensor for each top,
/// of rank 1 or more, all with the same number of rows (leading extent), which
/// is not zero.
std::vector<Blob> readHdf5Tops(const std::string &path,
                               const std::vector<std::string> &tops);

} // namespace brew::formats
