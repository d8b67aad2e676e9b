//===- CaffeToolNames.cpp - Names of Caffe's tools ------------------------===//
#include "tools/brew-data/CaffeToolNames.h"

#include <algorithm>
#include <filesystem>

namespace brew::data {
namespace {

constexpr const char *kTools[] = {"convert_imageset", "compute_image_mean",
                                  "extract_features"};

bool isTool(const std::string &name) {
  return std::find(std::begin(kTools), std::end(kTools), name) !=
         std::end(kTools);
}

/// Converts a gflags argument to the syntax of CLI11.
std::string toLongFlag(std::string word) {
  if (word.size() < 2 || word[0] != '-' || word == "--")
    return word;
  if (word[1] != '-' && word.size() > 2)
    word.insert(0, "-");
  for (const char *flag : {"gray", "shuffle", "check_size", "encoded"})
    if (word == std::string("--no") + flag)
      return std::string("--") + flag + "=false";
  return word;
}

} // namespace

std::vector<std::string>
normalizeCommandLine(const std::string &program,
                     std::vector<std::string> arguments) {
  const std::string name = std::filesystem::path(program).filename();
  if (isTool(name))
    arguments.insert(arguments.begin(), name);
  if (!arguments.empty() && isTool(arguments[0]))
    std::transform(arguments.begin() + 1, arguments.end(),
                   arguments.begin() + 1, toLongFlag);
  return arguments;
}

} // namespace brew::data
