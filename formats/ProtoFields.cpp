//===- ProtoFields.cpp - Fields of unknown binary messages ----------------===//
#include "formats/ProtoFields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format.h>

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>

namespace brew::formats {
namespace pb = google::protobuf;
using pb::internal::WireFormatLite;

std::vector<ProtoField> listProtoFields(const std::string &path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return {};
  struct stat info;
  const bool isFile = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  pb::io::FileInputStream raw(fd);
  raw.SetCloseOnDelete(true);
  if (!isFile)
    return {};
  pb::io::CodedInputStream coded(&raw);
  std::vector<ProtoField> fields;
  while (const uint32_t tag = coded.ReadTag()) {
    const ProtoField field{WireFormatLite::GetTagFieldNumber(tag),
                           WireFormatLite::GetTagWireType(tag)};
    if (field.number == 0 || !WireFormatLite::SkipField(&coded, tag))
      return {};
    if (std::find(fields.begin(), fields.end(), field) == fields.end())
      fields.push_back(field);
  }
  // A stream skips bytes beyond the end of a file without an error.
  const bool isComplete =
      coded.ConsumedEntireMessage() && coded.CurrentPosition() == info.st_size;
  return isComplete ? fields : std::vector<ProtoField>();
}

bool fitsMessage(const std::vector<ProtoField> &fields,
                 const pb::Descriptor &type) {
  return std::all_of(fields.begin(), fields.end(), [&](const ProtoField &f) {
    const pb::FieldDescriptor *field = type.FindFieldByNumber(f.number);
    if (!field)
      return true;
    const bool isPacked =
        field->is_packable() &&
        f.wireType == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    return isPacked ||
           f.wireType ==
               WireFormatLite::WireTypeForFieldType(
                   static_cast<WireFormatLite::FieldType>(field->type()));
  });
}

} // namespace brew::formats
