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

struct ExpectedFile;

/// Parses a file into `message`. Throws Error(3) if it cannot be opened
/// or read, Error(1) if it is not a message of this type or has 2 GB or more,
/// the limit of Protocol Buffers. `kind` ("caffemodel") names the file in
/// errors. The error about a file of another kind is otherKindText() of
/// `expected`.
void readProtoFile(const std::string &path, google::protobuf::Message &message,
                   const std::string &kind, const ExpectedFile &expected);

/// Writes `prefix` and then `message` atomically (see AtomicFile). `prefix` is
/// empty or a serialised message of the same type: parsers merge the two.
/// Throws Error(1) if the file would have 2 GB or more.
void writeProtoFile(const std::string &path,
                    const google::protobuf::Message &message,
                    const std::string &prefix = "");

} // namespace brew::formats
