//===- FeatureFile.h - Files of features ---------------------------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace brew::run {

/// The rows of one blob, batch after batch. Appears under its name in finish()
/// only.
class FeatureFile {
public:
  virtual ~FeatureFile() = default;
  /// A batch: `shape` with its rows first, and as many values.
  virtual void append(const std::vector<std::int64_t> &shape,
                      const std::vector<float> &values) = 0;
  virtual void finish() = 0;
  std::int64_t rows() const { return rowCount; }

protected:
  std::int64_t rowCount = 0;
};

/// `format`: "lmdb" or "leveldb", with keys of ten digits as extract_features
/// has them; "hdf5", with the blob's name for a dataset; "npy". Error (1) for a
/// database that exists, unless `overwrite` is set; (3) for a place that cannot
/// be written.
std::unique_ptr<FeatureFile> openFeatureFile(const std::string &path,
                                             const std::string &format,
                                             const std::string &blob,
                                             bool overwrite);

} // namespace brew::run
