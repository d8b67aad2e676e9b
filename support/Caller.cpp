//===- Caller.cpp - The command that runs this program --------------------===//
#include "support/Caller.h"

#include "support/PrintableText.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace brew {
namespace {

constexpr std::string_view kCaffeFlags[] = {
    "gpu",           "iterations", "level",  "model", "phase",  "sighup-effect",
    "sigint-effect", "snapshot",   "solver", "stage", "weights"};

bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '-';
}

/// Whether the text names a flag that `caffe` lacks.
bool namesForeignFlag(std::string_view text) {
  for (size_t at = text.find("--"); at != text.npos; at = text.find("--", at)) {
    const bool startsWord = at == 0 || !isNameCharacter(text[at - 1]);
    const size_t begin = at += 2;
    while (at < text.size() && isNameCharacter(text[at]))
      ++at;
    const std::string_view name = text.substr(begin, at - begin);
    if (startsWord && !name.empty() && name[0] != '-' &&
        std::find(std::begin(kCaffeFlags), std::end(kCaffeFlags), name) ==
            std::end(kCaffeFlags))
      return true;
  }
  return false;
}

/// Removes " (...)" that names a foreign flag.
void removeParentheses(std::string &line) {
  for (size_t begin = line.find(" ("); begin != line.npos;
       begin = line.find(" (", begin)) {
    const size_t end = line.find(')', begin);
    if (end == line.npos)
      return;
    if (namesForeignFlag(std::string_view(line).substr(begin, end - begin)))
      line.erase(begin, end + 1 - begin);
    else
      begin = end;
  }
}

/// Removes clauses after "; " that name a foreign flag.
void removeClauses(std::string &line) {
  for (size_t begin = line.find("; "); begin != line.npos;
       begin = line.find("; ", begin)) {
    const size_t end = std::min(line.find("; ", begin + 2), line.size());
    if (namesForeignFlag(std::string_view(line).substr(begin, end - begin)))
      line.erase(begin, end - begin);
    else
      begin = end;
  }
}

} // namespace

std::string callerName() {
  const char *name = std::getenv(kCallerVariable);
  return name ? name : "";
}

bool isCalledByCaffe() { return callerName() == "caffe"; }

std::string messagePrefix(const std::string &program) {
  const std::string caller = callerName();
  return (caller.empty() ? program : caller) + ": ";
}

std::string messageForCaller(const std::string &message) {
  const std::string text = printableText(message);
  if (!isCalledByCaffe())
    return text;
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  removeParentheses(line);
  removeClauses(line);
  return line + text.substr(end);
}

} // namespace brew
