//===- Samples.h - Records for inference ------------------------*- C++ -*-===//
#pragma once

#include "runtime/data/ImageFitter.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// A sample in the shape of one row of a net's input.
struct Sample {
  std::string name;
  /// Channels x height x width, or the input's shape.
  std::vector<float> values;
  std::optional<int> label; ///< if the source has one
  /// Why the sample has no label although the source has labels: they are
  /// damaged, or belong to other samples. Else "".
  std::string labelError;
  bool isImage = false; ///< the values were prepared from an image
};

/// Reads samples one by one.
class SampleSource {
public:
  virtual ~SampleSource() = default;
  /// Returns false at the end.
  virtual bool next(Sample &sample) = 0;
};

/// Opens `path` by its kind: a folder (LMDB, LevelDB, or images), HDF5 (dataset
/// `blob`, or inputs/`blob`, a row per sample; not preprocessed), NumPy's .npy
/// (likewise), a list of images (.txt), an image file, or an IDX file of
/// images, gzipped or not, with its labels in the same folder. `rowShape` is
/// the input's shape without its batch. Throws Error: 3 if it is not found, 1
/// if its kind is unknown or it does not fit.
std::unique_ptr<SampleSource>
openSamples(const std::string &path, const std::string &blob,
            const std::vector<std::int64_t> &rowShape,
            const Preprocessing &preprocessing);

} // namespace brew::runtime
