//===- WeightFile.h - .caffemodel files -------------------------*- C++ -*-===//
//
// Reading and writing a net's parameters. Reads everything Caffe reads:
// current, V1 and V0 layers, four-extent legacy shapes, double values, HDF5;
// and NVCaffe's half-precision values. Writes what Caffe writes of it that
// matters to weights: the net's name and for each layer name, type, bottoms,
// tops, blobs and perhaps their gradients.
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
  std::string type; ///< today's name also for V1 layers ("InnerProduct")
  std::vector<std::string> bottoms;
  std::vector<std::string> tops;
  std::vector<Blob> blobs; ///< may be none
  /// Written as the blobs' gradients: none, or one for each blob. Not read.
  std::vector<Blob> diffs = {};
  /// Blobs that another layer owns: HDF5 files leave their values out.
  std::set<size_t> shared = {};
};

/// Caffe's two forms of weights and solver states.
enum class SnapshotFormat { BinaryProto, Hdf5 };

struct Weights {
  std::string netName;
  std::vector<WeightLayer> layers; ///< in file order; names may repeat
  bool hdf5 = false;               ///< read from an HDF5 file
};

/// Reads an HDF5 file, or a binary caffemodel of less than 2 GB. Error(3): not
/// found or not readable; Error(1): damaged, truncated, or without any layer. A
/// file cut exactly between two layers cannot be told from a smaller net. Peak
/// memory is the values once plus the largest layer.
Weights readWeights(const std::string &path);

/// Writes a caffemodel atomically (see AtomicFile), streaming the values
/// without another copy. Error(1) if a binary one would reach 2 GB.
void writeWeights(const std::string &path, const Weights &weights,
                  SnapshotFormat format = SnapshotFormat::BinaryProto);

} // namespace brew::formats
