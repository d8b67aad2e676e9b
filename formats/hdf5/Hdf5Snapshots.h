//===- Hdf5Snapshots.h - Weights and solver states in HDF5 ------*- C++ -*-===//
//
// Caffe's layout of `.caffemodel.h5`: group /data (and /diff) with a group for
// each layer, in it a dataset for each blob, named by its index; a blob that
// another layer owns stands under its owner only. Of `.solverstate.h5`: /iter,
// /learned_net, /current_step and group /history with a dataset per tensor.
// Brew's own state stands in /brew_state, which Caffe does not look at. After
// the end of the HDF5 content, a line of text has a checksum of the whole file
// (FileChecksum.h), which HDF5 does not look at.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "formats/SolverStateFile.h"
#include "formats/WeightFile.h"

#include <string>

namespace brew::formats {

/// The layers in the order of their names; types, bottoms and tops are not in
/// such files. Errors as readWeights().
Weights readHdf5Weights(const std::string &path);
void writeHdf5Weights(const std::string &path, const Weights &weights);

/// Errors as readSolverState().
SolverSnapshot readHdf5SolverState(const std::string &path);
void writeHdf5SolverState(const std::string &path,
                          const SolverSnapshot &snapshot);

} // namespace brew::formats
