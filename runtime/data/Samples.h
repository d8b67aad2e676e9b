//===- Samples.h - Records for inference ------------------------*- C++ -*-===//
//-*-===//
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// One sample in the shape of one row of a net's input.
struct Sample {
  std::string name;
  std::vector<float> values; ///< channels x height x width, or as the input has
  std::optional<int> label;  ///< where the source knows it
  /// Why there is no label though the source has some: they are damaged, or not
  /// of these samples. Else "".
  std::string labelError;
};

/// What becomes of an image's bytes: (value - mean) * scale, after a resize to
/// the input's height and width.
struct Preprocessing {
  float scale = 1;
  std::vector<float> channelMeans; ///< none, one, or one per channel
  std::vector<float> meanImage;    ///< channels x height x width, or empty
};

/// Reads a mean: numbers separated by commas, or a .binaryproto of the
/// input's shape. Throws Error (1) if it does not fit.
void readMean(const std::string &text, const std::vector<std::int64_t> &shape,
              Preprocessing &preprocessing);

/// Yields samples one by one.
class SampleSource {
public:
  virtual ~SampleSource() = default;
  /// False at the end.
  virtual bool next(Sample &sample) = 0;
};

/// Opens `path` by what it is: a folder (LMDB, LevelDB, or of images), HDF5
/// (dataset `blob`, or inputs/`blob`, a row per sample; not preprocessed),
/// NumPy's .npy (likewise), a list of images (.txt), a JPEG or PNG image, or an
/// IDX file of images, gzipped or not, with its labels beside it. `rowShape` is
/// the input's shape without its batch. Throws Error: 3 if it is not found, 1
/// if it is none of these or does not fit.
std::unique_ptr<SampleSource>
openSamples(const std::string &path, const std::string &blob,
            const std::vector<std::int64_t> &rowShape,
            const Preprocessing &preprocessing);

} // namespace brew::runtime
