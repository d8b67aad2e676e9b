//===- BlobSource.cpp - Sources with constant batches ---------------------===//
//
// The infogain matrix of an InfogainLoss layer that names a file, and the class
// weights that a SoftmaxWithLoss layer lists.
//
//===----------------------------------------------------------------------===//

#include "caffe/weights/BufferLayout.h"
#include "formats/BinaryProto.h"
#include "formats/PathLookup.h"
#include "runtime/data/BatchSource.h"
#include "support/Error.h"

namespace brew::runtime {
namespace {

class BlobSource : public BatchSource {
public:
  /// `where` is a prefix of the message about a wrong number of values.
  BlobSource(const DataLayerInfo &info, formats::Blob values,
             const std::string &where)
      : top(*info.tops.at(0)), blob(std::move(values)) {
    const auto count = static_cast<std::int64_t>(blob.size());
    if (count != plan::elementCount(top))
      throw badInput(where + ": has " + std::to_string(count) +
                     " values; layer '" + info.layer.name() +
                     "' was compiled for " +
                     std::to_string(plan::elementCount(top)));
  }

  void read(const std::vector<std::byte *> &memory) override {
    if (memory[0] && blob.isDouble())
      caffe::store(top, blob.doubles.data(), memory[0]);
    else if (memory[0])
      caffe::store(top, blob.floats.data(), memory[0]);
  }

  // Every batch is the same.
  SourcePosition position() const override { return {}; }
  void seek(const SourcePosition &) override {}

private:
  const plan::Buffer &top;
  formats::Blob blob;
};

} // namespace

static std::unique_ptr<BatchSource> openBlobSource(const DataLayerInfo &info) {
  const std::string path =
      formats::requirePath(info.layer.infogain_loss_param().source(),
                           info.folders, "infogain matrix");
  return std::make_unique<BlobSource>(info, formats::readBinaryProto(path),
                                      path);
}

const SourceKind blobSource = {caffe::DataLayerSource::Matrix, openBlobSource};

static std::unique_ptr<BatchSource>
makeWeightSource(const DataLayerInfo &info) {
  const auto &weights = info.layer.loss_param().class_weighting();
  formats::Blob blob;
  blob.dims = {weights.size()};
  blob.floats.assign(weights.begin(), weights.end());
  return std::make_unique<BlobSource>(info, std::move(blob), "class_weighting");
}

const SourceKind weightSource = {caffe::DataLayerSource::Weights,
                                 makeWeightSource};

} // namespace brew::runtime
