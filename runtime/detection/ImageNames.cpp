//===- ImageNames.cpp - Names and sizes of a test set's images ------------===//

#include "runtime/detection/ImageNames.h"

#include "formats/TextLines.h"
#include "formats/caffe.pb.h"
#include "formats/image/ImageFile.h"
#include "support/Error.h"
#include "support/NumberText.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <optional>

namespace brew::runtime {

std::vector<NamedImageSize> readNameSizeFile(const std::string &path) {
  static const char form[] = "NAME HEIGHT WIDTH";
  std::vector<NamedImageSize> result;
  for (const formats::TextLine &line : formats::readTextLines(path, form)) {
    const std::vector<std::string> words = formats::wordsOf(line.text);
    if (words.empty())
      continue;
    std::optional<int> height, width;
    if (words.size() == 3) {
      height = parseInteger(words[1]);
      width = parseInteger(words[2]);
    }
    if (!height || !width || *height < 1 || *width < 1)
      throw malformedLine(path, line, form);
    result.push_back({words[0], *height, *width});
  }
  if (result.empty())
    throw badInput(path + ": lists no images");
  return result;
}

std::map<int, std::string> readLabelMap(const std::string &path) {
  caffe::LabelMap labels;
  google::protobuf::TextFormat::Parser parser;
  struct Collector : google::protobuf::io::ErrorCollector {
    std::string first;
    void AddError(int line, int, const std::string &text) override {
      if (first.empty())
        first = std::to_string(line + 1) + ": " + text;
    }
  } errors;
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(formats::readFileBytes(path), &labels))
    throw badInput(path + ":" + errors.first +
                   " (a label map is a list of "
                   "item { name: ... label: ... })");
  std::map<int, std::string> names;
  for (const caffe::LabelMapItem &item : labels.item())
    if (!names.emplace(item.label(), item.name()).second)
      throw badInput(path + ": names label " + std::to_string(item.label()) +
                     " twice");
  return names;
}

} // namespace brew::runtime
