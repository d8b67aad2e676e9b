//===- Suggest.h - "did you mean" suggestions -------------------*- C++ -*-===//
//
// Finds the known name nearest to a misspelt one, for diagnostics.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace brew {

/// Returns the number of edits (insert, delete, replace, swap of neighbours)
/// that turn `a` into `b`. If only the case of letters differs, the distance is
/// 1, so that `relu` finds `ReLU` first.
inline size_t editDistance(std::string_view a, std::string_view b) {
  auto toLower = [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  std::vector<size_t> beforePrevious(b.size() + 1), previous(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    previous[j] = j;
  bool caseDiffers = false;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      bool sameLetter = toLower(a[i - 1]) == toLower(b[j - 1]);
      caseDiffers |= sameLetter && a[i - 1] != b[j - 1] && i == j;
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1,
                         previous[j - 1] + (sameLetter ? 0 : 1)});
      if (i > 1 && j > 1 && toLower(a[i - 1]) == toLower(b[j - 2]) &&
          toLower(a[i - 2]) == toLower(b[j - 1]))
        row[j] = std::min(row[j], beforePrevious[j - 2] + 1);
    }
    std::swap(beforePrevious, previous);
    std::swap(previous, row);
  }
  size_t distance = previous[b.size()];
  return distance == 0 && caseDiffers ? 1 : distance;
}

/// Returns the number of edits that a misspelling of `name` may have: a third
/// of its letters, at least one. The dashes of an option are no letters.
inline size_t maximalEdits(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  return std::max<size_t>(1, (name.size() + 2) / 3);
}

/// Returns whether two names of words that '_' separates are similar word by
/// word. If they have different numbers of words, whether at most two letters
/// differ without the separators.
inline bool hasNearWords(std::string_view a, std::string_view b) {
  auto wordsOf = [](std::string_view name) {
    std::vector<std::string> words(1);
    for (char c : name)
      if (c == '_')
        words.emplace_back();
      else
        words.back() += c;
    return words;
  };
  const std::vector<std::string> left = wordsOf(a), right = wordsOf(b);
  if (left.size() == right.size()) {
    for (size_t i = 0; i < left.size(); ++i)
      if (editDistance(left[i], right[i]) > maximalEdits(left[i]))
        return false;
    return true;
  }
  auto joined = [](const std::vector<std::string> &words) {
    std::string text;
    for (const std::string &word : words)
      text += word;
    return text;
  };
  constexpr size_t kMaximalEdits = 2;
  return editDistance(joined(left), joined(right)) <= kMaximalEdits;
}

/// Returns whether a type or function called `name` is probably a misspelling
/// of `known`, not the name of something related: only the case differs, or
/// one letter of a long name, or two of a very long one. Names of related
/// things differ in their first letters (ELU, SELU), digits or ends.
inline bool isLikelyMisspelling(std::string_view name, std::string_view known) {
  constexpr size_t kLong = 6, kVeryLong = 10;
  if (name.empty() || known.empty())
    return false;
  auto isSameLetter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  if (std::equal(name.begin(), name.end(), known.begin(), known.end(),
                 isSameLetter))
    return true;
  auto digitsOf = [](std::string_view text) {
    std::string digits;
    for (char c : text)
      if (std::isdigit(static_cast<unsigned char>(c)))
        digits += c;
    return digits;
  };
  if (name.size() < kLong || !isSameLetter(name[0], known[0]) ||
      digitsOf(name) != digitsOf(known))
    return false;
  return editDistance(name, known) <= (name.size() < kVeryLong ? 1 : 2);
}

/// Returns the candidate nearest to `name`, or "" if no candidate is near: at
/// most a third of the letters (at least one) may differ. The first of equally
/// near candidates wins. `Candidates` is any range of strings.
template <typename Candidates>
std::string nearestName(std::string_view name, const Candidates &candidates) {
  std::string best;
  size_t bestDistance = maximalEdits(name) + 1;
  for (const auto &candidate : candidates) {
    std::string_view text(candidate);
    size_t lengthDifference =
        std::max(text.size(), name.size()) - std::min(text.size(), name.size());
    if (lengthDifference >= bestDistance || text.empty())
      continue;
    size_t distance = editDistance(name, text);
    // A candidate that shares no letter is not similar, however short.
    if (distance < bestDistance &&
        distance < std::max(text.size(), name.size())) {
      bestDistance = distance;
      best = std::string(text);
    }
  }
  return best;
}

/// Returns "; did you mean 'X'?" or "".
template <typename Candidates>
std::string didYouMean(std::string_view name, const Candidates &candidates) {
  std::string best = nearestName(name, candidates);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

} // namespace brew
