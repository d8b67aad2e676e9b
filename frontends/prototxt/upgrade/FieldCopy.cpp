//===- FieldCopy.cpp - Copies of fields with their locations --------------===//

#include "frontends/prototxt/upgrade/FieldCopy.h"

#include "support/Error.h"

#include <google/protobuf/descriptor.h>

namespace brew::prototxt {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace {

/// Returns a field of a Caffe message by name. The names come from tables of
/// this library, so a missing field is a bug.
const FieldDescriptor *fieldNamed(const Message &message,
                                  const std::string &name) {
  const FieldDescriptor *field = message.GetDescriptor()->FindFieldByName(name);
  if (!field)
    throw Error(ExitStatus::Bug, "no field '" + name + "' in " +
                                     message.GetDescriptor()->full_name());
  return field;
}

bool isInt32(const FieldDescriptor &field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32;
}

/// Returns the bits of value `index` of a 32-bit integer field.
uint32_t intBits(const Message &message, const FieldDescriptor *field,
                 int index) {
  const Reflection *r = message.GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32)
    return field->is_repeated() ? r->GetRepeatedUInt32(message, field, index)
                                : r->GetUInt32(message, field);
  return static_cast<uint32_t>(field->is_repeated()
                                   ? r->GetRepeatedInt32(message, field, index)
                                   : r->GetInt32(message, field));
}

void addOrSetInt(Message &message, const FieldDescriptor *field,
                 uint32_t bits) {
  const Reflection *r = message.GetReflection();
  const bool isRepeated = field->is_repeated();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT32)
    isRepeated ? r->AddUInt32(&message, field, bits)
               : r->SetUInt32(&message, field, bits);
  else
    isRepeated ? r->AddInt32(&message, field, static_cast<int32_t>(bits))
               : r->SetInt32(&message, field, static_cast<int32_t>(bits));
}

void copyValue(SourceMap &locations, const Message &from,
               const FieldDescriptor *source, int index, Message &to,
               const FieldDescriptor *target) {
  const Reflection *r = from.GetReflection();
  const Reflection *w = to.GetReflection();
  const bool isSourceRepeated = source->is_repeated(),
             isTargetRepeated = target->is_repeated();
  if (isInt32(*source) && isInt32(*target))
    return addOrSetInt(to, target, intBits(from, source, index));
  if (source->cpp_type() != target->cpp_type())
    throw Error(ExitStatus::Bug, "fields '" + source->full_name() + "' and '" +
                                     target->full_name() +
                                     "' have different types");
  switch (source->cpp_type()) {
  case FieldDescriptor::CPPTYPE_FLOAT: {
    float value = isSourceRepeated ? r->GetRepeatedFloat(from, source, index)
                                   : r->GetFloat(from, source);
    isTargetRepeated ? w->AddFloat(&to, target, value)
                     : w->SetFloat(&to, target, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_BOOL: {
    bool value = isSourceRepeated ? r->GetRepeatedBool(from, source, index)
                                  : r->GetBool(from, source);
    isTargetRepeated ? w->AddBool(&to, target, value)
                     : w->SetBool(&to, target, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_STRING: {
    std::string value = isSourceRepeated
                            ? r->GetRepeatedString(from, source, index)
                            : r->GetString(from, source);
    isTargetRepeated ? w->AddString(&to, target, value)
                     : w->SetString(&to, target, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_ENUM: {
    const auto *value = isSourceRepeated
                            ? r->GetRepeatedEnum(from, source, index)
                            : r->GetEnum(from, source);
    const auto *match = target->enum_type()->FindValueByName(value->name());
    if (!match)
      throw Error(ExitStatus::Bug, "no value '" + value->name() + "' in " +
                                       target->enum_type()->full_name());
    isTargetRepeated ? w->AddEnum(&to, target, match)
                     : w->SetEnum(&to, target, match);
    return;
  }
  case FieldDescriptor::CPPTYPE_MESSAGE: {
    const Message &value = isSourceRepeated
                               ? r->GetRepeatedMessage(from, source, index)
                               : r->GetMessage(from, source);
    Message *copy = isTargetRepeated ? w->AddMessage(&to, target)
                                     : w->MutableMessage(&to, target);
    copy->CopyFrom(value);
    locations.copy(value, *copy);
    return;
  }
  default:
    throw Error(ExitStatus::Bug, "field '" + source->full_name() +
                                     "' is of a kind no old form has");
  }
}

} // namespace

bool hasField(const Message &message, const std::string &name) {
  const FieldDescriptor *field = fieldNamed(message, name);
  const Reflection *reflection = message.GetReflection();
  return field->is_repeated() ? reflection->FieldSize(message, field) > 0
                              : reflection->HasField(message, field);
}

void copyField(SourceMap &locations, const Message &from,
               const std::string &fromField, Message &to,
               const std::string &toField) {
  if (!hasField(from, fromField))
    return;
  const FieldDescriptor *source = fieldNamed(from, fromField);
  const FieldDescriptor *target = fieldNamed(to, toField);
  const int count =
      source->is_repeated() ? from.GetReflection()->FieldSize(from, source) : 1;
  for (int i = 0; i < count; ++i) {
    copyValue(locations, from, source, i, to, target);
    locations.copyField(from, fromField, i, to, toField);
  }
}

Message &getOrCreateBlock(SourceMap &locations, Message &message,
                          const std::string &block, const Message &cause,
                          const std::string &causeField) {
  const bool isNew = !hasField(message, block);
  Message *child = message.GetReflection()->MutableMessage(
      &message, fieldNamed(message, block));
  if (isNew) {
    locations.copyField(cause, causeField, 0, message, block);
    SourceLocation start = locations.where(cause, causeField);
    locations.setStart(*child, {start.line, start.column});
  }
  return *child;
}

} // namespace brew::prototxt
