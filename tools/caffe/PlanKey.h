//===- PlanKey.h - Key of a compiled plan -----------------------*- C++ -*-===//
//
// A cached plan is valid only while all inputs of the compiler are unchanged.
// The key therefore contains a hash of the content of
//
//   prototxts and lists         the source of the plan
//   the first file in a list    the plan depends on its shape
//   means                       the plan depends on their shapes
//   infogain matrices           the plan contains them
//   other binary files          up to 8 MiB
//
// Size and times do not suffice for these: editors, `cp -p`, archives and
// version control restore times. Larger binary files and databases affect a
// plan only by their shapes; the key contains their size, modification time and
// status change time. The latter cannot be set, so it reveals a file that was
// replaced by one of the same size and age.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brew::caffe_command {

/// Returns a text that changes whenever compiling `prototxt` with these flags
/// might yield a different plan. It covers the flags, Brew's version, the size
/// and times of the program `brewc`, the processor, for a plan for GPUs their
/// models, the working folder and all files that the prototxt names,
/// recursively. Returns nullopt if one of these files is a pipe or a device,
/// which cannot be read twice.
std::optional<std::string> planKey(const std::string &brewc,
                                   const std::string &prototxt,
                                   const std::vector<std::string> &flags);

/// Returns the FNV-1a hash as 16 hexadecimal digits.
std::string hashOf(std::string_view bytes);

} // namespace brew::caffe_command
