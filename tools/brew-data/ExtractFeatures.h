//===- ExtractFeatures.h - Caffe's extract_features -------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::data {

/// Arguments of Caffe's tool: WEIGHTS NET BLOB[,...] DATABASE[,...] BATCHES
/// lmdb|leveldb [CPU|GPU] [DEVICE_ID=N]. Compiles the net's TEST phase with
/// brewc and runs it with brew-run, which lie beside this program; returns the
/// exit status of what failed, else 0. Error(2): not those arguments.
int extractFeatures(const std::vector<std::string> &arguments);

} // namespace brew::data
