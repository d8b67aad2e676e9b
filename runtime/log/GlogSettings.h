//===- GlogSettings.h - Settings of glog ------------------------*- C++ -*-===//
#pragma once

#include "runtime/log/Log.h"

#include <cstdint>
#include <string>

namespace brew::log {

/// glog's settings. `GLOG_name` in the environment sets flag `name`.
struct GlogSettings {
  int minimumSeverity = 0; ///< minloglevel: less severe lines are dropped
  bool onlyStderr = false; ///< logtostderr: no files
  /// alsologtostderr: standard error gets all lines. As in Caffe, and unlike
  /// glog's default, it does.
  bool alsoStderr = true;
  int stderrSeverity = 2; ///< stderrthreshold, without alsologtostderr
  bool hasPrefix = true;  ///< log_prefix
  std::string folder;     ///< log_dir
  std::string linkFolder; ///< log_link: further links to the files
  std::uint64_t maxFileBytes = 1800ull << 20; ///< max_log_size
  unsigned fileMode = 0664;                   ///< logfile_mode

  static GlogSettings fromEnvironment();

  bool isLogged(Severity severity) const {
    return static_cast<int>(severity) >= minimumSeverity;
  }
  bool isOnStderr(Severity severity) const {
    return severity != Severity::Fatal &&
           (onlyStderr || alsoStderr ||
            static_cast<int>(severity) >= stderrSeverity);
  }
};

} // namespace brew::log
