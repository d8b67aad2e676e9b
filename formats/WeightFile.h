//===- WeightFile.h - .caffemodel files -------------------------*- C++ -*-===//
//
// Reads and writes a net's parameters. Reads everything that Caffe reads
// (current, V1 and V0 layers, four-extent legacy shapes, double values, HDF5)
// and NVCaffe's half-precision values. Writes the net's name and each layer's
// name, type, bottoms, tops, blobs and optionally their gradients, or complete
// messages of net and layers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/Blob.h"

#include <set>
#include <string>
#include <vector>

namespace brew::formats {

struct WeightLayer {
  std::string name;
  std::string type; ///< current name also for V1 layers ("InnerProduct")
  std::vector<std::string> bottoms;
  std::vector<std::string> tops;
  std::vector<Blob> blobs; ///< may be empty
  /// The blobs' gradients: empty, or one for each blob. Written but not read.
  std::vector<Blob> diffs = {};
  /// Indices of blobs that another layer owns. HDF5 files omit their values.
  std::set<size_t> shared = {};
  /// The encoded LayerParameter without blobs, which binary files contain. If
  /// empty, they contain name, type, bottoms and tops. Written but not read.
  std::string encoded = {};
};

/// Caffe's two formats of weights and solver states.
enum class SnapshotFormat { BinaryProto, Hdf5 };

struct Weights {
  std::string netName;
  std::vector<WeightLayer> layers; ///< in file order; names may repeat
  bool hdf5 = false;               ///< read from an HDF5 file
  /// The encoded NetParameter without layers, which binary files contain. If
  /// empty, they contain the net's name. Written but not read.
  std::string encoded = {};
};

/// Reads an HDF5 file, or a binary caffemodel of less than 2 GB. Throws
/// Error(3) if it is not found or not readable, Error(1) if it is damaged,
/// truncated, or without any layer. A file truncated exactly between two layers
/// cannot be distinguished from a smaller net. Peak memory is the size of all
/// values plus that of the largest layer.
Weights readWeights(const std::string &path);

/// Parses the bytes of a binary caffemodel. `source` names them in errors.
/// Throws as readWeights() does.
Weights parseWeights(const void *data, size_t size, const std::string &source);

/// Writes a caffemodel atomically (see AtomicFile), without another copy of the
/// values. Throws Error(1) if a binary caffemodel would reach 2 GB.
void writeWeights(const std::string &path, const Weights &weights,
                  SnapshotFormat format = SnapshotFormat::BinaryProto);

} // namespace brew::formats
