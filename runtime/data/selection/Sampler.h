//===- Sampler.h - Order of sampled records ---------------------*- C++ -*-===//
//
// Records are numbered in the order of their source. The n-th record, counted
// from the beginning of training over all passes, is a function of the
// settings, the records, the seed and n alone: a solver state only needs the
// position.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "caffe/RandomStream.h"
#include "caffe/RecordSelection.h"
#include "runtime/data/selection/WeightedChoice.h"

#include <cstdint>
#include <string>
#include <vector>

namespace brew::runtime {

/// The properties of a source's records that determine the order.
struct SampledRecords {
  std::uint64_t count = 0;
  std::vector<int>
      labels; ///< of each record, if RecordSelection::needsLabels()
  std::vector<double> weights; ///< of each record; empty: equal
};

/// Returns a checksum that differs if records would be drawn in another order.
std::string identityOf(const SampledRecords &records);

/// Draws records in the order that a RecordSelection determines.
class Sampler {
public:
  /// `seed` and `stream` identify the random numbers. Throws Error (1), with
  /// the prefix `layer`, if the records cannot be sampled as `selection` says.
  Sampler(const caffe::RecordSelection &selection, SampledRecords records,
          std::uint64_t seed, const std::string &stream,
          const std::string &layer);

  std::uint64_t count() const { return records.count; }
  /// Returns the number of labels; 0 if they are not needed.
  std::size_t labels() const { return groups.size(); }
  /// Returns the record that is read as the `number`-th. Fast for ascending
  /// numbers.
  std::uint64_t at(std::uint64_t number);

private:
  /// The records of one label: consecutive indices in label order.
  struct Group {
    IndexRange range;
    caffe::RandomStream stream; ///< for its random orders
    /// Order of the last pass that was queried.
    std::vector<std::int64_t> order;
    std::uint64_t pass = 0;
  };

  void groupByLabel();
  void requireRecords(const std::string &layer) const;
  std::uint64_t drawRecord(std::uint64_t number);
  std::uint64_t drawBalanced(std::uint64_t number);
  std::uint64_t drawPartner(std::uint64_t pair, std::uint64_t first);
  std::uint64_t drawMatchingPartner(std::uint64_t pair,
                                    std::uint64_t first) const;
  std::uint64_t drawDifferingPartner(std::uint64_t pair,
                                     std::uint64_t first) const;
  IndexRange all() const { return {0, records.count}; }
  std::uint64_t recordAt(std::uint64_t position) const {
    return byLabel.empty() ? position : byLabel[position];
  }

  caffe::RecordSelection selection;
  SampledRecords records;
  caffe::RandomStream shuffleStream, drawStream, labelOrderStream;
  caffe::RandomStream partnerStream; ///< for the partner of a pair's record
  caffe::RandomStream matchStream;   ///< for whether a pair's labels match
  std::uint64_t seed;
  std::string streamName;

  /// Records in label order; empty without labels.
  std::vector<std::uint64_t> byLabel;
  std::vector<std::uint64_t> positionOf; ///< index in `byLabel` of each record
  std::vector<Group> groups;             ///< in label order
  std::vector<std::size_t> groupOf;      ///< of each record
  std::vector<std::size_t> eligible;     ///< groups with a positive weight
  WeightedChoice choice;                 ///< of indices

  std::vector<std::int64_t> order; ///< of the last pass that was queried
  std::uint64_t pass = 0;
  std::vector<std::int64_t> labelOrder; ///< of the labels in the last round
  std::uint64_t labelRound = 0;
};

} // namespace brew::runtime
