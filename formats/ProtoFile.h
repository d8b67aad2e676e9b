//===- ProtoFile.h - Binary protobuf files ----------------------*- C++ -*-===//
//
// Reads and writes files of one message: caffemodel, solverstate and
// binaryproto.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace google::protobuf {
class Message;
}

namespace brew::formats {

/// Parses a file into `message`. Error(3) if it cannot be opened or read,
/// Error(1) if it is not a message of this type; `kind` ("caffemodel") is in
/// the text. Files have at most 2 GB, the limit of Protocol Buffers.
void readProtoFile(const std::string &path, google::protobuf::Message &message,
                   const std::string &kind);

/// Writes `message` atomically (see AtomicFile), after `before`, which is empty
/// or a serialised message of the same type: parsers merge the two.
void writeProtoFile(const std::string &path,
                    const google::protobuf::Message &message,
                    const std::string &before = "");

} // namespace brew::formats
