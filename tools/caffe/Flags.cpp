//===- Flags.cpp - Parser of Caffe's flags --------------------------------===//
#include "tools/caffe/Flags.h"

#include "support/Error.h"
#include "support/Suggest.h"
#include "tools/caffe/FlagTable.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

namespace brew::caffe_command {
namespace {

/// Maximum nesting of flag files.
constexpr int kMaxFileDepth = 8;

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');)
    if (!part.empty())
      parts.push_back(part);
  return parts;
}

/// Returns the name of a flag in Caffe's spelling.
std::string nameOf(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::vector<std::string> suggestions() {
  std::vector<std::string> names;
  for (const FlagInfo &flag : flagTable())
    names.push_back(flag.name);
  return names;
}

/// Returns "; did you mean '-solver'?" for a flag's name, or "".
std::string flagSuggestion(const std::string &name) {
  std::vector<std::string> flags;
  for (const std::string &flag : suggestions())
    flags.push_back("-" + flag);
  return didYouMean("-" + name, flags);
}

/// Returns a boolean as "true" or "false". Throws Error (2) for other texts.
std::string parseBoolean(const std::string &name, std::string value) {
  std::transform(value.begin(), value.end(), value.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  for (const char *text : {"1", "t", "true", "y", "yes"})
    if (value == text)
      return "true";
  for (const char *text : {"0", "f", "false", "n", "no"})
    if (value == text)
      return "false";
  throw usageError("-" + name + " is true or false, not '" + value + "'");
}

/// Returns the decimal text of an int32, which gflags reads as decimal, or as
/// hexadecimal after 0x. Throws Error (2).
std::string parseInteger(const std::string &name, const std::string &value) {
  const bool isHexadecimal = value.compare(0, 2, "0x") == 0;
  char *end = nullptr;
  errno = 0;
  const long long number =
      std::strtoll(value.c_str(), &end, isHexadecimal ? 16 : 10);
  if (value.empty() || *end || errno || number > INT32_MAX ||
      number < INT32_MIN)
    throw usageError("-" + name + " is an integer, not '" + value + "'");
  return std::to_string(number);
}

class Reader {
public:
  CommandLine line;

  void read(const std::vector<std::string> &arguments, int depth) {
    bool flagsEnded = false;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string &argument = arguments[i];
      if (argument == "--" && !flagsEnded) {
        flagsEnded = true;
        continue;
      }
      if (flagsEnded || argument.size() < 2 || argument[0] != '-') {
        words.push_back(argument);
        continue;
      }
      const size_t begin = argument[1] == '-' ? 2 : 1;
      const size_t end = std::min(argument.find('='), argument.size());
      const bool hasValue = end < argument.size();
      std::string name = nameOf(argument.substr(begin, end - begin));
      const FlagInfo *flag = findFlag(name);
      if (!flag && !hasValue && name.compare(0, 2, "no") == 0) {
        const FlagInfo *negated = findFlag(name.substr(2));
        if (negated && negated->kind == FlagKind::Boolean) {
          set(*negated, "false", depth);
          continue;
        }
      }
      if (!flag) {
        unknown.emplace_back(name, argument.substr(0, end));
        continue;
      }
      std::string value = "true";
      if (hasValue)
        value = argument.substr(end + 1);
      else if (flag->kind != FlagKind::Boolean) {
        if (i + 1 == arguments.size())
          throw usageError("flag '" + argument + "' needs a value");
        value = arguments[++i];
      }
      set(*flag, value, depth);
    }
  }

  /// Checks the complete command line.
  void finish() {
    for (const auto &[name, argument] : unknown)
      if (!permitted.count(name) &&
          !(name.compare(0, 2, "no") == 0 && permitted.count(name.substr(2))))
        throw usageError("unknown flag '" + argument + "'" +
                         flagSuggestion(name) +
                         " (caffe --help lists the flags; brewc and brew-run "
                         "have more options)");
    constexpr std::string_view prototxt = ".prototxt";
    for (const std::string &word : words) {
      if (word.size() > prototxt.size() &&
          word.compare(word.size() - prototxt.size(), word.npos, prototxt) == 0)
        throw usageError("'" + word + "' is no action; pass it as -solver " +
                         word + " or -model " + word);
      if (!line.action.empty())
        throw usageError("caffe does one thing at a time: '" + line.action +
                         "' or '" + word + "'");
      line.action = word;
    }
  }

private:
  void set(const FlagInfo &flag, const std::string &value, int depth) {
    const std::string name = flag.name;
    if (name == "flagfile") {
      for (const std::string &path : splitAtCommas(value))
        readFile(path, depth);
    } else if (name == "fromenv" || name == "tryfromenv") {
      for (const std::string &variable : splitAtCommas(value))
        readVariable(variable, name == "fromenv", depth);
    } else if (name == "undefok") {
      for (const std::string &allowed : splitAtCommas(value))
        permitted.insert(nameOf(allowed));
    } else if (flag.kind == FlagKind::Boolean) {
      line.flags[name] = parseBoolean(name, value);
    } else {
      line.flags[name] =
          flag.kind == FlagKind::Integer ? parseInteger(name, value) : value;
    }
  }

  /// Sets the flag `name` from the environment variable FLAGS_name.
  void readVariable(const std::string &name, bool isRequired, int depth) {
    const FlagInfo *flag = findFlag(nameOf(name));
    if (!flag)
      throw usageError("-fromenv: unknown flag '" + name + "'" +
                       didYouMean(name, suggestions()));
    const char *value = std::getenv(("FLAGS_" + name).c_str());
    if (!value && isRequired)
      throw usageError("-fromenv=" + name + ": the environment has no FLAGS_" +
                       name);
    if (!value)
      return;
    if (depth == kMaxFileDepth)
      throw usageError("FLAGS_" + name + ": flags are nested too deeply");
    set(*flag, value, depth + 1);
  }

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

  std::vector<std::string> words; ///< arguments that are not flags
  /// Names and arguments of unknown flags. `undefok` may permit them later.
  std::vector<std::pair<std::string, std::string>> unknown;
  std::set<std::string> permitted; ///< names in `undefok`
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
  reader.finish();
  return std::move(reader.line);
}

} // namespace brew::caffe_command
