//===- Hdf5Output.h - Layer that writes blobs to an HDF5 file ---*- C++ -*-===//
#pragma once

#include "runtime/host_layers/HostLayers.h"

namespace brew::runtime {

inline constexpr const char *kHdf5Output = "HDF5Output";

/// The type of layers that write their two bottoms as the datasets `data` and
/// `label` with four axes, as Caffe does. Caffe's file contains one batch, and
/// a second batch is an error. Here the file contains the rows of all batches
/// since the layer was created. It is rewritten for each batch, so that it is
/// always complete.
const HostLayerType &hdf5OutputType();

} // namespace brew::runtime
