//===- MessageStorage.h - Attributes that store parsed messages -----------===//
#pragma once

#include "formats/caffe.pb.h"

#include "mlir/IR/AttributeSupport.h"

namespace brew::dialects::plan::detail {

/// Parses prototxt. Returns false on errors without printing them, since
/// attribute verifiers report them.
bool parseMessage(llvm::StringRef text, google::protobuf::Message &message);

/// A verified text and the message parsed from it. The text is parsed when the
/// attribute is created, once for each text in a context.
template <typename Storage, typename Message>
struct MessageStorage : mlir::AttributeStorage {
  using KeyTy = llvm::StringRef;

  explicit MessageStorage(llvm::StringRef text) : text(text) {}
  bool operator==(const KeyTy &key) const { return key == text; }
  static Storage *construct(mlir::AttributeStorageAllocator &allocator,
                            const KeyTy &key) {
    auto *storage =
        new (allocator.allocate<Storage>()) Storage(allocator.copyInto(key));
    parseMessage(key, storage->message);
    return storage;
  }

  llvm::StringRef text;
  Message message;
};

struct DataInputConfigAttrStorage
    : MessageStorage<DataInputConfigAttrStorage, caffe::LayerParameter> {
  using MessageStorage::MessageStorage;
};

struct FillerAttrStorage
    : MessageStorage<FillerAttrStorage, caffe::FillerParameter> {
  using MessageStorage::MessageStorage;
};

} // namespace brew::dialects::plan::detail
