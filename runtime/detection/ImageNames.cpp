//===- ImageNames.cpp - Names and sizes of a test set's images ------------===//

#include "runtime/detection/ImageNames.h"

#include "formats/Error.h"
#include "formats/ImageFile.h"
#include "formats/caffe.pb.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <sstream>

namespace brew::runtime {

std::vector<NamedSize> readNameSizes(const std::string &path) {
  std::istringstream file(formats::readFileBytes(path));
  std::vector<NamedSize> result;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    NamedSize entry;
    std::string more;
    if (!(words >> entry.name))
      continue;
    if (!(words >> entry.height >> entry.width) || words >> more ||
        entry.height < 1 || entry.width < 1)
      throw badInput(path + ":" + std::to_string(number) +
                     ": not a line of NAME HEIGHT WIDTH");
    result.push_back(std::move(entry));
  }
  if (result.empty())
    throw badInput(path + ": lists no images");
  return result;
}

std::map<int, std::string> readLabelNames(const std::string &path) {
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
