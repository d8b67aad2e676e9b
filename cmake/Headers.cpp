//===- Headers.cpp - Source of the precompiled headers' targets -----------===//
//
// This file is empty. CMake attaches precompiled headers to a target, and a
// target must have a source. The lists of headers are in BrewHeaders.cmake and
// BrewMLIR.cmake.
//
//===----------------------------------------------------------------------===//
