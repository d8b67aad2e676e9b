//===- GlogSettings.cpp - Settings of glog --------------------------------===//
#include "runtime/log/GlogSettings.h"

#include <cstdlib>
#include <string_view>

namespace brew::log {
namespace {

std::string text(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// As in glog, the first character decides, and an empty value is true.
bool boolean(const char *name, bool fallback) {
  const char *value = std::getenv(name);
  if (!value)
    return fallback;
  return !*value || std::string_view("tTyY1").find(*value) != std::string::npos;
}

long integer(const char *name, long fallback) {
  const char *value = std::getenv(name);
  return value ? std::strtol(value, nullptr, 10) : fallback;
}

} // namespace

GlogSettings GlogSettings::fromEnvironment() {
  GlogSettings settings;
  settings.minimumSeverity = static_cast<int>(integer("GLOG_minloglevel", 0));
  settings.onlyStderr = boolean("GLOG_logtostderr", settings.onlyStderr);
  settings.alsoStderr = boolean("GLOG_alsologtostderr", settings.alsoStderr);
  settings.stderrSeverity = static_cast<int>(
      integer("GLOG_stderrthreshold", settings.stderrSeverity));
  settings.hasPrefix = boolean("GLOG_log_prefix", settings.hasPrefix);
  settings.folder = text("GLOG_log_dir");
  settings.linkFolder = text("GLOG_log_link");
  // As in glog, sizes out of range are 1 MiB.
  const long megabytes = integer("GLOG_max_log_size", 1800);
  settings.maxFileBytes = static_cast<std::uint64_t>(
                              megabytes > 0 && megabytes < 4096 ? megabytes : 1)
                          << 20;
  settings.fileMode = static_cast<unsigned>(
      integer("GLOG_logfile_mode", static_cast<long>(settings.fileMode)));
  return settings;
}

} // namespace brew::log
