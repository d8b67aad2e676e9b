//===- Flags.cpp - Parser of Caffe's flags --------------------------------===//
#include "tools/caffe/Flags.h"

#include "support/Error.h"
#include "support/Suggest.h"

#include <algorithm>
#include <fstream>

namespace brew::caffe_command {
namespace {

/// Maximum nesting of flag files.
constexpr int kMaxFileDepth = 8;

/// Caffe's flags, and flags of glog that users pass.
const std::vector<std::string> kFlags = {
    "alsologtostderr", "flagfile", "gpu",   "iterations",    "level",
    "logtostderr",     "model",    "phase", "sighup_effect", "sigint_effect",
    "snapshot",        "solver",   "stage", "weights"};

bool isSwitch(const std::string &name) {
  return name == "logtostderr" || name == "alsologtostderr";
}

class Reader {
public:
  CommandLine line;

  void read(const std::vector<std::string> &arguments, int depth) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string &argument = arguments[i];
      if (argument.size() < 2 || argument[0] != '-') {
        if (!line.action.empty())
          throw usageError("caffe does one thing at a time: '" + line.action +
                           "' or '" + argument + "'");
        line.action = argument;
        continue;
      }
      const size_t begin = argument[1] == '-' ? 2 : 1;
      const size_t end = std::min(argument.find('='), argument.size());
      std::string name = argument.substr(begin, end - begin);
      std::replace(name.begin(), name.end(), '-', '_');
      if (std::find(kFlags.begin(), kFlags.end(), name) == kFlags.end())
        throw usageError("unknown flag '" + argument.substr(0, end) + "'" +
                         didYouMean(name, kFlags) +
                         " (brewc and brew-run have more)");
      std::string value = "true";
      if (end < argument.size())
        value = argument.substr(end + 1);
      else if (!isSwitch(name)) {
        if (i + 1 == arguments.size())
          throw usageError("flag '" + argument + "' needs a value");
        value = arguments[++i];
      }
      if (name == "flagfile")
        readFile(value, depth);
      else
        line.flags[name] = value;
    }
  }

private:
  void readFile(const std::string &path, int depth) {
    if (depth == kMaxFileDepth)
      throw badInput(path + ": flag files are nested too deeply");
    std::ifstream file(path);
    if (!file)
      throw badInput(path + ": cannot open the flag file");
    std::vector<std::string> arguments;
    for (std::string text; std::getline(file, text);) {
      const size_t begin = text.find_first_not_of(" \t\r");
      if (begin == text.npos || text[begin] == '#')
        continue;
      text = text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
      // In a file, a flag and its value are on one line.
      const size_t space = text.find_first_of(" \t");
      if (text[0] == '-' && space != text.npos && text.find('=') > space)
        text = text.substr(0, space) + "=" +
               text.substr(text.find_first_not_of(" \t", space));
      arguments.push_back(text);
    }
    if (file.bad()) // a folder, say
      throw unavailable(path + ": cannot read the flag file");
    read(arguments, depth + 1);
  }
};

} // namespace

const std::string &CommandLine::operator[](const std::string &name) const {
  static const std::string none;
  const auto found = flags.find(name);
  return found == flags.end() ? none : found->second;
}

CommandLine readCommandLine(const std::vector<std::string> &arguments) {
  Reader reader;
  reader.read(arguments, 0);
  return std::move(reader.line);
}

} // namespace brew::caffe_command
