//===- HookLine.h - Parser of hook lines ------------------------*- C++ -*-===//
//
//   line     = [ NAME ":" ] schedule [ "if" criterion ] "do" action
//              { modifier }
//   modifier = "needs" NAME { "," NAME } | "priority" N | "in" "background"
//   action   = words; words with spaces or commas are in double quotes, except
//              for arguments of a name: gaussian(0, 0.01)
//
// A hook's name has letters, digits, '_' and '-'. Empty lines are ignored, and
// so is text after '#' outside of quotes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/train/hooks/Schedule.h"

#include <cstddef>
#include <string>
#include <vector>

namespace brew::runtime {

/// A parsed line.
struct HookLine {
  std::string name; ///< "": unnamed
  Schedule schedule;
  std::string criterion;           ///< "": none
  std::size_t criterionOffset = 0; ///< bytes of the line before the criterion
  std::vector<HookWord> action;    ///< at least one; commas are words
  std::vector<HookWord> needs;
  int priority = 0;
  bool background = false;
  std::size_t end = 0; ///< length in bytes without the comment
};

/// Returns a line without its comment.
std::string withoutComment(const std::string &line);

/// Parses a line that is not empty. `implied`: the action of a line without
/// one; null: lines must have one. Throws TextError.
HookLine readHookLine(const std::string &line, const char *implied = nullptr);

} // namespace brew::runtime
