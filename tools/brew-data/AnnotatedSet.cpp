//===- AnnotatedSet.cpp - Conversion of annotated images ------------------===//
#include "tools/brew-data/AnnotatedSet.h"

#include "formats/TextLines.h"
#include "formats/caffe.pb.h"
#include "formats/image/ImageFile.h"
#include "support/Error.h"
#include "support/NumberText.h"
#include "tools/brew-data/Records.h"

#include <map>
#include <optional>

namespace brew::data {

namespace {

struct Entry {
  std::string image, annotations;
  size_t line;
};

std::vector<Entry> readList(const std::string &path) {
  static const char lineFormat[] = "IMAGE ANNOTATIONS";
  std::vector<Entry> entries;
  for (const formats::TextLine &line :
       formats::readTextLines(path, lineFormat)) {
    const std::vector<std::string> words = formats::wordsOf(line.text);
    if (words.empty())
      continue;
    if (words.size() != 2)
      throw malformedLine(path, line, lineFormat);
    entries.push_back({words[0], words[1], line.number});
  }
  if (entries.empty())
    throw badInput(path + ": lists no images");
  return entries;
}

/// Reads the objects into one group per label, in the order of labels.
void readObjects(const std::string &path, int height, int width,
                 caffe::AnnotatedDatum &record) {
  static const char lineFormat[] = "LABEL LEFT TOP RIGHT BOTTOM [DIFFICULT]";
  std::map<int, caffe::AnnotationGroup> groups;
  for (const formats::TextLine &line :
       formats::readTextLines(path, lineFormat)) {
    const std::vector<std::string> words = formats::wordsOf(line.text);
    if (words.empty())
      continue;
    if (words.size() < 5 || words.size() > 6)
      throw malformedLine(path, line, lineFormat);
    const std::optional<int> label = parseInteger(words[0]);
    const std::optional<int> difficult =
        words.size() == 6 ? parseInteger(words[5]) : 0;
    float sides[4];
    bool isValid =
        label && *label >= 0 && difficult && *difficult >= 0 && *difficult <= 1;
    for (int i = 0; i < 4; ++i) {
      const std::optional<float> side = parseFloat(words[i + 1]);
      isValid &= side.has_value();
      sides[i] = side.value_or(0);
    }
    if (!isValid)
      throw malformedLine(path, line, lineFormat);
    const auto [left, top, right, bottom] = sides;
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    if (!(left >= 0 && top >= 0 && left <= right && top <= bottom &&
          right <= w && bottom <= h))
      throw badInput(formats::lineLocation(path, line.number) +
                     ": the box does not lie in the image of " +
                     std::to_string(width) + " x " + std::to_string(height));
    caffe::AnnotationGroup &group = groups[*label];
    group.set_group_label(*label);
    caffe::Annotation &annotation = *group.add_annotation();
    annotation.set_instance_id(group.annotation_size() - 1);
    caffe::NormalizedBBox &box = *annotation.mutable_bbox();
    box.set_xmin(left / w);
    box.set_ymin(top / h);
    box.set_xmax(right / w);
    box.set_ymax(bottom / h);
    box.set_difficult(*difficult == 1);
  }
  for (const auto &[label, group] : groups)
    *record.add_annotation_group() = group;
}

} // namespace

void convertAnnotatedSet(const AnnotatedSetOptions &options) {
  const std::vector<Entry> entries = readList(options.list);
  auto writer = formats::DbWriter::create(
      options.output.path, options.output.backend, options.output.overwrite);
  Progress progress("images", entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry &entry = entries[i];
    const std::string location =
                          formats::lineLocation(options.list, entry.line),
                      where = location + ": ";
    const std::string bytes =
        formats::readFileBytes(options.root + entry.image, location);
    formats::Image image;
    formats::decodeImage(bytes.data(), bytes.size(),
                         formats::ImageColor::Native, where + entry.image,
                         image);
    caffe::AnnotatedDatum record;
    record.set_type(caffe::AnnotatedDatum::BBOX);
    caffe::Datum &datum = *record.mutable_datum();
    datum.set_channels(image.channels);
    datum.set_height(image.height);
    datum.set_width(image.width);
    datum.set_label(-1);
    datum.set_encoded(true);
    datum.set_data(bytes);
    readObjects(options.root + entry.annotations, image.height, image.width,
                record);
    writer->put(recordKey(i, 8) + "_" + entry.image,
                record.SerializeAsString());
    progress.step();
  }
  writer->finish();
  reportWritten(options.output, entries.size());
}

} // namespace brew::data
