//===- TensorBoardProjector.h - Files for TensorBoard -----------*- C++ -*-===//
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace brew::run {

struct ProjectorTensor {
  std::string name;
  const std::vector<float> &values;
  std::size_t columns;
};

/// Writes a folder for `tensorboard --logdir`: tensors.tsv (`points`, the
/// low-dimensional embedding of `features`), features.bytes (`features` as
/// floats), metadata.tsv (names, and classes if not empty) and finally
/// projector_config.pbtxt, which lists the other files.
/// Creates the folder. Throws Error (3) if a file cannot be written.
void writeTensorBoardProjector(const std::string &folder,
                               const ProjectorTensor &points,
                               const ProjectorTensor &features,
                               const std::vector<std::string> &names,
                               const std::vector<std::string> &classes);

} // namespace brew::run
