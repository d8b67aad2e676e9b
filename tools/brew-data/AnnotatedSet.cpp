//===- AnnotatedSet.cpp - Images with their objects to a database ---------===//
#include "tools/brew-data/AnnotatedSet.h"

#include "formats/Error.h"
#include "formats/ImageFile.h"
#include "formats/caffe.pb.h"
#include "tools/brew-data/Records.h"

#include <map>
#include <sstream>

namespace brew::data {

namespace {

struct Entry {
  std::string image, annotations;
  size_t line;
};

std::vector<Entry> readList(const std::string &path) {
  std::istringstream file(formats::readFileBytes(path));
  std::vector<Entry> entries;
  std::string text;
  for (size_t line = 1; std::getline(file, text); ++line) {
    std::istringstream words(text);
    Entry entry;
    std::string more;
    entry.line = line;
    if (!(words >> entry.image))
      continue;
    if (!(words >> entry.annotations) || words >> more)
      throw badInput(path + ":" + std::to_string(line) +
                     ": not a line of IMAGE ANNOTATIONS");
    entries.push_back(std::move(entry));
  }
  if (entries.empty())
    throw badInput(path + ": lists no images");
  return entries;
}

/// Groups of a label, in the order of labels.
void readObjects(const std::string &path, int height, int width,
                 caffe::AnnotatedDatum &record) {
  std::istringstream file(formats::readFileBytes(path));
  std::map<int, caffe::AnnotationGroup> groups;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    const std::string where = path + ":" + std::to_string(line);
    std::istringstream words(text);
    std::string first, more;
    if (!(words >> first))
      continue;
    std::istringstream values(text);
    int label = 0, difficult = 0;
    float left = 0, top = 0, right = 0, bottom = 0;
    const bool fits =
        static_cast<bool>(values >> label >> left >> top >> right >> bottom);
    if (fits && !(values >> difficult)) {
      values.clear();
      difficult = 0;
    }
    if (!fits || values >> more || label < 0 || difficult < 0 || difficult > 1)
      throw badInput(where + ": not a line of LABEL LEFT TOP RIGHT BOTTOM "
                             "[DIFFICULT]");
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    if (!(left >= 0 && top >= 0 && left <= right && top <= bottom &&
          right <= w && bottom <= h))
      throw badInput(where + ": the box does not lie in the image of " +
                     std::to_string(width) + " x " + std::to_string(height));
    caffe::AnnotationGroup &group = groups[label];
    group.set_group_label(label);
    caffe::Annotation &annotation = *group.add_annotation();
    annotation.set_instance_id(group.annotation_size() - 1);
    caffe::NormalizedBBox &box = *annotation.mutable_bbox();
    box.set_xmin(left / w);
    box.set_ymin(top / h);
    box.set_xmax(right / w);
    box.set_ymax(bottom / h);
    box.set_difficult(difficult == 1);
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
    const std::string where =
        options.list + ":" + std::to_string(entry.line) + ": ";
    const std::string bytes =
        formats::readFileBytes(options.root + entry.image, where);
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
