//===- ReadValues.h - Values of a dataset -----------------------*- C++ -*-===//
//
// Private to Hdf5.cpp.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <hdf5.h>

#include <string>

namespace brew::formats::hdf5 {

/// Reads all values of a dataset with at least one, as `memoryType`, into
/// `values`. `where` begins error messages. The caller holds the library's
/// lock.
void readValues(hid_t dataset, hid_t memoryType, void *values,
                const std::string &where);

} // namespace brew::formats::hdf5
