//===- ValueParser.h - Parser of scalar field values ------------*- C++ -*-===//
//
// Parses a value of a scalar field into a message. Accepts the same values as
// protobuf's TextFormat; error messages name the expected kind of value.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/TokenStream.h"

#include <google/protobuf/descriptor.h>

namespace brew::prototxt {

/// Parses values from a token stream.
class ValueParser {
public:
  explicit ValueParser(TokenStream &tokens) : tokens(tokens) {}

  /// Parses the value at the current token and sets (or, for a repeated field,
  /// adds) it. A value of another type, out of range, not in the enum or not
  /// UTF-8 is an error at the value, which ends the parse. Names of files may
  /// contain any bytes.
  void parse(google::protobuf::Message &message,
             const google::protobuf::FieldDescriptor &field);

private:
  std::string takeString(const google::protobuf::FieldDescriptor &field);
  void requireUtf8(const google::protobuf::FieldDescriptor &field,
                   const std::string &value, TextLocation start);
  bool takeBool(const google::protobuf::FieldDescriptor &field);
  const google::protobuf::EnumValueDescriptor *
  takeEnum(const google::protobuf::FieldDescriptor &field);
  int64_t takeSigned(const google::protobuf::FieldDescriptor &field,
                     uint64_t limit);
  uint64_t takeUnsigned(const google::protobuf::FieldDescriptor &field,
                        uint64_t limit, TextLocation start, bool isNegative);
  double takeDouble(const google::protobuf::FieldDescriptor &field);

  [[noreturn]] void failType(const google::protobuf::FieldDescriptor &field,
                             const std::string &expected);
  [[noreturn]] void failEnum(const google::protobuf::FieldDescriptor &field,
                             TextLocation start, const std::string &found);

  TokenStream &tokens;
};

} // namespace brew::prototxt
