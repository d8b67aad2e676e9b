//===- Hdf5.h - Named datasets in HDF5 files --------------------*- C++ -*-===//
//
// What Brew needs of HDF5: numeric datasets by path ("/param_diff/conv1/0"),
// read in one precision and written whole. The library's own error printing is
// off; calls are serialised, as the library may not be thread-safe.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Blob.h"
#include "support/AtomicFile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::formats {

/// An HDF5 file open for reading. Errors are Error(1) that name file and
/// dataset. A leading '/' of a name may be left out.
class Hdf5Reader {
public:
  /// Error(3): not found or not readable; Error(1): not HDF5, or truncated.
  explicit Hdf5Reader(const std::string &path);
  ~Hdf5Reader();
  Hdf5Reader(const Hdf5Reader &) = delete;
  Hdf5Reader &operator=(const Hdf5Reader &) = delete;

  const std::string &path() const { return filePath; }
  /// All datasets below `group`, as full paths in the order of their names.
  std::vector<std::string> datasets(const std::string &group = "/") const;
  /// Whether there is a dataset of that name. Error(1) if there is an object
  /// that is too damaged to tell.
  bool has(const std::string &name) const;
  bool hasGroup(const std::string &name) const;
  /// Empty for a scalar.
  std::vector<int64_t> dims(const std::string &name) const;
  /// Whether the values are stored as 64-bit floats.
  bool isDouble(const std::string &name) const;
  /// Floats, doubles and integers of any size, converted.
  std::vector<float> readFloats(const std::string &name) const;
  std::vector<double> readDoubles(const std::string &name) const;
  /// The one integer of a dataset; Error(1) unless it fits an int.
  int readInt(const std::string &name) const;
  /// A string of fixed length, without the zeros that fill it up.
  std::string readString(const std::string &name) const;
  /// Bytes that were written with writeBytes().
  std::string readBytes(const std::string &name) const;
  /// Shape and float values in one.
  Blob read(const std::string &name) const;
  /// The same in the precision the file has.
  Blob readStored(const std::string &name) const;

private:
  template <typename T>
  std::vector<T> readAs(const std::string &name, int64_t memoryType) const;

  std::string filePath;
  int64_t file = -1;
};

/// An HDF5 file being written; appears under its name in commit() only. Groups
/// in names are made as needed; a name can be written once.
///
/// The file is put together in memory: after a failed write to a disk the
/// library cannot close its file, and crashes when the process ends.
class Hdf5Writer {
public:
  explicit Hdf5Writer(const std::string &path);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer &) = delete;
  Hdf5Writer &operator=(const Hdf5Writer &) = delete;

  /// `values` holds the product of `dims`; no dims: one value, shape [].
  void write(const std::string &name, const std::vector<int64_t> &dims,
             const float *values);
  void write(const std::string &name, const std::vector<int64_t> &dims,
             const double *values);
  void write(const std::string &name, const std::vector<int64_t> &dims,
             const int32_t *values);
  /// The values of a blob in its own precision.
  void write(const std::string &name, const Blob &blob);
  void writeInt(const std::string &name, int value);
  /// A scalar string of fixed length that ends in a zero, as H5LT writes it.
  void writeString(const std::string &name, const std::string &text);
  /// A list of bytes.
  void writeBytes(const std::string &name, const std::string &bytes);
  /// A group, which may be there already.
  void makeGroup(const std::string &name);
  void commit();
  /// The same with a checksum line (FileChecksum.h) after the HDF5 content.
  void commitWithChecksum();

private:
  std::vector<char> finish();
  void writeAs(const std::string &name, const std::vector<int64_t> &dims,
               const void *values, int64_t fileType, int64_t memoryType);
  [[noreturn]] void fail(const std::string &what);

  std::string filePath;
  AtomicFile target;
  int64_t file = -1;
};

/// Whether a file begins as HDF5 files do; false if it cannot be read.
bool isHdf5File(const std::string &path);

/// The files an HDF5Data source lists: names separated by white space, each
/// looked up from the working directory and then in `folders`. Error(3) if the
/// list or a file in it is missing, Error(1) if it is empty.
std::vector<std::string> readHdf5List(const std::string &listPath,
                                      const std::vector<std::string> &folders);

/// What an HDF5Data layer takes from one file: one tensor per top, of rank 1 or
/// more and all with the same leading extent (the rows), which is not zero.
std::vector<Blob> readHdf5Tops(const std::string &path,
                               const std::vector<std::string> &tops);

} // namespace brew::formats
