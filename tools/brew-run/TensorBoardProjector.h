//===- TensorBoardProjector.h - Features for TensorBoard's projector -------*- C++ -*-===//
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

/// Writes a folder that `tensorboard --logdir` shows: tensors.tsv (`layout`),
/// features.bytes (`features`, floats), metadata.tsv (names, and classes unless
/// they are empty) and, last, projector_config.pbtxt, which names the others.
/// Makes the folder. Error (3) if something cannot be written.
void writeTensorBoardProjector(const std::string &folder, const ProjectorTensor &layout,
                    const ProjectorTensor &features,
                    const std::vector<std::string> &names,
                    const std::vector<std::string> &classes);

} // namespace brew::run
