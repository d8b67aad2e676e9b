//===- Parameters.h - Learnable parameters of a loaded plan -----*- C++ -*-===//
//
// Fills, loads and saves the parameters and the solver history of an executor.
// Files hold them in row-major order of Caffe's shapes; in memory they lie in
// whatever layout the compiler chose.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/weights/WeightBinding.h"
#include "formats/WeightFile.h"
#include "runtime/executor/Executor.h"
#include "runtime/events/Events.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

class Parameters {
public:
  /// Works on the memory of `executor`, which outlives it; `events`, which may
  /// be null, hears what is worth a line.
  explicit Parameters(Executor &executor, Events *events = nullptr);

  /// Gives every parameter its first values: those the prototxt has, or its
  /// filler's with random streams of `seed` (see InitialValues.h). Throws
  /// Error (1) if a filler in the plan cannot be read or does not suit its
  /// parameter.
  void fill(std::uint64_t seed);

  /// Loads a .caffemodel or HDF5 weight file, layer by layer name. Shapes must
  /// be equal; a legacy four-dimensional blob of the same count fits as well.
  /// Throws Error (1) that lists every blob which does not fit, or if no layer
  /// is in both; nothing is loaded then. Layers in only one of the two are
  /// summed up in one log line.
  void load(const std::string &path);

  /// Takes weights over; `source` names them in errors and log lines.
  void load(const formats::Weights &weights, const std::string &source);

  /// The same in two steps, without a log line.
  caffe::WeightBinding bind(const formats::Weights &weights,
                            const std::string &source) const {
    return bindWeights(fileLayers, weights, source);
  }
  void write(const caffe::WeightBinding &binding);

  /// All layers that have parameters, with the values they have now; a shared
  /// parameter appears under each of its layers, as Caffe writes it. With
  /// `withDiffs` also what the gradient buffers hold, zero where there is none.
  /// With `net`, a program that lists its layers, those without parameters are
  /// there too, and all have their bottoms and tops.
  formats::Weights save(bool withDiffs = false,
                        const plan::Program *net = nullptr) const;

  /// Solver history in Caffe's order: one blob per parameter for every slot of
  /// the update rule, zeros where a parameter is not learnt.
  std::vector<formats::Blob> history() const;
  /// Takes history back. Throws Error (1) that lists what does not fit;
  /// nothing is taken then.
  void setHistory(const std::vector<formats::Blob> &blobs,
                  const std::string &source);

  /// Values of one buffer in row-major order of the parameter's file shape.
  formats::Blob read(std::uint32_t bufferIndex,
                     const std::vector<std::int64_t> &fileDims) const;

  /// Square of the L2 norm of all gradients together.
  double gradientSumOfSquares() const;

  /// All layers that have parameters, in the net's order.
  const std::vector<caffe::FileLayer> &layers() const { return fileLayers; }

private:
  formats::WeightLayer saveLayer(const caffe::FileLayer &from,
                                 bool withDiffs) const;
  formats::Blob zeros(const std::vector<std::int64_t> &dims) const;
  void write(std::uint32_t bufferIndex, const formats::Blob &blob);

  const plan::Manifest &manifest;
  Executor &executor;
  Events *events;
  std::vector<caffe::FileLayer> fileLayers;
};

} // namespace brew::runtime
