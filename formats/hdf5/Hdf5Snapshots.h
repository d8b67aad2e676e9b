//===- Hdf5Snapshots.h - Weights and solver states in HDF5 ------*- C++ -*-===//
//
// Caffe's layout of `.caffemodel.h5` is a group /data (and /diff) with a group
// for each layer, which contains a dataset for each blob, named by its index. A
// blob that another layer owns is stored under its owner only. The layout of
// `.solverstate.h5` is /iter, /learned_net, /current_step and a group /history
// with a dataset for each tensor, and with some learning-rate policies
// /minimum_loss and /iter_last_event, as in SSD. Brew stores its own state in
// /brew_state, which Caffe ignores. A line of text after the end of the HDF5 content, which
// HDF5 ignores, contains a checksum of the file (FileChecksum.h).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"

#include <string>

namespace brew::formats {

/// Reads layers, sorted by name. HDF5 files contain no types, bottoms and tops.
/// Throws as readWeights() does.
Weights readHdf5Weights(const std::string &path);
void writeHdf5Weights(const std::string &path, const Weights &weights);

/// Throws as readSolverState() does.
SolverSnapshot readHdf5SolverState(const std::string &path);
void writeHdf5SolverState(const std::string &path,
                          const SolverSnapshot &snapshot);

} // namespace brew::formats
