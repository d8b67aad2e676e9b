//===- Hdf5Output.h - HDF5Output: a net's data to a file --------*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kHdf5Output = "HDF5Output";

/// Layers that write their two bottoms as the datasets `data` and `label`, of
/// four axes each, as Caffe does. Caffe's file holds one batch and its next one
/// is an error; here it holds the rows of all batches since the layer was made,
/// and is written anew for each, so that it is whole at any time.
const HostLayerType &hdf5OutputType();

} // namespace brew::runtime
