//===- GlogFlags.cpp - Transfer of glog's flags to brew-run ---------------===//
#include "tools/caffe/GlogFlags.h"

#include "support/Caller.h"
#include "tools/caffe/FlagTable.h"

#include <cstdlib>

namespace brew::caffe_command {

void exportGlogFlags(const CommandLine &line) {
  ::setenv("GLOG_alsologtostderr", "1", 1);
  for (const FlagInfo &flag : flagTable())
    if (flag.owner == FlagOwner::Glog && line.has(flag.name))
      ::setenv((std::string("GLOG_") + flag.name).c_str(),
               line[flag.name].c_str(), 1);
  ::setenv(kCallerVariable, "caffe", 1);
}

bool isLogged(int severity) {
  const char *minimum = std::getenv("GLOG_minloglevel");
  return !minimum || severity >= std::strtol(minimum, nullptr, 10);
}

} // namespace brew::caffe_command
