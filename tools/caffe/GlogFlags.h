//===- GlogFlags.h - Transfer of glog's flags to brew-run -------*- C++ -*-===//
#pragma once

#include "tools/caffe/Flags.h"

namespace brew::caffe_command {

/// Sets glog's environment variables, GLOG_name, to the flags, for brew-run,
/// and names log files after `caffe`. As in Caffe, standard error gets the log
/// unless the flag `alsologtostderr` is false, whatever its variable is.
void exportGlogFlags(const CommandLine &line);

/// Whether `minloglevel` permits lines of this severity: 0 information, 1
/// warnings. To be called after exportGlogFlags().
bool isLogged(int severity);

} // namespace brew::caffe_command
