//===- CaffeToolNames.h - brew-data under the names of Caffe's tools -*- C++
//-*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::data {

/// The command line of brew-data for a program called `name`: a tool of Caffe's
/// (convert_imageset, compute_image_mean, extract_features) becomes the command
/// of that name; any other, nothing more. Their flags may have one dash, as
/// gflags takes them, and `--noFLAG` stands for `--FLAG=false`.
std::vector<std::string> normalizeCommandLine(const std::string &name,
                                     std::vector<std::string> arguments);

} // namespace brew::data
