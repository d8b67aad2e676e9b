//===- CommandLine.cpp - Command line of brewc ----------------------------===//
#include "CommandLine.h"

#include "tools/common/HostPlugin.h"

#include <algorithm>

using brew::api::Option;

namespace brewc {
namespace {

[[noreturn]] void usage(const std::string &text) {
  throw brew::api::Error(BREW_USAGE, text);
}

Option toolFlag(const char *name, brew_option_kind kind, const char *help,
                const char *valueName = "") {
  Option flag;
  flag.name = name;
  flag.kind = kind;
  flag.help = help;
  flag.valueName = valueName;
  if (kind == BREW_OPTION_FLAG)
    flag.impliedValue = "true";
  return flag;
}

/// Returns flags of brewc that are not options of the compiler.
std::vector<Option> toolFlags() {
  return {toolFlag("help", BREW_OPTION_FLAG, "Display available options"),
          toolFlag("host-plugin", BREW_OPTION_LIST,
                   brew::tools::kHostLayersHelp, "FILE,..."),
          toolFlag("o", BREW_OPTION_TEXT, "Plan to write (none without it)",
                   "file"),
          toolFlag("upgrade", BREW_OPTION_FLAG,
                   "Print the net or solver in today's syntax (to the file of "
                   "-o) and compile nothing"),
          toolFlag("version", BREW_OPTION_FLAG,
                   "Display the version of this program")};
}

std::vector<Option> allFlags() {
  std::vector<Option> flags = brew::api::compilerOptions();
  for (Option &flag : toolFlags())
    flags.push_back(std::move(flag));
  std::sort(flags.begin(), flags.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  return flags;
}

/// Returns "-o" or "--phase".
std::string withDashes(const std::string &name) {
  return (name.size() == 1 ? "-" : "--") + name;
}

class Parser {
public:
  Parser(int argc, const char *const *argv)
      : arguments(argv + 1, argv + argc), flags(allFlags()) {}

  CommandLine run();

private:
  const Option *find(const std::string &name) const {
    for (const Option &flag : flags)
      if (flag.name == name)
        return &flag;
    return nullptr;
  }
  void parseFlag(const std::string &argument);
  void parseValue(const Option &flag, const std::optional<std::string> &value);

  std::vector<std::string> arguments;
  size_t next = 0;
  std::vector<Option> flags;
  CommandLine result;
};

void Parser::parseValue(const Option &flag,
                        const std::optional<std::string> &value) {
  if (flag.name == "o") {
    if (value->empty())
      usage("-o needs the name of a file");
    result.output = *value;
  } else if (flag.name == "host-plugin") {
    result.hostPlugins += (result.hostPlugins.empty() ? "" : ",") + *value;
  } else if (flag.name == "help" || flag.name == "version" ||
             flag.name == "upgrade") {
    if (value && *value != "true" && *value != "1")
      usage(withDashes(flag.name) + " takes no value");
    (flag.name == "help"      ? result.help
     : flag.name == "version" ? result.version
                              : result.upgrade) = true;
  } else {
    result.options[flag.name].push_back(value);
  }
}

void Parser::parseFlag(const std::string &argument) {
  const size_t dashes = argument.rfind("--", 0) == 0 ? 2 : 1;
  const size_t equals = argument.find('=');
  std::string name = argument.substr(dashes, equals - dashes);
  if (name == "h")
    name = "help";
  std::optional<std::string> value;
  if (equals != argument.npos)
    value = argument.substr(equals + 1);
  const Option *flag = find(name);
  if (!flag && dashes == 1 && name[0] == 'o' && !value) { // -oFILE
    flag = find("o");
    value = name.substr(1);
  }
  if (!flag) {
    result.llvm.push_back(argument);
    return;
  }
  const bool isRepeated =
      flag->name == "o" ? !result.output.empty() : result.isGiven(flag->name);
  if (isRepeated && flag->kind != BREW_OPTION_LIST)
    usage(withDashes(flag->name) + " is given twice");
  if (!value && !flag->impliedValue) {
    if (next == arguments.size())
      usage(withDashes(flag->name) + " needs a value");
    value = arguments[next++];
  }
  parseValue(*flag, value);
}

CommandLine Parser::run() {
  std::vector<std::string> inputs;
  bool flagsEnded = false;
  while (next < arguments.size()) {
    const std::string argument = arguments[next++];
    if (flagsEnded || argument == "-" || argument.empty() || argument[0] != '-')
      inputs.push_back(argument);
    else if (argument == "--")
      flagsEnded = true;
    else
      parseFlag(argument);
  }
  if (result.help || result.version)
    return std::move(result);
  if (inputs.empty())
    usage("no file to compile: pass a net or solver, NET.prototxt "
          "(brewc --help lists the options)");
  if (inputs.size() > 1)
    usage("brewc compiles one file; '" + inputs[0] + "' and '" + inputs[1] +
          "' are given" +
          (result.llvm.empty() ? ""
                               : ", and '" + result.llvm.front() +
                                     "' is not an option of brewc"));
  result.input = inputs.front();
  return std::move(result);
}

/// Returns "--emit=<phase>", "--report[=<form>]" or "-o <file>".
std::string usageOf(const Option &flag) {
  if (flag.kind == BREW_OPTION_FLAG)
    return withDashes(flag.name);
  const std::string value = "<" + flag.valueName + ">";
  if (flag.name.size() == 1)
    return withDashes(flag.name) + " " + value;
  return withDashes(flag.name) +
         (flag.impliedValue ? "[=" + value + "]" : "=" + value);
}

} // namespace

CommandLine parse(int argc, const char *const *argv) {
  return Parser(argc, argv).run();
}

std::string helpText() {
  constexpr size_t width = 30;
  std::string text = "OVERVIEW: Compiles Caffe nets to plans for brew-run\n\n"
                     "USAGE: brewc [options] NET_OR_SOLVER.prototxt\n\n"
                     "OPTIONS:\n";
  auto addLine = [&](std::string left, const std::string &right) {
    left.resize(std::max(left.size(), width), ' ');
    text += left + " - " + right + "\n";
  };
  for (const Option &flag : allFlags()) {
    std::string help = flag.help;
    if (!flag.defaultValue.empty())
      help += " (default: " + flag.defaultValue + ")";
    addLine("  " + usageOf(flag), help);
    for (const auto &[name, meaning] : flag.values)
      addLine("    =" + name, "  " + meaning);
  }
  return text + "\nLLVM's and MLIR's own options work too.\n";
}

brew::tools::CompletionTool completionTool() {
  brew::tools::CompletionTool tool{"brewc", {}, {}};
  for (const Option &flag : allFlags()) {
    std::vector<std::string> values;
    for (const auto &value : flag.values)
      values.push_back(value.first);
    tool.options.push_back({{withDashes(flag.name)},
                            flag.help,
                            flag.kind != BREW_OPTION_FLAG,
                            flag.impliedValue.has_value(),
                            std::move(values)});
  }
  return tool;
}

} // namespace brewc
