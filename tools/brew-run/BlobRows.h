//===- BlobRows.h - Rows of a blob for many samples -------------*- C++ -*-===//
#pragma once

#include "BatchInput.h"
#include "SignalActions.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace brew::run {

/// The samples and the blob of the net.
struct BlobRowsOptions {
  std::string blob, program; ///< program "": see Session::chooseProgram()
  std::vector<std::string> inputs, weights;
  std::string classes; ///< option --classes
  ImageOptions images;
  std::int64_t skip = 0;
  std::int64_t count = std::numeric_limits<std::int64_t>::max();
};

/// One row of values per sample.
struct BlobRows {
  std::string net;
  std::size_t columns = 0;
  std::vector<float> values;
  std::vector<std::string> names;
  std::vector<std::int32_t> classes; ///< negative: no class
};

/// Runs the net on the samples and returns the rows of the blob. Throws Error
/// if the blob is not readable or does not have one row per sample, if a sample
/// or label cannot be read, if a value is not finite or if there are no
/// samples; throws Interrupted on a signal.
BlobRows computeBlobRows(const PlanOptions &plan,
                         const BlobRowsOptions &options,
                         const StopSignals &signals);

} // namespace brew::run
