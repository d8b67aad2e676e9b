//===- MeanFieldFilter.cpp - Filters of mean-field inference --------------===//

#include "runtime/host_layers/MeanFieldFilter.h"

#include "runtime/host_layers/LayerSettings.h"
#include "runtime/host_layers/PermutohedralLattice.h"

#include <algorithm>

namespace brew::runtime {
namespace {

constexpr std::int64_t kColours = 3;

/// A filter whose result for the constant 1 is 1.
class NormalizedFilter {
public:
  NormalizedFilter() = default;
  NormalizedFilter(const std::vector<float> &features, int dimensions)
      : lattice(features, dimensions) {
    const std::vector<double> ones(
        static_cast<std::size_t>(lattice.pointCount()), 1);
    norms = lattice.filter(ones.data(), 1, false);
    for (double &norm : norms)
      norm = 1 / (norm + 1e-20);
  }

  template <typename Real>
  void compute(const Real *values, std::int64_t channels, Real *out) const {
    const std::vector<Real> filtered = lattice.filter(values, channels, false);
    for (std::size_t i = 0; i < filtered.size(); ++i)
      out[i] = static_cast<Real>(filtered[i] * norms[i % norms.size()]);
  }
  /// Adds the gradient of the values, from the gradient of the result.
  template <typename Real>
  void addGradient(const Real *gradient, std::int64_t channels,
                   Real *out) const {
    std::vector<Real> scaled(gradient, gradient + channels * norms.size());
    for (std::size_t i = 0; i < scaled.size(); ++i)
      scaled[i] = static_cast<Real>(scaled[i] * norms[i % norms.size()]);
    const std::vector<Real> filtered =
        lattice.filter(scaled.data(), channels, true);
    for (std::size_t i = 0; i < filtered.size(); ++i)
      out[i] += filtered[i];
  }

private:
  PermutohedralLattice lattice;
  std::vector<double> norms;
};

/// The bilateral filter of an image.
struct BilateralFilter {
  std::vector<float> image;
  NormalizedFilter filter;
};

class MeanFieldFilter : public HostLayer {
public:
  explicit MeanFieldFilter(const HostLayerSetup &setup)
      : settings(layerSettings(setup).multi_stage_meanfield_param()) {
    using Dims = std::vector<std::int64_t>;
    const bool isValid = setup.bottoms.size() == 2 && setup.tops.size() == 2 &&
                         setup.bottoms[1].size() == 4;
    if (!isValid)
      throw damagedSettings(setup);
    const Dims &values = setup.bottoms[1];
    if (setup.bottoms[0] != Dims{values[0], kColours, values[2], values[3]} ||
        setup.tops[0] != values || setup.tops[1] != values)
      throw damagedSettings(setup);
    channels = values[1];
    width = values[3];
    pixels = values[2] * width;
    bilateral.resize(static_cast<std::size_t>(values[0]));
    std::vector<float> features;
    for (std::int64_t i = 0; i < pixels; ++i)
      addPosition(i, settings.theta_gamma(), features);
    spatial = NormalizedFilter(features, 2);
  }

  void forward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      compute<double>(arguments);
    else
      compute<float>(arguments);
  }
  void backward(HostLayerArguments &arguments) override {
    if (arguments.f64)
      computeGradient<double>(arguments);
    else
      computeGradient<float>(arguments);
  }

private:
  void addPosition(std::int64_t pixel, float deviation,
                   std::vector<float> &features) const {
    features.push_back(static_cast<float>(pixel % width) / deviation);
    features.push_back(static_cast<float>(pixel / width) / deviation);
  }

  /// Returns the bilateral filter of image `n`. All iterations of the inference
  /// have the same images and share the filters.
  template <typename Real>
  const NormalizedFilter &bilateralFilter(const HostLayerArguments &arguments,
                                          std::size_t n) {
    const Real *colours =
        static_cast<const Real *>(arguments.bottoms[0].values) +
        static_cast<std::int64_t>(n) * kColours * pixels;
    std::vector<float> image(colours, colours + kColours * pixels);
    BilateralFilter &cached = bilateral[n];
    if (cached.image == image)
      return cached.filter;
    std::vector<float> features;
    for (std::int64_t i = 0; i < pixels; ++i) {
      addPosition(i, settings.theta_alpha(), features);
      for (std::int64_t colour = 0; colour < kColours; ++colour)
        features.push_back(image[colour * pixels + i] / settings.theta_beta());
    }
    cached.image.clear(); // invalid if the filter cannot be created
    cached.filter = NormalizedFilter(features, 2 + kColours);
    cached.image = std::move(image);
    return cached.filter;
  }

  template <typename Real> void compute(HostLayerArguments &arguments) {
    for (std::size_t n = 0; n < bilateral.size(); ++n) {
      const std::int64_t start =
          static_cast<std::int64_t>(n) * channels * pixels;
      auto at = [&](void *values) {
        return static_cast<Real *>(values) + start;
      };
      const Real *values = at(arguments.bottoms[1].values);
      spatial.compute(values, channels, at(arguments.tops[0].values));
      bilateralFilter<Real>(arguments, n)
          .compute(values, channels, at(arguments.tops[1].values));
    }
  }

  template <typename Real> void computeGradient(HostLayerArguments &arguments) {
    HostLayerBlob &image = arguments.bottoms[0], &values = arguments.bottoms[1];
    for (HostLayerBlob *blob : {&image, &values})
      if (blob->gradient)
        std::fill_n(static_cast<Real *>(blob->gradient), blob->count, Real(0));
    if (!values.gradient)
      return;
    for (std::size_t n = 0; n < bilateral.size(); ++n) {
      const std::int64_t start =
          static_cast<std::int64_t>(n) * channels * pixels;
      auto at = [&](void *gradient) {
        return static_cast<Real *>(gradient) + start;
      };
      Real *gradient = at(values.gradient);
      spatial.addGradient(at(arguments.tops[0].gradient), channels, gradient);
      bilateralFilter<Real>(arguments, n)
          .addGradient(at(arguments.tops[1].gradient), channels, gradient);
    }
  }

  const caffe::MultiStageMeanfieldParameter settings;
  std::int64_t channels = 0, width = 0, pixels = 0;
  NormalizedFilter spatial;
  std::vector<BilateralFilter> bilateral; ///< one for each item
};

class MeanFieldFilterType : public HostLayerType {
public:
  bool hasBackward() const override { return true; }
  std::unique_ptr<HostLayer>
  create(const HostLayerSetup &setup) const override {
    return std::make_unique<MeanFieldFilter>(setup);
  }
};

} // namespace

const HostLayerType &meanFieldFilterType() {
  static const MeanFieldFilterType type;
  return type;
}

} // namespace brew::runtime
