//===- FieldCopy.h - Copies of fields with their locations ------*- C++ -*-===//
//
// The upgrades of old prototxt forms move fields between messages of different
// types. These helpers also copy the locations, so that diagnostics about the
// upgraded message point to the user's text.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"

#include <string>

namespace brew::prototxt {

/// Returns whether the text sets the field (a repeated field at least once).
bool hasField(const google::protobuf::Message &message,
              const std::string &field);

/// Appends (repeated target) or sets (singular target) in `to` every value of
/// `fromField` in `from`. Both fields have the same type, except that enums are
/// matched by value name, and signed and unsigned 32-bit integers are
/// converted.
void copyField(SourceMap &locations, const google::protobuf::Message &from,
               const std::string &fromField, google::protobuf::Message &to,
               const std::string &toField);

/// Returns the singular sub-message `block` of `message`. If it does not exist,
/// creates it with the location of `causeField` in `cause`.
google::protobuf::Message &
getOrCreateBlock(SourceMap &locations, google::protobuf::Message &message,
                 const std::string &block,
                 const google::protobuf::Message &cause,
                 const std::string &causeField);

} // namespace brew::prototxt
