//===- BlobSource.cpp - A blob read from a .binaryproto file --------------===//
//
// The infogain matrix of an InfogainLoss layer that names a file.
//
//===----------------------------------------------------------------------===//

#include "formats/BinaryProto.h"
#include "formats/Error.h"
#include "formats/PathLookup.h"
#include "runtime/data/BatchSource.h"
#include "runtime/weights/Layout.h"

namespace brew::runtime {
namespace {

class BlobSource : public BatchSource {
public:
  explicit BlobSource(const FeedInfo &info) : top(*info.tops.at(0)) {
    const std::string path =
        formats::requirePath(info.layer.infogain_loss_param().source(),
                             info.folders, "infogain matrix");
    blob = formats::readBinaryProto(path);
    const auto count = static_cast<std::int64_t>(blob.size());
    if (count != plan::elementCount(top))
      throw badInput(path + ": has " + std::to_string(count) +
                     " values; layer '" + info.layer.name() +
                     "' was compiled for " +
                     std::to_string(plan::elementCount(top)));
  }

  void read(const std::vector<std::byte *> &memory) override {
    if (memory[0] && blob.isDouble())
      store(top, blob.doubles.data(), memory[0]);
    else if (memory[0])
      store(top, blob.floats.data(), memory[0]);
  }

  // Every batch is the same.
  SourcePosition position() const override { return {}; }
  void seek(const SourcePosition &) override {}

private:
  const plan::Buffer &top;
  formats::Blob blob;
};

} // namespace

std::unique_ptr<BatchSource> openBlobSource(const FeedInfo &info) {
  return std::make_unique<BlobSource>(info);
}

} // namespace brew::runtime
