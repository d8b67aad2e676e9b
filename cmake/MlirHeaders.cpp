//===- MlirHeaders.cpp - Where MLIR's precompiled headers belong ----------===//
//
// Empty: CMake attaches a precompiled header to a target, and a target has a
// source. The list of headers is in BrewMLIR.cmake.
//
//===----------------------------------------------------------------------===//
