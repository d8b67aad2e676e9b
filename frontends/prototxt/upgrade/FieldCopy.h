//===- FieldCopy.h - Copying fields together with their locations ---------===//
//
// The upgrades of old prototxt forms move fields between messages of different
// types; these helpers move the locations along, so that the upgraded message
// still points at the user's text.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"

#include <string>

namespace brew::prototxt {

/// Whether the text set the field (for a repeated one: at least once).
bool hasField(const google::protobuf::Message &message,
              const std::string &field);

/// Appends (repeated target) or sets (singular target) in `to` every value that
/// `fromField` has in `from`. Both fields hold the same kind of value; an enum
/// is matched by value name, and signed and unsigned 32-bit integers convert.
void copyField(SourceMap &locations, const google::protobuf::Message &from,
               const std::string &fromField, google::protobuf::Message &to,
               const std::string &toField);

/// The singular sub-message `block` of `message`, created if need be; a new one
/// starts at the location of `causeField` in `cause`.
google::protobuf::Message &getOrCreateBlock(SourceMap &locations,
                                     google::protobuf::Message &message,
                                     const std::string &block,
                                     const google::protobuf::Message &cause,
                                     const std::string &causeField);

} // namespace brew::prototxt
