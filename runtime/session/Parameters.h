//===- Parameters.h - Learnable parameters of a loaded plan -----*- C++ -*-===//
//
// Fills, loads and saves the parameters and the solver history of an executor.
// Files contain them in row-major order of Caffe's shapes; in memory they have
// the layout that the compiler chose.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/weights/WeightBinding.h"
#include "formats/WeightFile.h"
#include "formats/caffe.pb.h"
#include "runtime/events/Events.h"
#include "runtime/executor/Executor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// The parameters and the solver history of an executor.
class Parameters {
public:
  /// Uses the memory of `executor`, which must outlive this object. Logs to
  /// `events`, which may be null.
  explicit Parameters(Executor &executor, Events *events = nullptr);

  /// Sets every parameter to its initial values: the values in the prototxt, or
  /// those of its filler with random streams of `seed` (see InitialValues.h).
  /// Throws Error (1) if a filler in the plan cannot be read or does not suit
  /// its parameter.
  void fill(std::uint64_t seed);
  /// Sets one parameter to initial values; with `filler`, to those of this
  /// filler instead. Throws Error (1) if the filler does not suit it.
  void fill(const plan::Parameter &parameter, std::uint64_t seed,
            const caffe::FillerParameter *filler = nullptr);

  /// Loads a .caffemodel or HDF5 weight file, layer by layer name. Shapes must
  /// be equal; a legacy four-dimensional blob of the same count fits as well.
  /// Throws Error (1) and loads nothing if blobs do not fit, which the error
  /// lists, or if the file and the plan have no layer in common. One log line
  /// lists the layers that only one of them has.
  void load(const std::string &path);

  /// Loads weights. `source` names them in errors and log lines.
  void load(const formats::Weights &weights, const std::string &source);

  /// bind() followed by write() is load() without a log line.
  caffe::WeightBinding bind(const formats::Weights &weights,
                            const std::string &source) const {
    return bindWeights(layerBlobs, weights, source);
  }
  void write(const caffe::WeightBinding &binding);

  /// Returns all layers that have parameters, with the current values. A shared
  /// parameter appears in each of its layers, as in Caffe's files. With
  /// `withDiffs`, also returns the gradients, or zeros for parameters without
  /// one. With `net`, a program with a list of layers, also returns layers
  /// without parameters, and the bottoms and tops of all.
  formats::Weights save(bool withDiffs = false,
                        const plan::Program *net = nullptr) const;

  /// Returns the solver history in Caffe's order: one blob per parameter for
  /// every slot of the update rule, zeros for parameters that are not trained.
  std::vector<formats::Blob> history() const;
  /// Throws Error (1) that lists the differences if solver history does not
  /// match the parameters.
  void checkHistory(const std::vector<formats::Blob> &blobs,
                    const std::string &source) const;
  /// Loads solver history. If it does not match, throws as checkHistory() does
  /// and changes nothing.
  void setHistory(const std::vector<formats::Blob> &blobs,
                  const std::string &source);

  /// Returns the values of a buffer in row-major order of the parameter's shape
  /// in files.
  formats::Blob read(std::uint32_t bufferIndex,
                     const std::vector<std::int64_t> &fileDims) const;

  /// Writes the values of a buffer, in row-major order of the parameter's shape
  /// in files.
  void write(std::uint32_t bufferIndex, const formats::Blob &blob);

  /// Returns the squared L2 norm of all gradients.
  double gradientSumOfSquares() const;

  /// Returns all layers that have parameters, in the net's order.
  const std::vector<caffe::LayerBlobs> &layers() const { return layerBlobs; }

private:
  int historySlots() const;
  formats::WeightLayer saveLayer(const caffe::LayerBlobs &from,
                                 bool withDiffs) const;
  formats::Blob zeros(const std::vector<std::int64_t> &dims) const;

  const plan::Manifest &manifest;
  Executor &executor;
  Events *events;
  std::vector<caffe::LayerBlobs> layerBlobs;
};

} // namespace brew::runtime
