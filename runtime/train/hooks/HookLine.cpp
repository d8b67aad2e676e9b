//===- HookLine.cpp - Parser of hook lines --------------------------------===//

#include "runtime/train/hooks/HookLine.h"

#include "runtime/train/metrics/MetricName.h"
#include "support/NumberText.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace brew::runtime {
namespace {

bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)); }

bool isName(const std::string &text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c >= 0x80 || c == '_' || c == '-';
         });
}

std::vector<HookWord> wordsOf(const std::string &line, std::size_t begin) {
  std::vector<HookWord> words;
  for (std::size_t at = begin; at < line.size();) {
    if (isSpace(line[at])) {
      ++at;
      continue;
    }
    HookWord word{"", at, line[at] == '"'};
    if (word.quoted) {
      const std::size_t close = line.find('"', at + 1);
      if (close == line.npos)
        throw TextError{at, "the quotation mark is not closed"};
      word.text = line.substr(at + 1, close - at - 1);
      at = close + 1;
    } else if (line[at] == ',') {
      word.text = line[at++];
    } else {
      while (at < line.size() && !isSpace(line[at]) && line[at] != ',' &&
             line[at] != '"') {
        // Arguments of a name, as in gaussian(0, 0.01), are part of the word.
        const std::size_t close = line[at] == '(' && !word.text.empty()
                                      ? line.find(')', at)
                                      : line.npos;
        const std::size_t next = close == line.npos ? at + 1 : close + 1;
        word.text += line.substr(at, next - at);
        at = next;
      }
    }
    words.push_back(std::move(word));
  }
  return words;
}

bool isKeyword(const std::vector<HookWord> &words, std::size_t at,
               const char *text) {
  return at < words.size() && !words[at].quoted && words[at].text == text;
}

bool isModifier(const std::vector<HookWord> &words, std::size_t at) {
  return isKeyword(words, at, "needs") || isKeyword(words, at, "priority") ||
         (isKeyword(words, at, "in") && isKeyword(words, at + 1, "background"));
}

void parseModifiers(HookLine &hook, const std::vector<HookWord> &words,
                    std::size_t at) {
  auto position = [&] {
    return at < words.size() ? words[at].offset : hook.end;
  };
  while (at < words.size()) {
    if (isKeyword(words, at, "needs")) {
      do {
        ++at;
        if (at >= words.size() || !isName(words[at].text))
          throw TextError{position(), "expected the name of a hook"};
        hook.needs.push_back(words[at++]);
      } while (isKeyword(words, at, ","));
    } else if (isKeyword(words, at, "priority")) {
      ++at;
      const std::optional<int> number =
          at < words.size() ? parseInteger(words[at].text) : std::nullopt;
      if (!number)
        throw TextError{position(), "expected an integer"};
      hook.priority = *number;
      ++at;
    } else if (isKeyword(words, at, "in") &&
               isKeyword(words, at + 1, "background")) {
      hook.background = true;
      at += 2;
    } else {
      throw TextError{position(), "expected 'needs', 'priority', 'in "
                                  "background' or the end, found '" +
                                      words[at].text + "'"};
    }
  }
}

} // namespace

std::string withoutComment(const std::string &line) {
  bool quoted = false;
  std::size_t end = 0;
  while (end < line.size() && (line[end] != '#' || quoted))
    quoted ^= line[end++] == '"';
  while (end > 0 && isSpace(line[end - 1]))
    --end;
  return line.substr(0, end);
}

HookLine readHookLine(const std::string &text, const char *implied) {
  const std::string line = withoutComment(text);
  HookLine hook;
  hook.end = line.size();
  std::size_t begin = 0;
  // A colon before the first space ends the name.
  while (begin < line.size() && isSpace(line[begin]))
    ++begin;
  std::size_t colon = begin;
  while (colon < line.size() && !isSpace(line[colon]) && line[colon] != ':' &&
         line[colon] != '"')
    ++colon;
  std::size_t next = colon;
  while (next < line.size() && isSpace(line[next]))
    ++next;
  if (next < line.size() && line[next] == ':') {
    hook.name = line.substr(begin, colon - begin);
    if (!isName(hook.name))
      throw TextError{begin, "a hook's name has letters, digits, '_' and "
                             "'-' only"};
    begin = next + 1;
  }

  const std::vector<HookWord> words = wordsOf(line, begin);
  std::size_t at = 0;
  hook.schedule = Schedule::parse(words, at, hook.end);
  if (isKeyword(words, at, "if")) {
    std::size_t end = at + 1;
    while (end < words.size() && !isKeyword(words, end, "do") &&
           !(implied && isModifier(words, end)))
      ++end;
    const std::size_t stop = end < words.size() ? words[end].offset : hook.end;
    hook.criterionOffset =
        at + 1 < words.size() ? words[at + 1].offset : hook.end;
    hook.criterion = line.substr(hook.criterionOffset,
                                 stop - std::min(stop, hook.criterionOffset));
    while (!hook.criterion.empty() && isSpace(hook.criterion.back()))
      hook.criterion.pop_back();
    if (hook.criterion.empty())
      throw TextError{stop, "expected a condition after 'if'"};
    at = end;
  }
  if (implied && (at == words.size() || isModifier(words, at))) {
    hook.action = {{implied, hook.end, false}};
    parseModifiers(hook, words, at);
    return hook;
  }
  if (!isKeyword(words, at, "do"))
    throw TextError{at < words.size() ? words[at].offset : hook.end,
                    at < words.size() ? "expected 'if' or 'do', found '" +
                                            words[at].text + "'"
                                      : "expected 'do' and an action"};
  for (++at; at < words.size() && !isModifier(words, at); ++at)
    hook.action.push_back(words[at]);
  if (hook.action.empty())
    throw TextError{at < words.size() ? words[at].offset : hook.end,
                    "expected an action"};
  parseModifiers(hook, words, at);
  return hook;
}

} // namespace brew::runtime
