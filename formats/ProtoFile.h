//===- ProtoFile.h - Binary protobuf files ----------------------*- C++ -*-===//
//
// Reading and writing one message per file, as caffemodel, solverstate and
// binaryproto files are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace google::protobuf {
class Message;
}

namespace brew::formats {

/// Reads the whole file into `message`. Error(3) if it cannot be opened or
/// read, Error(1) if it is no such message; `kind` ("caffemodel") is said in
/// the text. Files up to 2 GB, Protocol Buffers' own limit.
void readProtoFile(const std::string &path, google::protobuf::Message &message,
                   const std::string &kind);

/// Writes `message` atomically (see AtomicFile), behind `before`, which is
/// nothing or a serialised message of its type: readers merge the two.
void writeProtoFile(const std::string &path,
                    const google::protobuf::Message &message,
                    const std::string &before = "");

} // namespace brew::formats
