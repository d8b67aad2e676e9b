//===- ArgumentNormalizer.h - Conversion of gflags syntax -------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::run {

/// Converts a command line in the style of `caffe` (gflags) to the syntax of
/// the parser: `-gpu 0` and `--sigint_effect=stop` become `--gpu 0` and
/// `--sigint-effect=stop`, `device_query` becomes `device-query`, and a command
/// after flags moves before them. Single letters (`-h`), numbers (`-0.5`),
/// values and everything after `--` remain unchanged. `arguments` excludes the
/// program's name.
std::vector<std::string>
normalizeArguments(const std::vector<std::string> &arguments);

} // namespace brew::run
