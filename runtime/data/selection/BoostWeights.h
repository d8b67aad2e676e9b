//===- BoostWeights.h - Weights of a source's records -----------*- C++ -*-===//
#pragma once

#include "caffe/RecordSelection.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// The numbers of the records that have a key: none if they were left out;
/// nothing if there is no such key.
using RecordsOf = std::function<std::optional<std::vector<std::uint64_t>>(
    const std::string &key)>;

/// The weights of `count` records that the boost_file of `selection` gives;
/// empty if it names none. `source` is where the keys should be. Throws Error:
/// (3) if the list is not found, (1) if it is wrong or names a record that is
/// not there.
std::vector<double> boostWeights(const caffe::RecordSelection &selection,
                                 std::uint64_t count,
                                 const std::vector<std::string> &folders,
                                 const std::string &source,
                                 const RecordsOf &recordsOf);

} // namespace brew::runtime
