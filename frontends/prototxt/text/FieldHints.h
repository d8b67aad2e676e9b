//===- FieldHints.h - What an unknown field may have meant ------*- C++ -*-===//
//
// Words that follow "unknown field 'x' in y": the fork of Caffe that owns the
// field, the block it belongs in, or the known field with the nearest name.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace brew::prototxt {

/// "a net" or "a solver" for the message of a whole file.
std::string rootName(const google::protobuf::Descriptor &type);

/// A hint that starts with its own separator, or nothing. `enclosing` lists the
/// types of the messages around `type`, innermost first.
std::string unknownFieldHint(
    const google::protobuf::Descriptor &type,
    const std::vector<const google::protobuf::Descriptor *> &enclosing,
    const std::string &name);

} // namespace brew::prototxt
