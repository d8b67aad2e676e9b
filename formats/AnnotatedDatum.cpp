//===- AnnotatedDatum.cpp - Images with their objects ---------------------===//
#include "formats/AnnotatedDatum.h"

#include "formats/Datum.h"
#include "formats/caffe.pb.h"
#include "support/Error.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <climits>

namespace brew::formats {

static Error notAnnotated(const std::string &where) {
  return badInput(where + ": damaged record: not an AnnotatedDatum");
}

/// Converts planes to interleaved pixels.
static void setPixels(const ImageRecord &planes, Image &image) {
  image.channels = planes.channels;
  image.height = planes.height;
  image.width = planes.width;
  image.pixels.resize(planes.bytes.size());
  const auto channels = static_cast<size_t>(planes.channels);
  const size_t plane = planes.bytes.size() / channels;
  for (size_t c = 0; c < channels; ++c)
    for (size_t i = 0; i < plane; ++i)
      image.pixels[i * channels + c] = planes.bytes[c * plane + i];
}

void decodeAnnotatedDatum(std::string_view bytes, ImageColor color,
                          const std::string &where, AnnotatedRecord &record) {
  caffe::AnnotatedDatum annotated;
  if (bytes.size() > INT_MAX ||
      !annotated.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !annotated.has_datum())
    throw notAnnotated(where);
  const caffe::Datum &datum = annotated.datum();
  if (datum.encoded() && !datum.data().empty()) {
    decodeImage(datum.data().data(), datum.data().size(), color, where,
                record.image);
  } else {
    ImageRecord planes;
    decodeDatum(datum.SerializeAsString(), color, where, planes);
    if (planes.bytes.empty())
      throw badInput(where + ": an image of floats; AnnotatedData takes bytes");
    setPixels(planes, record.image);
  }
  record.encoded = datum.encoded();
  record.hasLabel = datum.has_label();
  record.label = datum.label();
  record.hasType = annotated.has_type();
  record.objects.clear();
  for (const caffe::AnnotationGroup &group : annotated.annotation_group())
    for (const caffe::Annotation &annotation : group.annotation()) {
      const caffe::NormalizedBBox &box = annotation.bbox();
      record.objects.push_back({group.group_label(), annotation.instance_id(),
                                box.xmin(), box.ymin(), box.xmax(), box.ymax(),
                                box.difficult()});
    }
}

bool isAnnotatedDatum(std::string_view bytes) {
  using google::protobuf::internal::WireFormatLite;
  return !bytes.empty() &&
         static_cast<uint8_t>(bytes[0]) ==
             WireFormatLite::MakeTag(caffe::AnnotatedDatum::kDatumFieldNumber,
                                     WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

size_t countObjects(std::string_view bytes, const std::string &where) {
  using google::protobuf::internal::WireFormatLite;
  using google::protobuf::io::CodedInputStream;
  if (bytes.size() > INT_MAX)
    throw notAnnotated(where);
  CodedInputStream in(reinterpret_cast<const uint8_t *>(bytes.data()),
                      static_cast<int>(bytes.size()));
  size_t count = 0;
  const int groupField = caffe::AnnotatedDatum::kAnnotationGroupFieldNumber;
  while (const uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagFieldNumber(tag) != groupField) {
      if (!WireFormatLite::SkipField(&in, tag))
        throw notAnnotated(where);
      continue;
    }
    std::string text;
    uint32_t size = 0;
    caffe::AnnotationGroup group;
    if (WireFormatLite::GetTagWireType(tag) !=
            WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
        !in.ReadVarint32(&size) ||
        !in.ReadString(&text, static_cast<int>(size)) ||
        !group.ParseFromString(text))
      throw notAnnotated(where);
    count += static_cast<size_t>(group.annotation_size());
  }
  if (!in.ConsumedEntireMessage())
    throw notAnnotated(where);
  return count;
}

} // namespace brew::formats
