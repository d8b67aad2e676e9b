//===- PythonPackage.h - Nets that run in Python ----------------*- C++ -*-===//
//
// Layers of type Python need a Python interpreter, and images of several sizes
// change the shapes of a net during a run. `caffe` then becomes
// `python3 -m caffe`, a command of the package `caffe`, which runs such nets
// layer by layer. Loading an interpreter into brew-run instead would tie it to
// one version of Python.
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
/// for the same action and flags. $PYTHONPATH selects packages and modules of
/// layers; the package in Brew's build folder comes after it. Throws Error (3)
/// if there is no python3. If the package cannot be imported, the new process
/// fails with a message. `reason` begins both messages: "FILE ..., which run".
[[noreturn]] void execPythonPackage(const CommandLine &line,
                                    const std::string &reason);

} // namespace brew::caffe_command
