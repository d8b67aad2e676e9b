//===- ExtractFeatures.h - Caffe's extract_features -------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::data {

/// Runs Caffe's tool with its arguments: WEIGHTS NET BLOB[,...] DATABASE[,...]
/// BATCHES lmdb|leveldb [CPU|GPU] [DEVICE_ID=N]. Compiles the net's TEST phase
/// with brewc and runs it with brew-run, both from this program's folder.
/// Returns the exit status of a program that failed, else 0. Throws Error (2)
/// for invalid arguments.
int extractFeatures(const std::vector<std::string> &arguments);

} // namespace brew::data
