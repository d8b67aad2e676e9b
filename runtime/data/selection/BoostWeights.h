//===- BoostWeights.h - Sampling weights from boost_file --------*- C++ -*-===//
#pragma once

#include "caffe/RecordSelection.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace brew::runtime {

/// Returns the numbers of the records with a key: an empty list if they were
/// skipped, nullopt if there is no such key.
using RecordsOf = std::function<std::optional<std::vector<std::uint64_t>>(
    const std::string &key)>;

/// Returns the weights of `count` records from the boost_file of `selection`,
/// or an empty vector if it names no file. `source` names the records' source
/// in messages. Throws Error: (3) if the file is not found, (1) if it is wrong
/// or names a record that does not exist.
std::vector<double> boostWeights(const caffe::RecordSelection &selection,
                                 std::uint64_t count,
                                 const std::vector<std::string> &folders,
                                 const std::string &source,
                                 const RecordsOf &recordsOf);

} // namespace brew::runtime
