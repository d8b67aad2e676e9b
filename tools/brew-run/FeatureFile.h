//===- FeatureFile.h - Writers of feature files -----------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::run {

/// Writes the rows of one blob, batch by batch. The file appears under its name
/// only in finish().
class FeatureFile {
public:
  virtual ~FeatureFile() = default;
  /// Appends a batch. The first dimension of `shape` is the number of rows.
  virtual void append(const std::vector<std::int64_t> &shape,
                      const std::vector<float> &values) = 0;
  virtual void finish() = 0;
  std::int64_t rows() const { return rowCount; }

protected:
  std::int64_t rowCount = 0;
};

/// Creates a feature file. `format`: "lmdb" or "leveldb" with keys of ten
/// digits as in extract_features, "hdf5" with the blob's name as the dataset,
/// or "npy". Throws Error: (1) if a database exists and `overwrite` is not set,
/// (3) if the file cannot be written.
std::unique_ptr<FeatureFile> openFeatureFile(const std::string &path,
                                             const std::string &format,
                                             const std::string &blob,
                                             bool overwrite);

} // namespace brew::run
