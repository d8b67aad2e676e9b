//===- RecordIndex.h - Index of a database's records ------------*- C++ -*-===//
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

/// The keys of a database's records by their numbers, built in one pass.
class RecordIndex {
public:
  /// Reads all keys and, if `selection` needs them, labels; logs the number of
  /// records and the time. `layer` is a prefix of messages. If labels are
  /// needed and `info.readerOptions.skipBadRecords` is set, skips damaged
  /// records. Throws Error: (1) for a damaged record or database or if no
  /// record is left, (3) if the database cannot be read.
  RecordIndex(formats::DbReader &reader,
              const caffe::RecordSelection &selection,
              const DataLayerInfo &info, const std::string &layer);

  std::uint64_t count() const { return ends.size(); }
  std::string_view key(std::uint64_t record) const;
  /// Returns the number of records skipped.
  std::uint64_t skippedCount() const { return damaged.size(); }
  /// Moves the sampler's data out: labels, and the weights of the list that
  /// `selection` names, if any. Throws Error: (3) if the list is not found, (1)
  /// if it is wrong or names a record that does not exist.
  SampledRecords takeSampled(const caffe::RecordSelection &selection,
                             const std::vector<std::string> &folders);

private:
  const std::string path;
  std::string keys;                ///< concatenated
  std::vector<std::uint64_t> ends; ///< of each key in `keys`
  std::vector<int> labels;
  std::set<std::string> damaged; ///< keys of skipped records
};

} // namespace brew::runtime
