//===- BinaryProto.cpp - Files of mean images -----------------------------===//
#include "formats/BinaryProto.h"

#include "formats/ExpectedFile.h"
#include "formats/ProtoFile.h"
#include "formats/caffe.pb.h"
#include "support/Error.h"

namespace brew::formats {

Blob readBinaryProto(const std::string &path) {
  caffe::BlobProto proto;
  readProtoFile(path, proto, "binaryproto", binaryProtoFile());
  // The values of C3D 1.0's files are read as `diff`.
  if (proto.data_size() == 0 && proto.double_data_size() == 0 &&
      proto.diff_size() == 0) {
    refuseOtherKind(path, binaryProtoFile());
    throw badInput(path + ": damaged or truncated binaryproto: no values");
  }
  return takeBlob(proto, path);
}

void writeBinaryProto(const std::string &path, const Blob &blob) {
  caffe::BlobProto proto;
  fillBlobProto(blob, proto);
  writeProtoFile(path, proto);
}

} // namespace brew::formats
