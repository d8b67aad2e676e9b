//===- Sampler.h - Which record comes next ----------------------*- C++ -*-===//
//
// Records are numbered in the order of their source. The one that comes at
// number n, counted from the beginning of training over all passes, is a
// function of the settings, the records, the seed and n alone: so a position is
// all that a solver state needs to know.
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

/// What a sampler knows of a source.
struct SampledRecords {
  std::uint64_t count = 0;
  std::vector<int> labels;     ///< of each, if RecordSelection::needsLabels()
  std::vector<double> weights; ///< of each; empty: all alike
};

/// Tells apart records that would be drawn in another order: a checksum.
std::string identityOf(const SampledRecords &records);

class Sampler {
public:
  /// `seed` and `stream` name its random numbers. Throws Error (1), beginning
  /// with `layer`, if the records cannot be sampled so.
  Sampler(const caffe::RecordSelection &selection, SampledRecords records,
          std::uint64_t seed, const std::string &stream,
          const std::string &layer);

  std::uint64_t count() const { return records.count; }
  /// How many labels there are; 0 if they are not needed.
  std::size_t labels() const { return groups.size(); }
  /// The record that comes at `number`. Fast for numbers that ascend.
  std::uint64_t at(std::uint64_t number);

private:
  /// The records of one label are side by side among the byLabel.
  struct Group {
    IndexRange range;
    caffe::RandomStream stream; ///< of its orders
    /// Of the pass that was last asked for.
    std::vector<std::int64_t> order;
    std::uint64_t pass = 0;
  };

  void group();
  void check(const std::string &layer) const;
  std::uint64_t drawn(std::uint64_t number);
  std::uint64_t balanced(std::uint64_t number);
  std::uint64_t partner(std::uint64_t pair, std::uint64_t first);
  std::uint64_t matching(std::uint64_t pair, std::uint64_t first) const;
  std::uint64_t differing(std::uint64_t pair, std::uint64_t first) const;
  IndexRange all() const { return {0, records.count}; }
  std::uint64_t recordAt(std::uint64_t position) const {
    return byLabel.empty() ? position : byLabel[position];
  }

  caffe::RecordSelection selection;
  SampledRecords records;
  caffe::RandomStream orders, draws, labelOrders, pairs, kinds;
  std::uint64_t seed;
  std::string name;

  /// Records in the order of their labels; empty without labels.
  std::vector<std::uint64_t> byLabel;
  std::vector<std::uint64_t> positionOf; ///< of each record
  std::vector<Group> groups;          ///< in the order of labels
  std::vector<std::size_t> groupOf;   ///< of each record
  std::vector<std::size_t> eligible;  ///< groups that have a weight
  WeightedChoice choice;              ///< of byLabel

  std::vector<std::int64_t> order; ///< of the pass that was last asked for
  std::uint64_t pass = 0;
  std::vector<std::int64_t> labelOrder; ///< likewise, of the labels
  std::uint64_t labelRound = 0;
};

} // namespace brew::runtime
