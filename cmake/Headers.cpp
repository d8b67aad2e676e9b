//===- Headers.cpp - Where precompiled headers belong ---------------------===//
//
// Empty: CMake attaches a precompiled header to a target, and a target has a
// source. The lists of headers are in BrewHeaders.cmake and BrewMLIR.cmake.
//
//===----------------------------------------------------------------------===//
