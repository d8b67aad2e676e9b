//===- SourceMap.cpp - Where each protobuf field stands in the text -------===//

#include "frontends/prototxt/SourceMap.h"

#include "frontends/prototxt/StringPlaces.h"

#include <google/protobuf/descriptor.h>

namespace brew::prototxt {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

std::vector<FieldPlace> &SourceMap::Node::places(int number) {
  for (auto &entry : fields)
    if (entry.first == number)
      return entry.second;
  fields.push_back({number, {}});
  return fields.back().second;
}

const std::vector<FieldPlace> *SourceMap::Node::find(int number) const {
  for (const auto &entry : fields)
    if (entry.first == number)
      return &entry.second;
  return nullptr;
}

SourceLocation SourceMap::at(TextPlace place) const {
  if (place.line <= 0)
    return {fileName, 1, 1};
  return {fileName, place.line, place.column};
}

SourceLocation SourceMap::where(const Message &message) const {
  auto found = nodes.find(&message);
  return at(found == nodes.end() ? TextPlace() : found->second.start);
}

const FieldPlace *SourceMap::find(const Message &message,
                                  const std::string &field, int index) const {
  auto found = nodes.find(&message);
  const FieldDescriptor *descriptor =
      message.GetDescriptor()->FindFieldByName(field);
  if (found == nodes.end() || !descriptor || index < 0)
    return nullptr;
  const auto *places = found->second.find(descriptor->number());
  if (!places || static_cast<size_t>(index) >= places->size())
    return nullptr;
  return &(*places)[index];
}

SourceLocation SourceMap::where(const Message &message,
                                const std::string &field, int index) const {
  const FieldPlace *place = find(message, field, index);
  return place ? at(place->name) : where(message);
}

SourceLocation SourceMap::whereValue(const Message &message,
                                     const std::string &field,
                                     int index) const {
  const FieldPlace *place = find(message, field, index);
  return place ? at(place->value) : where(message);
}

SourceLocation SourceMap::whereInString(const Message &message,
                                        const std::string &field,
                                        size_t offset) const {
  const FieldPlace *found = find(message, field);
  return found ? at(placeInString(text, found->value, offset)) : where(message);
}

void SourceMap::setStart(const Message &message, TextPlace start) {
  nodes[&message].start = start;
}

void SourceMap::addField(const Message &message, int number, FieldPlace place) {
  nodes[&message].places(number).push_back(place);
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
    // Copied out first: inserting may rehash and move the nodes.
    Node node = found->second;
    nodes[&to] = std::move(node);
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
  const FieldPlace *known = find(from, fromField, fromIndex);
  FieldPlace place;
  if (known) {
    place = *known;
  } else if (auto found = nodes.find(&from); found != nodes.end()) {
    place = {found->second.start, found->second.start};
  }
  addField(to, to.GetDescriptor()->FindFieldByName(toField)->number(), place);
}

} // namespace brew::prototxt
