//===- PlanKey.h - What a compiled plan depends on --------------*- C++ -*-===//
//
// A cached plan is only right while everything that the compiler read for it
// says the same. The key therefore holds a hash of the content of
//
//   prototxts and lists     the plan is made of them
//   the first file that a   the plan takes its shape from it
//   list names
//   means and matrices      the plan takes their shapes from them
//   other binary files      up to 8 MiB
//
// whatever their size and times are: editors, `cp -p`, archives and version
// control put times back. Larger binary files and databases, of whose content
// a plan has shapes alone, count by size and by the times of their last
// modification and of their last change of status. The latter cannot be set,
// so it gives away a file that was replaced by one of the same size and age.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace brew::caffe_command {

/// A text that differs when compiling `prototxt` with those flags could make
/// another plan: the flags, Brew's version, size and times of the program
/// `brewc`, the processor, the working folder, and every file that the prototxt
/// names, with what these name in turn. Nothing if one of them is a pipe or a
/// device, which nobody can read twice.
std::optional<std::string> planKey(const std::string &brewc,
                                   const std::string &prototxt,
                                   const std::vector<std::string> &flags);

/// FNV-1a, in 16 hexadecimal digits.
std::string hashOf(std::string_view bytes);

} // namespace brew::caffe_command
