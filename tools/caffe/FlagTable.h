//===- FlagTable.h - Flags of Caffe's command -------------------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace brew::caffe_command {

enum class FlagKind { Boolean, Integer, Text };
enum class FlagOwner {
  Caffe,
  Glog,         ///< runtime/log applies it
  GlogNoEffect, ///< of glog, without a visible effect in Brew
  GlogIgnored,  ///< of glog, and Brew lacks its effect
  Gflags
};

struct FlagInfo {
  const char *name; ///< without dashes
  FlagKind kind;
  FlagOwner owner;
  const char *valueName = ""; ///< of the value in the help; empty for booleans
  const char *help = "";      ///< one sentence; empty without an effect
};

/// Returns all flags that the command accepts.
const std::vector<FlagInfo> &flagTable();

/// Returns the lines of `caffe -help` about all flags.
std::string flagHelp();

/// Returns the entry of a flag, or null.
const FlagInfo *findFlag(const std::string &name);

} // namespace brew::caffe_command
