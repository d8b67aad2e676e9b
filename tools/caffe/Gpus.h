//===- Gpus.h - Choice of the GPUs to run on --------------------*- C++ -*-===//
#pragma once

#include "tools/caffe/Flags.h"

#include <string>

namespace brew::caffe_command {

/// Returns the GPUs to run on, as numbers separated by commas, or "" for the
/// CPU. Several GPUs are for training; as in Caffe, `test` and `time` run on
/// the first one. Training without `-gpu` follows the solver's mode, or runs on
/// the CPU, with a line that reports it, if the machine has no GPU. Throws
/// Error: (2) for a value of -gpu that is not a list of numbers, (3) if the
/// machine lacks a GPU of -gpu.
std::string gpusOf(const CommandLine &line);

/// Returns the architecture to compile for: of the GPUs, or of the simulator if
/// the environment variable BREW_CUDASIM names its folder.
std::string gpuArch();

/// Returns a text that changes if the GPUs of the machine are of another kind.
std::string gpuModels();

} // namespace brew::caffe_command
