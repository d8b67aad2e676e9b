//===- FlagTable.cpp - Flags of Caffe's command ---------------------------===//
#include "tools/caffe/FlagTable.h"

#include <algorithm>

namespace brew::caffe_command {

const std::vector<FlagInfo> &flagTable() {
  using Kind = FlagKind;
  using Owner = FlagOwner;
  static const std::vector<FlagInfo> table = {
      {"gpu", Kind::Text, Owner::Caffe, "N,...|all",
       "GPUs to run on; train trains on all of them, test and time use the "
       "first; without the flag they run on the CPU, and train as the solver "
       "says"},
      {"iterations", Kind::Integer, Owner::Caffe, "N",
       "Batches of test, runs of time (default: 50)"},
      {"level", Kind::Integer, Owner::Caffe, "N",
       "NetState level (default: 0)"},
      {"model", Kind::Text, Owner::Caffe, "FILE", "Net to test or time"},
      {"phase", Kind::Text, Owner::Caffe, "PHASE",
       "Phase to time: TRAIN or TEST (default: TRAIN)"},
      {"sighup_effect", Kind::Text, Owner::Caffe, "EFFECT",
       "Effect of SIGHUP on train: stop, snapshot or none (default: snapshot)"},
      {"sigint_effect", Kind::Text, Owner::Caffe, "EFFECT",
       "Effect of SIGINT on train: stop, snapshot or none (default: stop)"},
      {"snapshot", Kind::Text, Owner::Caffe, "FILE",
       "Solver state from which train resumes"},
      {"solver", Kind::Text, Owner::Caffe, "FILE", "Solver to train"},
      {"stage", Kind::Text, Owner::Caffe, "NAME,...", "NetState stages"},
      {"weights", Kind::Text, Owner::Caffe, "FILE,...",
       "Weights to start from, to test or to time"},

      {"alsologtostderr", Kind::Boolean, Owner::Glog, "",
       "Log to standard error, too, if there are log files (default: true)"},
      {"log_dir", Kind::Text, Owner::Glog, "FOLDER",
       "Write log files to this folder, which must exist"},
      {"log_link", Kind::Text, Owner::Glog, "FOLDER",
       "Further links to the log files, in this folder"},
      {"log_prefix", Kind::Boolean, Owner::Glog, "",
       "Begin lines with severity, time and location (default: true)"},
      {"logfile_mode", Kind::Integer, Owner::Glog, "MODE",
       "Permissions of log files, a decimal number (default: 436)"},
      {"logtostderr", Kind::Boolean, Owner::Glog, "", "Write no log files"},
      {"max_log_size", Kind::Integer, Owner::Glog, "MIB",
       "Size of a log file after which another one begins (default: 1800)"},
      {"minloglevel", Kind::Integer, Owner::Glog, "N",
       "Drop lines below a severity: 1 information, 2 also warnings (default: "
       "0)"},
      {"stderrthreshold", Kind::Integer, Owner::Glog, "N",
       "Severity from which lines go to standard error if log files replace it "
       "(default: 2)"},

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

      {"flagfile", Kind::Text, Owner::Gflags, "FILE,...",
       "Read more flags from files, one in a line"},
      {"fromenv", Kind::Text, Owner::Gflags, "NAME,...",
       "Read these flags from the environment variables FLAGS_NAME; a missing "
       "one is an error"},
      {"help", Kind::Boolean, Owner::Gflags, "", "Print this text"},
      {"helpfull", Kind::Boolean, Owner::Gflags, "", "Print this text"},
      {"helpshort", Kind::Boolean, Owner::Gflags, "", "Print this text"},
      {"tryfromenv", Kind::Text, Owner::Gflags, "NAME,...",
       "Read these flags from the environment variables FLAGS_NAME, if they "
       "are set"},
      {"undefok", Kind::Text, Owner::Gflags, "NAME,...",
       "Ignore these flags if they are unknown"},
      {"version", Kind::Boolean, Owner::Gflags, "", "Print the version"}};
  return table;
}

std::string flagHelp() {
  constexpr std::size_t width = 30;
  std::string text = "flags, as -name value or --name=value, and booleans also "
                     "as -name and -noname:\n";
  std::string withoutEffect;
  for (const FlagInfo &flag : flagTable()) {
    if (!*flag.help) {
      withoutEffect += " -" + std::string(flag.name);
      continue;
    }
    std::string left = "  -" + std::string(flag.name);
    if (*flag.valueName)
      left += " " + std::string(flag.valueName);
    left.resize(std::max(left.size(), width), ' ');
    text += left + " - " + flag.help + "\n";
  }
  return text + "accepted without an effect:" + withoutEffect + "\n";
}

const FlagInfo *findFlag(const std::string &name) {
  for (const FlagInfo &flag : flagTable())
    if (name == flag.name)
      return &flag;
  return nullptr;
}

} // namespace brew::caffe_command
