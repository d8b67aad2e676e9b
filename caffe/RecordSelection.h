//===- RecordSelection.h - Which records a data layer shows -----------*- C++ -*-===//
//
// The fields of data_param and image_data_param that say in which order records
// come and how many make an item of a batch. docs/data.md says what they mean.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>

namespace brew::caffe {
class LayerParameter;
}

namespace brew::caffe {

struct RecordSelection {
  bool shuffle = false;       ///< a new order in each pass
  bool random = false;        ///< each record is drawn, with replacement
  bool balanceLabels = false; ///< labels are equally likely
  bool neighbours = false; ///< every second record is the one after the first
  bool balanceMatches = false; ///< pairs of one label and of two in turn
  std::uint32_t imagesPerItem = 1;
  bool allLabels = false; ///< of an item's images; else whether they are equal
  std::string boostFile;  ///< list of weights; empty: records are alike
  double boostDefault = 1;

  /// Whether records simply come one after the other.
  bool isSequential() const {
    return !shuffle && !random && !balanceLabels && !balanceMatches;
  }
  bool needsLabels() const { return balanceLabels || balanceMatches; }
  /// Whether the second of two records follows from the first.
  bool hasPairs() const { return balanceMatches || neighbours; }
  /// How many records of `count` come at least before one can say that all that
  /// may come have come; drawn ones may come again and again.
  std::uint64_t drawsToCoverAll(std::uint64_t count) const {
    constexpr std::uint64_t kOften = 100;
    return random && count < UINT64_MAX / kOften ? count * kOften : count;
  }
  /// Records that belong together, which one rank reads.
  std::uint64_t recordsPerUnit() const {
    return imagesPerItem > 1 ? imagesPerItem : hasPairs() ? 2 : 1;
  }
};

/// Of a layer of any type; that of a type without such fields is sequential.
RecordSelection recordSelectionOf(const caffe::LayerParameter &layer);

} // namespace brew::caffe
