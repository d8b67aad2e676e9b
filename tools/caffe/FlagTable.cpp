//===- FlagTable.cpp - Flags of Caffe's command ---------------------------===//
#include "tools/caffe/FlagTable.h"

namespace brew::caffe_command {

const std::vector<FlagInfo> &flagTable() {
  using Kind = FlagKind;
  using Owner = FlagOwner;
  static const std::vector<FlagInfo> table = {
      {"gpu", Kind::Text, Owner::Caffe},
      {"iterations", Kind::Integer, Owner::Caffe},
      {"level", Kind::Integer, Owner::Caffe},
      {"model", Kind::Text, Owner::Caffe},
      {"phase", Kind::Text, Owner::Caffe},
      {"sighup_effect", Kind::Text, Owner::Caffe},
      {"sigint_effect", Kind::Text, Owner::Caffe},
      {"snapshot", Kind::Text, Owner::Caffe},
      {"solver", Kind::Text, Owner::Caffe},
      {"stage", Kind::Text, Owner::Caffe},
      {"weights", Kind::Text, Owner::Caffe},

      {"alsologtostderr", Kind::Boolean, Owner::Glog},
      {"log_dir", Kind::Text, Owner::Glog},
      {"log_link", Kind::Text, Owner::Glog},
      {"log_prefix", Kind::Boolean, Owner::Glog},
      {"logfile_mode", Kind::Integer, Owner::Glog},
      {"logtostderr", Kind::Boolean, Owner::Glog},
      {"max_log_size", Kind::Integer, Owner::Glog},
      {"minloglevel", Kind::Integer, Owner::Glog},
      {"stderrthreshold", Kind::Integer, Owner::Glog},

      {"colorlogtostderr", Kind::Boolean, Owner::GlogNoEffect},
      {"colorlogtostdout", Kind::Boolean, Owner::GlogNoEffect},
      {"drop_log_memory", Kind::Boolean, Owner::GlogNoEffect},
      {"log_backtrace_at", Kind::Text, Owner::GlogNoEffect},
      {"logbuflevel", Kind::Integer, Owner::GlogNoEffect},
      {"logbufsecs", Kind::Integer, Owner::GlogNoEffect},
      {"logcleansecs", Kind::Integer, Owner::GlogNoEffect},
      {"stop_logging_if_full_disk", Kind::Boolean, Owner::GlogNoEffect},
      {"symbolize_stacktrace", Kind::Boolean, Owner::GlogNoEffect},
      {"v", Kind::Integer, Owner::GlogNoEffect},
      {"vmodule", Kind::Text, Owner::GlogNoEffect},

      {"alsologtoemail", Kind::Text, Owner::GlogIgnored},
      {"log_file_header", Kind::Boolean, Owner::GlogIgnored},
      {"log_utc_time", Kind::Boolean, Owner::GlogIgnored},
      {"log_year_in_prefix", Kind::Boolean, Owner::GlogIgnored},
      {"logemaillevel", Kind::Integer, Owner::GlogIgnored},
      {"logmailer", Kind::Text, Owner::GlogIgnored},
      {"logtostdout", Kind::Boolean, Owner::GlogIgnored},
      {"timestamp_in_logfile_name", Kind::Boolean, Owner::GlogIgnored},

      {"flagfile", Kind::Text, Owner::Gflags},
      {"fromenv", Kind::Text, Owner::Gflags},
      {"help", Kind::Boolean, Owner::Gflags},
      {"helpfull", Kind::Boolean, Owner::Gflags},
      {"helpshort", Kind::Boolean, Owner::Gflags},
      {"tryfromenv", Kind::Text, Owner::Gflags},
      {"undefok", Kind::Text, Owner::Gflags},
      {"version", Kind::Boolean, Owner::Gflags}};
  return table;
}

const FlagInfo *findFlag(const std::string &name) {
  for (const FlagInfo &flag : flagTable())
    if (name == flag.name)
      return &flag;
  return nullptr;
}

} // namespace brew::caffe_command
