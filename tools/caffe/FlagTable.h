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
  const char *name;
  FlagKind kind;
  FlagOwner owner;
};

/// Returns all flags that the command accepts.
const std::vector<FlagInfo> &flagTable();

/// Returns the entry of a flag, or null.
const FlagInfo *findFlag(const std::string &name);

} // namespace brew::caffe_command
