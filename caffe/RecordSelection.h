//===- RecordSelection.h - Order and grouping of records --------*- C++ -*-===//
//
// The fields of data_param and image_data_param that select the order of
// records and the number of records in an item of a batch. docs/data.md
// documents them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>

namespace brew::caffe {
class LayerParameter;
}

namespace brew::caffe {

/// The order in which a data layer reads records. Images of a list are records,
/// too.
struct RecordSelection {
  bool shuffle = false;       ///< the order changes in each epoch
  bool random = false;        ///< each record is drawn, with replacement
  bool balanceLabels = false; ///< labels are equally likely
  /// Records are read in pairs: the second follows the first in the source.
  bool neighbours = false;
  /// Pairs with equal labels alternate with pairs with different labels.
  bool balanceMatches = false;
  std::uint32_t imagesPerItem = 1;
  /// The label top contains the labels of all images of an item. Otherwise it
  /// says whether they are equal.
  bool allLabels = false;
  std::string boostFile; ///< list of weights; empty: equal weights
  double boostDefault = 1;

  /// Returns whether records are read one after the other.
  bool isSequential() const {
    return !shuffle && !random && !balanceLabels && !balanceMatches;
  }
  bool needsLabels() const { return balanceLabels || balanceMatches; }
  /// Returns whether the first of two records determines the second.
  bool hasPairs() const { return balanceMatches || neighbours; }
  /// Returns the number of reads after which each of `count` records has very
  /// likely occurred. Drawn records may repeat.
  std::uint64_t drawsToCoverAll(std::uint64_t count) const {
    constexpr std::uint64_t kDrawsPerRecord = 100;
    return random && count < UINT64_MAX / kDrawsPerRecord
               ? count * kDrawsPerRecord
               : count;
  }
  /// Returns the number of records that belong together. One rank reads them
  /// all.
  std::uint64_t recordsPerUnit() const {
    return imagesPerItem > 1 ? imagesPerItem : hasPairs() ? 2 : 1;
  }
};

/// Returns the selection of a layer of any type; sequential for types without
/// these fields.
RecordSelection recordSelectionOf(const caffe::LayerParameter &layer);

} // namespace brew::caffe
