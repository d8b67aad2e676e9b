//===- FeedConfigStorage.h - What a feed_config holds ------------*- C++
//-*-===//
#pragma once

#include "formats/caffe.pb.h"

#include "mlir/IR/AttributeSupport.h"

namespace brew::planir::detail {

/// A text, which has been verified, and the message that it is. It is parsed
/// when the attribute is made, once for each text in a context.
struct FeedConfigAttrStorage : mlir::AttributeStorage {
  using KeyTy = llvm::StringRef;

  explicit FeedConfigAttrStorage(llvm::StringRef text) : text(text) {}
  bool operator==(const KeyTy &key) const { return key == text; }
  static FeedConfigAttrStorage *
  construct(mlir::AttributeStorageAllocator &allocator, const KeyTy &key);

  llvm::StringRef text;
  caffe::LayerParameter layer;
};

} // namespace brew::planir::detail
