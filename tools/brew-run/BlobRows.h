//===- BlobRows.h - What a blob has for many samples ------------*- C++ -*-===//
#pragma once

#include "BatchInput.h"
#include "SignalActions.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace brew::run {

/// Which samples, and which of the net's blobs.
struct BlobRowsOptions {
  std::string blob, program; ///< program "": deploy, or the only one
  std::vector<std::string> inputs, weights;
  std::string mean, classes; ///< of the command line, for openRecords()
  float scale = 1;
  std::int64_t skip = 0;
  std::int64_t count = std::numeric_limits<std::int64_t>::max();
};

/// A row of values for each sample.
struct BlobRows {
  std::string net;
  std::size_t columns = 0;
  std::vector<float> values;
  std::vector<std::string> names;
  std::vector<std::int32_t> classes; ///< less than 0: there is none
};

/// Runs the net on the samples. Throws Error: the program keeps no such blob or
/// it has no row for each sample, a sample or its label cannot be read, a value
/// is not finite, there are no samples; Interrupted.
BlobRows computeBlobRows(const PlanOptions &plan,
                         const BlobRowsOptions &options,
                         const StopSignals &signals);

} // namespace brew::run
