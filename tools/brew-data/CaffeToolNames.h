//===- CaffeToolNames.h - Names of Caffe's tools ----------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::data {

/// Returns brew-data's arguments for a program called `name`. If `name` is a
/// tool of Caffe (convert_imageset, compute_image_mean, extract_features),
/// prepends the command of that name. Flags of these commands may have one
/// dash, as in gflags, and `--noFLAG` means `--FLAG=false`.
std::vector<std::string>
normalizeCommandLine(const std::string &name,
                     std::vector<std::string> arguments);

} // namespace brew::data
