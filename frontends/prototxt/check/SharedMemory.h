//===- SharedMemory.h - Blobs that share memory in Caffe --------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/NetGraph.h"

namespace brew::prototxt {

/// Warns of layers in place that in Caffe change the input of a later layer
/// under another name: the tops of Flatten, Reshape and Split share their
/// bottom's memory there.
void warnOfSharedMemory(const NetGraph &graph, const SourceMap &locations,
                        Diagnostics &diagnostics);

} // namespace brew::prototxt
