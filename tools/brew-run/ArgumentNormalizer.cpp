//===- ArgumentNormalizer.cpp - Conversion of gflags syntax ---------------===//

#include "ArgumentNormalizer.h"

#include <algorithm>
#include <cctype>

namespace brew::run {
namespace {

bool isCommand(const std::string &argument) {
  for (const char *name :
       {"train", "test", "eval", "infer", "features", "embed", "time", "tune",
        "inspect", "monitor", "device-query", "device_query"})
    if (argument == name)
      return true;
  return false;
}

/// Moves the command before the flags, because gflags allows flags first.
std::vector<std::string> moveCommandFirst(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0].empty() || arguments[0][0] != '-')
    return arguments;
  const auto command =
      std::find_if(arguments.begin(), arguments.end(), isCommand);
  if (command != arguments.end())
    std::rotate(arguments.begin(), command, command + 1);
  return arguments;
}

} // namespace

std::vector<std::string>
normalizeArguments(const std::vector<std::string> &arguments) {
  std::vector<std::string> result;
  bool optionsEnded = false;
  bool commandSeen = false;
  for (std::string argument : moveCommandFirst(arguments)) {
    if (optionsEnded || argument.empty() || argument[0] != '-') {
      if (!commandSeen && argument == "device_query")
        argument = "device-query";
      commandSeen = true;
      result.push_back(argument);
      continue;
    }
    if (argument == "--") {
      optionsEnded = true;
      result.push_back(argument);
      continue;
    }
    const std::size_t nameBegin = argument.find_first_not_of('-');
    const bool isName =
        nameBegin != argument.npos && nameBegin <= 2 &&
        std::isalpha(static_cast<unsigned char>(argument[nameBegin]));
    const std::size_t nameEnd = std::min(argument.find('='), argument.size());
    if (!isName || nameEnd - nameBegin < 2) {
      result.push_back(argument);
      continue;
    }
    std::string name = argument.substr(nameBegin, nameEnd - nameBegin);
    std::replace(name.begin(), name.end(), '_', '-');
    result.push_back("--" + name + argument.substr(nameEnd));
  }
  return result;
}

} // namespace brew::run
