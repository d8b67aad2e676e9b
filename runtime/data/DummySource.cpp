//===- DummySource.cpp - Batches from a DummyData layer's fillers ---------===//

#include "caffe/Filler.h"
#include "caffe/weights/BufferLayout.h"
#include "runtime/data/BatchSource.h"
#include "support/Error.h"

#include <set>

namespace brew::runtime {
namespace {

/// Constant fillers write each memory block once, since callers do not change
/// it; other fillers draw new numbers for every batch.
class DummySource : public BatchSource {
public:
  explicit DummySource(const DataLayerInfo &info) : tops(info.tops) {
    const caffe::DummyDataParameter &parameter = info.layer.dummy_data_param();
    const int fillerCount = parameter.data_filler_size();
    const int topCount = static_cast<int>(tops.size());
    if (fillerCount > 1 && fillerCount != topCount)
      throw badInput("layer '" + info.layer.name() + "' (DummyData): has " +
                     std::to_string(fillerCount) + " data_fillers for " +
                     std::to_string(topCount) + " tops");
    for (int i = 0; i < topCount; ++i) {
      caffe::FillerParameter filler; // constant zero by default
      if (fillerCount)
        filler = parameter.data_filler(fillerCount > 1 ? i : 0);
      std::vector<std::int64_t> shape(tops[i]->dims().begin(),
                                      tops[i]->dims().end());
      fillers.emplace_back(
          filler, std::move(shape),
          caffe::RandomStream(info.seed.rankSeed(),
                              "dummy " + info.stream + "/" + std::to_string(i)),
          "layer '" + info.layer.name() + "' (DummyData)");
    }
  }

  void read(const std::vector<std::byte *> &memory) override {
    for (std::size_t i = 0; i < tops.size(); ++i) {
      if (!memory[i])
        continue;
      caffe::Filler &filler = fillers[i];
      if (filler.isConstant() && !filled.insert(memory[i]).second)
        continue;
      filler.begin(fills);
      values.resize(static_cast<std::size_t>(filler.count()));
      filler.fill(0, filler.count(), values.data());
      caffe::store(*tops[i], values.data(), memory[i]);
    }
    ++fills;
  }

  SourcePosition position() const override { return {fills, 0, 0}; }
  void seek(const SourcePosition &target) override { fills = target.records; }

private:
  std::vector<const plan::Buffer *> tops;
  std::vector<caffe::Filler> fillers;
  std::vector<double> values;
  /// Memory blocks that contain the constant.
  std::set<const std::byte *> filled;
  std::uint64_t fills = 0;
};

} // namespace

static std::unique_ptr<BatchSource> makeDummySource(const DataLayerInfo &info) {
  return std::make_unique<DummySource>(info);
}

const SourceKind dummySource = {caffe::DataLayerSource::Fillers,
                                makeDummySource};

} // namespace brew::runtime
