//===- PythonLayers.h - Nets with layers in Python --------------*- C++ -*-===//
//
// Layers of type Python need a Python interpreter. `caffe` then becomes
// `python3 -m caffe`, a command of the package `caffe`, which runs such nets.
// Loading an interpreter into brew-run instead would tie it to one version of
// Python, and its layers could not change their shapes during a run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/caffe/Flags.h"

#include <string>

namespace brew::caffe_command {

/// Looks for a layer of type Python in a net, or in the nets that a solver
/// names. Returns the path of the net's prototxt, or "" if no net has such a
/// layer. Skips pipes, which can be read only once.
std::string fileWithPythonLayer(const std::string &prototxt);

/// Replaces this process with the package `caffe` in the `python3` of $PATH,
/// for the same action and flags; `file` is the result of
/// fileWithPythonLayer(). $PYTHONPATH selects packages and modules of layers;
/// the package in Brew's build folder comes after it. Throws Error (3) if
/// there is no python3. If the package cannot be imported, the new process
/// fails with a message.
[[noreturn]] void execPythonPackage(const CommandLine &line,
                                    const std::string &file);

} // namespace brew::caffe_command
