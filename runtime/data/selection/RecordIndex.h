//===- RecordIndex.h - The keys of a database's records ---------*- C++ -*-===//
#pragma once

#include "caffe/RecordSelection.h"
#include "formats/Database.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/selection/Sampler.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace brew::runtime {

/// A database's records by their numbers, which one pass over it gives.
class RecordIndex {
public:
  /// Reads all keys and, if `selection` needs them, labels; says so in the log.
  /// `layer` begins messages. Damaged records are left out where bad records
  /// are to be skipped. Throws Error: (1) for a damaged record or database, (3)
  /// if it cannot be read, (1) if no record is left.
  RecordIndex(formats::DbReader &reader, const caffe::RecordSelection &selection,
              const DataLayerInfo &info, const std::string &layer);

  std::uint64_t count() const { return ends.size(); }
  std::string_view key(std::uint64_t record) const;
  /// Records that were left out.
  std::uint64_t skippedCount() const { return damaged.size(); }
  /// Moves what a sampler needs out of it: labels, and the weights of the list
  /// that `selection` names, if it does. Throws Error: (3) if the list is not
  /// found, (1) if it is wrong or names a record that is not there.
  SampledRecords takeSampled(const caffe::RecordSelection &selection,
                             const std::vector<std::string> &folders);

private:
  const std::string path;
  std::string keys;                ///< one behind the other
  std::vector<std::uint64_t> ends; ///< of each key
  std::vector<int> labels;
  std::set<std::string> damaged; ///< keys of what was left out
};

} // namespace brew::runtime
