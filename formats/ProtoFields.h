//===- ProtoFields.h - Fields of unknown binary messages --------*- C++ -*-===//
#pragma once

#include <string>
#include <vector>

namespace google::protobuf {
class Descriptor;
}

namespace brew::formats {

/// Number and wire type of a field.
struct ProtoField {
  int number = 0;
  int wireType = 0;

  bool operator==(const ProtoField &other) const {
    return number == other.number && wireType == other.wireType;
  }
};

/// Returns the distinct top-level fields of a binary protobuf file, in the
/// order of their first occurrence. Returns an empty vector if the file cannot
/// be read, is truncated, or is not a message.
std::vector<ProtoField> listProtoFields(const std::string &path);

/// Returns whether every field that the message type knows has its wire type.
bool fitsMessage(const std::vector<ProtoField> &fields,
                 const google::protobuf::Descriptor &type);

} // namespace brew::formats
