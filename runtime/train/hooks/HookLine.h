//===- HookLine.h - A hook as users write it --------------------*- C++ -*-===//
//
//   line     = [ NAME ":" ] schedule [ "if" criterion ] "do" action { modifier }
//   modifier = "needs" NAME { "," NAME } | "priority" N | "in" "background"
//   action   = words; what has spaces or commas stands in double quotes
//
// A hook's name has letters, digits, '_' and '-'. Empty lines and what follows
// '#' outside of quotes are comments.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/hooks/Schedule.h"

#include <cstddef>
#include <string>
#include <vector>

namespace brew::runtime {

struct HookLine {
  std::string name; ///< "": it has none
  Schedule schedule;
  std::string criterion; ///< "": none
  std::size_t criterionOffset = 0;
  std::vector<HookWord> action; ///< at least one; commas are words
  std::vector<HookWord> needs;
  int priority = 0;
  bool background = false;
  std::size_t end = 0; ///< bytes in all, without the comment
};

/// A line without its comment.
std::string withoutComment(const std::string &line);

/// Reads a line that is not empty. `implied`: the action of one that has none;
/// null: each has its own. Throws TextError.
HookLine readHookLine(const std::string &line, const char *implied = nullptr);

} // namespace brew::runtime
