//===- SourceMap.cpp - Locations of protobuf fields in the text -----------===//

#include "frontends/prototxt/text/SourceMap.h"

#include "frontends/prototxt/text/StringLocations.h"

#include <google/protobuf/descriptor.h>

namespace brew::prototxt {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

std::vector<FieldLocation> &SourceMap::Node::locations(int number) {
  for (auto &entry : fields)
    if (entry.first == number)
      return entry.second;
  fields.push_back({number, {}});
  return fields.back().second;
}

const std::vector<FieldLocation> *SourceMap::Node::find(int number) const {
  for (const auto &entry : fields)
    if (entry.first == number)
      return &entry.second;
  return nullptr;
}

SourceLocation SourceMap::toSourceLocation(TextLocation location) const {
  if (location.line <= 0)
    return {fileName, 1, 1};
  return {fileName, location.line, location.column};
}

SourceLocation SourceMap::where(const Message &message) const {
  auto found = nodes.find(&message);
  return toSourceLocation(found == nodes.end() ? TextLocation()
                                               : found->second.start);
}

const FieldLocation *SourceMap::find(const Message &message,
                                     const std::string &field,
                                     int index) const {
  auto found = nodes.find(&message);
  const FieldDescriptor *descriptor =
      message.GetDescriptor()->FindFieldByName(field);
  if (found == nodes.end() || !descriptor || index < 0)
    return nullptr;
  const auto *locations = found->second.find(descriptor->number());
  if (!locations || static_cast<size_t>(index) >= locations->size())
    return nullptr;
  return &(*locations)[index];
}

SourceLocation SourceMap::where(const Message &message,
                                const std::string &field, int index) const {
  const FieldLocation *location = find(message, field, index);
  return location ? toSourceLocation(location->name) : where(message);
}

SourceLocation SourceMap::whereValue(const Message &message,
                                     const std::string &field,
                                     int index) const {
  const FieldLocation *location = find(message, field, index);
  return location ? toSourceLocation(location->value) : where(message);
}

SourceLocation SourceMap::whereInString(const Message &message,
                                        const std::string &field,
                                        size_t offset) const {
  const FieldLocation *found = find(message, field);
  return found ? toSourceLocation(locationInString(text, found->value, offset))
               : where(message);
}

void SourceMap::setStart(const Message &message, TextLocation start) {
  nodes[&message].start = start;
}

void SourceMap::addField(const Message &message, int number,
                         FieldLocation location) {
  nodes[&message].locations(number).push_back(location);
}

void SourceMap::addUnknown(const Message &message, const std::string &name) {
  nodes[&message].unknown.push_back(name);
}

const std::vector<std::string> &
SourceMap::unknownFields(const Message &message) const {
  static const std::vector<std::string> none;
  auto found = nodes.find(&message);
  return found == nodes.end() ? none : found->second.unknown;
}

void SourceMap::copy(const Message &from, const Message &to) {
  auto found = nodes.find(&from);
  if (found != nodes.end()) {
    // The reference stays valid if the insertion rehashes; `found` does not.
    const Node &node = found->second;
    nodes[&to] = node;
  }
  const Reflection *reflection = from.GetReflection();
  std::vector<const FieldDescriptor *> fields;
  reflection->ListFields(from, &fields);
  for (const FieldDescriptor *field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE)
      continue;
    if (!field->is_repeated()) {
      copy(reflection->GetMessage(from, field),
           reflection->GetMessage(to, field));
      continue;
    }
    for (int i = 0; i < reflection->FieldSize(from, field); ++i)
      copy(reflection->GetRepeatedMessage(from, field, i),
           reflection->GetRepeatedMessage(to, field, i));
  }
}

void SourceMap::copyField(const Message &from, const std::string &fromField,
                          int fromIndex, const Message &to,
                          const std::string &toField) {
  const FieldLocation *occurrence = find(from, fromField, fromIndex);
  FieldLocation location;
  if (occurrence) {
    location = *occurrence;
  } else if (auto found = nodes.find(&from); found != nodes.end()) {
    location = {found->second.start, found->second.start};
  }
  addField(to, to.GetDescriptor()->FindFieldByName(toField)->number(),
           location);
}

} // namespace brew::prototxt
