//===- Proposal.cpp - Region proposals of a network -----------------------===//

#include "runtime/host_layers/Proposal.h"

#include "caffe/ProposalAnchors.h"
#include "runtime/detection/RegionProposals.h"
#include "support/Error.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

namespace brew::runtime {
namespace {

constexpr std::int64_t kRegionFields = 5; ///< image and corners

class ProposalLayer : public HostLayer {
public:
  explicit ProposalLayer(const HostLayerSetup &setup) {
    caffe::LayerParameter layer;
    if (!google::protobuf::TextFormat::ParseFromString(setup.settings,
                                                       &layer) ||
        !fits(setup, layer.proposal_param()))
      throw badInput("damaged plan: not the settings of a Proposal");
    settings = layer.proposal_param();
    anchors = makeAnchors(settings);
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      writeProposals<double>(arguments);
    else
      writeProposals<float>(arguments);
  }
  void backward(HostLayerArguments &) override {
    throw Error(ExitStatus::Bug, "Proposal has no gradients");
  }

private:
  /// Returns whether bottoms and tops have the shapes that the settings
  /// require.
  static bool fits(const HostLayerSetup &setup,
                   const caffe::ProposalParameter &settings) {
    const auto &bottoms = setup.bottoms, &tops = setup.tops;
    const std::int64_t anchorsPerPosition = caffe::anchorCount(settings);
    if (bottoms.size() != 3 || tops.size() < 2 || tops.size() > 3 ||
        bottoms[0].size() != 4 || bottoms[2].size() < 2)
      return false;
    const std::int64_t images = bottoms[0][0], height = bottoms[0][2],
                       width = bottoms[0][3];
    const std::int64_t rows = images * settings.post_nms_topn();
    using Dims = std::vector<std::int64_t>;
    return bottoms[0] == Dims{images, 2 * anchorsPerPosition, height, width} &&
           bottoms[1] == Dims{images, 4 * anchorsPerPosition, height, width} &&
           (bottoms[2][0] == 1 || bottoms[2][0] == images) &&
           bottoms[2][1] >= 3 && tops[0] == Dims{rows, kRegionFields} &&
           tops.back() == Dims{1} &&
           (tops.size() == 2 || tops[1] == Dims{rows});
  }

  template <typename Real>
  void writeProposals(HostLayerArguments &arguments) const {
    const HostLayerBlob &scores = arguments.bottoms[0];
    const HostLayerBlob &offsets = arguments.bottoms[1];
    const HostLayerBlob &info = arguments.bottoms[2];
    const std::int64_t images = scores.dims[0];
    auto *rows = static_cast<Real *>(arguments.tops[0].values);
    Real *rowScores = arguments.tops.size() == 3
                          ? static_cast<Real *>(arguments.tops[1].values)
                          : nullptr;
    std::int64_t row = 0;
    for (std::int64_t image = 0; image < images; ++image) {
      ProposalMaps<Real> maps = {};
      maps.height = scores.dims[2];
      maps.width = scores.dims[3];
      // The first half of the channels is the background's.
      maps.scores = static_cast<const Real *>(scores.values) +
                    (2 * image + 1) * (scores.count / images / 2);
      maps.offsets = static_cast<const Real *>(offsets.values) +
                     image * (offsets.count / images);
      const Real *size = static_cast<const Real *>(info.values) +
                         (info.dims[0] > 1 ? image * info.dims[1] : 0);
      maps.imageHeight = size[0];
      maps.imageWidth = size[1];
      maps.imageScale = size[2];
      for (const Proposal<Real> &proposal : propose(settings, anchors, maps)) {
        const Box<Real> &box = proposal.box;
        const Real values[kRegionFields] = {static_cast<Real>(image), box.left,
                                            box.top, box.right, box.bottom};
        std::copy(values, values + kRegionFields, rows + row * kRegionFields);
        if (rowScores)
          rowScores[row] = proposal.score;
        ++row;
      }
    }
    *static_cast<Real *>(arguments.tops.back().values) = static_cast<Real>(row);
    repeatLast(rows, kRegionFields, row, arguments.tops[0].dims[0]);
    if (rowScores)
      repeatLast(rowScores, 1, row, arguments.tops[0].dims[0]);
  }

  /// Fills items `count` to `total` - 1, each of `size` values, with copies of
  /// the last valid item, or with zeros if there is none.
  template <typename Real>
  static void repeatLast(Real *items, std::int64_t size, std::int64_t count,
                         std::int64_t total) {
    for (std::int64_t i = count * size; i < total * size; ++i)
      items[i] = count > 0 ? items[i - size] : Real(0);
  }

  caffe::ProposalParameter settings;
  std::vector<Box<double>> anchors;
};

class ProposalType : public HostLayerType {
public:
  bool hasBackward() const override { return false; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<ProposalLayer>(setup);
  }
};

} // namespace

const HostLayerType &proposalType() {
  static const ProposalType type;
  return type;
}

} // namespace brew::runtime
