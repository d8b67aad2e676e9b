//===- FieldHints.h - Suggestions for unknown fields ------------*- C++ -*-===//
//
// Text that follows "unknown field 'x' in y": the forks of Caffe that have the
// field, the block it belongs to, or the known field with the nearest name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace brew::prototxt {

/// Returns "a net" or "a solver" for the message of a file; otherwise the name
/// of the type.
std::string rootName(const google::protobuf::Descriptor &type);

/// Returns a hint that begins with a separator, or "". `enclosing` lists the
/// types of the messages around `type`, innermost first.
std::string unknownFieldHint(
    const google::protobuf::Descriptor &type,
    const std::vector<const google::protobuf::Descriptor *> &enclosing,
    const std::string &name);

/// Returns the field of `type` that an unknown field `name` is probably a
/// misspelling of, or null. Word by word, the names must be similar, because
/// fixed_size is no misspelling of min_size.
const google::protobuf::FieldDescriptor *
meantField(const google::protobuf::Descriptor &type, const std::string &name);

} // namespace brew::prototxt
