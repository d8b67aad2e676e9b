//===- ImagePairList.cpp - Lists of images and their labels ---------------===//
#include "formats/image/ImagePairList.h"

#include "formats/TextLines.h"
#include "support/Error.h"

#include <utility>

namespace brew::formats {

std::vector<ImagePair> readImagePairList(const std::string &path,
                                         bool withLabels) {
  constexpr char kLineFormat[] = "IMAGE LABELS";
  std::vector<ImagePair> pairs;
  for (const TextLine &line :
       readTextLines(path, kLineFormat, "list of images")) {
    std::vector<std::string> words = wordsOf(line.text);
    if (words.empty())
      continue;
    if (!withLabels)
      words.resize(2);
    if (words.size() != 2)
      throw malformedLine(path, line, kLineFormat);
    pairs.push_back({std::move(words[0]), std::move(words[1]), line.number});
  }
  if (pairs.empty())
    throw badInput(path + ": the list of images is empty");
  return pairs;
}

} // namespace brew::formats
