//===- ArgumentNormalizer.h - Caffe's way to write flags --------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::run {

/// Rewrites a command line as people know it from `caffe` (gflags) to the form
/// that the parser takes: `-gpu 0` and `--sigint_effect=stop` become `--gpu 0`
/// and `--sigint-effect=stop`, `device_query` becomes `device-query`, and a
/// command that follows its flags moves in front of them. Single letters
/// (`-h`), numbers (`-0.5`), values and everything after `--` stay as they are.
/// `arguments` excludes the program's name.
std::vector<std::string>
normalizeArguments(const std::vector<std::string> &arguments);

} // namespace brew::run
