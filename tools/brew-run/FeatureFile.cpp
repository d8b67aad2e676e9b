//===- FeatureFile.cpp - Writers of feature files -------------------------===//

#include "FeatureFile.h"

#include "Session.h"
#include "support/AtomicFile.h"

#include <algorithm>
#include <cstdio>

namespace brew::run {
namespace {

std::int64_t rowsOf(const std::vector<std::int64_t> &shape) {
  return shape.empty() ? 1 : shape[0];
}

class DatabaseFeatureFile : public FeatureFile {
public:
  DatabaseFeatureFile(const std::string &path, const std::string &backend,
                      const std::string &blob, bool overwrite)
      : blob(blob), writer(path, backend, overwrite) {}

  void append(const std::vector<std::int64_t> &shape,
              const std::vector<float> &values) override {
    if (shape.size() > 4)
      throw usage("blob '" + blob + "' has " + std::to_string(shape.size()) +
                  " axes, but database records have at most four: choose "
                  "--format hdf5 or npy");
    int dims[3] = {1, 1, 1};
    for (std::size_t i = 1; i < shape.size(); ++i)
      dims[i - 1] = static_cast<int>(shape[i]);
    const std::int64_t rows = rowsOf(shape);
    const std::int64_t size =
        rows ? static_cast<std::int64_t>(values.size()) / rows : 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      char key[24];
      std::snprintf(key, sizeof key, "%010lld",
                    static_cast<long long>(rowCount++));
      writer.put(key, dims[0], dims[1], dims[2], values.data() + row * size);
    }
  }
  void finish() override { writer.finish(); }

private:
  std::string blob;
  api::RecordWriter writer;
};

/// Buffers all rows, for formats that store the shape before the values.
class BufferedFeatureFile : public FeatureFile {
public:
  BufferedFeatureFile(std::string filePath, std::string blobName)
      : path(std::move(filePath)), blob(std::move(blobName)) {
    requireWritable(path);
  }

  void append(const std::vector<std::int64_t> &shape,
              const std::vector<float> &batchValues) override {
    std::vector<std::int64_t> batchDims = shape;
    if (batchDims.empty())
      batchDims = {1};
    if (dims.empty())
      dims = batchDims;
    else if (!std::equal(dims.begin() + 1, dims.end(), batchDims.begin() + 1,
                         batchDims.end()))
      throw badInput("blob '" + blob +
                     "' changes its shape from batch to batch, and " + path +
                     " has one shape: choose --format lmdb or leveldb");
    rowCount += rowsOf(shape);
    values.insert(values.end(), batchValues.begin(), batchValues.end());
    dims[0] = rowCount;
  }

protected:
  std::string path, blob;
  std::vector<std::int64_t> dims;
  std::vector<float> values;
};

class Hdf5FeatureFile : public BufferedFeatureFile {
public:
  using BufferedFeatureFile::BufferedFeatureFile;
  void finish() override {
    api::TensorFile file(path, BREW_WRITE);
    file.write(blob, dims, values.data());
    file.commit();
  }
};

class NpyFeatureFile : public BufferedFeatureFile {
public:
  using BufferedFeatureFile::BufferedFeatureFile;
  void finish() override {
    std::string shape;
    for (std::int64_t dim : dims)
      shape += std::to_string(dim) + ", ";
    if (dims.size() > 1)
      shape.resize(shape.size() - 2);
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    // Magic, version and length take ten bytes; values must be aligned to 64.
    header.resize((header.size() + 1 + 10 + 63) / 64 * 64 - 10 - 1, ' ');
    header += '\n';
    AtomicFile file(path);
    file.write(std::string_view("\x93NUMPY\x01\x00", 8));
    const unsigned char length[2] = {
        static_cast<unsigned char>(header.size() & 255),
        static_cast<unsigned char>(header.size() >> 8)};
    file.write(length, sizeof length);
    file.write(header);
    file.write(values.data(), values.size() * sizeof(float));
    file.commit();
  }
};

} // namespace

std::unique_ptr<FeatureFile> openFeatureFile(const std::string &path,
                                             const std::string &format,
                                             const std::string &blob,
                                             bool overwrite) {
  if (format == "hdf5")
    return std::make_unique<Hdf5FeatureFile>(path, blob);
  if (format == "npy")
    return std::make_unique<NpyFeatureFile>(path, blob);
  return std::make_unique<DatabaseFeatureFile>(path, format, blob, overwrite);
}

} // namespace brew::run
