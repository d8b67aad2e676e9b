//===- WeightBindingTest.cpp - Files against parameters -------------------===//
#include "caffe/weights/ProvidedWeights.h"
#include "test/common/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <map>

using namespace brew;
using namespace brew::caffe;
using test::expectError;

namespace {

/// Layers whose parameters are bound to files, and the bound values by
/// "LAYER/BLOB".
class Net {
public:
  void add(const std::string &layer, const std::string &type,
           std::vector<std::vector<std::int64_t>> shapes,
           std::set<std::size_t> sharers = {}, bool anyShape = false) {
    brew::caffe::LayerBlobs to{layer, type, {}};
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      plan::Parameter &parameter = parameters.emplace_back();
      parameter.set_buffer_index(static_cast<std::uint32_t>(names.size()));
      names.push_back(layer + "/" + std::to_string(i));
      to.blobs.push_back({&parameter, shapes[i], sharers.count(i) != 0,
                          parameter.buffer_index(), anyShape});
    }
    layers.push_back(to);
  }

  /// Binds a file. Returns the lines about unmatched layers.
  std::vector<std::string> bind(const formats::Weights &weights) {
    const brew::caffe::WeightBinding binding =
        bindWeights(layers, weights, "W");
    for (const auto &[index, blob] : binding.values)
      bound[names[index]] = blob->toFloats();
    provided.add(binding);
    return unmatchedLayersLines(binding);
  }

  /// Returns the layers without provided weights.
  std::vector<std::string> missing() const {
    return provided.layersWithoutWeights(layers);
  }

  std::map<std::string, std::vector<float>> bound;
  brew::caffe::ProvidedWeights provided{plan::Manifest()};

private:
  std::vector<brew::caffe::LayerBlobs> layers;
  std::deque<plan::Parameter> parameters;
  std::vector<std::string> names;
};

formats::Blob blob(std::vector<std::int64_t> dims, std::vector<float> values) {
  return {std::move(dims), std::move(values), {}, false};
}

formats::Weights fileOf(const std::string &layer,
                        std::vector<formats::Blob> blobs) {
  formats::Weights weights;
  weights.layers.push_back({layer, "", {}, {}, std::move(blobs)});
  return weights;
}

Net batchNorm(std::size_t blobs) {
  Net net;
  std::vector<std::vector<std::int64_t>> shapes = {{2}, {2}, {1}, {2}, {2}};
  shapes.resize(blobs);
  net.add("bn", "BatchNorm", shapes);
  return net;
}

using Values = std::vector<float>;

} // namespace

TEST(WeightBinding, LegacyShapesFitByCount) {
  Net net;
  net.add("ip", "InnerProduct", {{2, 3}, {2}});
  auto weights = fileOf("ip", {blob({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                               blob({1, 1, 1, 2}, {7, 8})});
  expectError(ExitStatus::BadInput, "blob 0 is 1x1x2x3 there and 2x3",
              [&] { net.bind(weights); });
  EXPECT_TRUE(net.bound.empty());
  for (formats::Blob &legacyBlob : weights.layers[0].blobs)
    legacyBlob.legacyShape = true;
  net.bind(weights);
  EXPECT_EQ(net.bound["ip/0"], (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(net.bound["ip/1"], (Values{7, 8}));
}

TEST(WeightBinding, ReportsValuesThatAreNotFinite) {
  std::vector<brew::caffe::LayerBlobs> layers(2);
  for (std::uint32_t i = 0; i < 2; ++i)
    layers[i] = {i ? "b" : "a", "InnerProduct", {{nullptr, {2}, false, i}}};
  formats::Weights weights = fileOf("a", {blob({2}, {1, -3e38f})});
  weights.layers.push_back(fileOf("b", {blob({2}, {1, 2})}).layers[0]);
  EXPECT_FALSE(notFiniteText(bindWeights(layers, weights, "W")));
  weights.layers[1].blobs[0].floats[1] = -INFINITY;
  EXPECT_EQ(notFiniteText(bindWeights(layers, weights, "W")),
            "weights of 1 layer are NaN or infinite, as after training that "
            "diverged: b");
  weights.layers[0].blobs[0].floats[0] = NAN;
  EXPECT_EQ(notFiniteText(bindWeights(layers, weights, "W")),
            "weights of 2 layers are NaN or infinite, as after training that "
            "diverged: a, b");
}

TEST(WeightBinding, ShapesFitByCountIfAllowed) {
  Net net;
  net.add("ip", "InnerProduct", {{2, 3}}, {}, /*anyShape=*/true);
  net.bind(fileOf("ip", {blob({3, 1, 2}, {1, 2, 3, 4, 5, 6})}));
  EXPECT_EQ(net.bound["ip/0"], (Values{1, 2, 3, 4, 5, 6}));
  expectError(ExitStatus::BadInput, "blob 0 is 5 there and 2x3", [&] {
    net.bind(fileOf("ip", {blob({5}, {1, 2, 3, 4, 5})}));
  });
}

TEST(WeightBinding, Hdf5OmitsSharedBlobs) {
  Net net;
  net.add("one", "InnerProduct", {{1}, {1}});
  net.add("two", "InnerProduct", {{1}, {1}}, {0});
  net.add("three", "InnerProduct", {{1}, {1}}, {0, 1});
  formats::Weights weights = fileOf("one", {blob({1}, {1}), blob({1}, {2})});
  formats::WeightLayer two{"two", "", {}, {}, {blob({0}, {}), blob({1}, {3})}};
  two.shared = {0};
  weights.layers.push_back(two);
  expectError(ExitStatus::BadInput, "", [&] {
    formats::Weights damaged = weights;
    damaged.layers[0].shared = {0};
    damaged.hdf5 = true;
    net.bind(damaged);
  });
  weights.hdf5 = true;
  EXPECT_TRUE(net.bind(weights).empty());
  EXPECT_EQ(net.bound.size(), 3u);
  EXPECT_EQ(net.bound["two/1"], Values{3});
  // In HDF5, a missing trailing blob is a blob that another layer owns.
  Net tail;
  tail.add("one", "InnerProduct", {{1}, {1}}, {1});
  weights = fileOf("one", {blob({1}, {4})});
  expectError(ExitStatus::BadInput, "has 1 blobs there and 2",
              [&] { tail.bind(weights); });
  weights.hdf5 = true;
  tail.bind(weights);
  EXPECT_EQ(tail.bound["one/0"], Values{4});
}

TEST(WeightBinding, BatchNormOfFiveBlobs) {
  const auto mean = blob({1, 2, 1, 1}, {1, 2}), variance = blob({2}, {3, 4}),
             unused = blob({1}, {0}), scale = blob({2}, {5, 6}),
             bias = blob({2}, {7, 8});
  for (const auto &blobs : {std::vector{mean, variance, unused, scale, bias},
                            std::vector{scale, bias, mean, variance, unused}}) {
    Net net = batchNorm(5);
    net.bind(fileOf("bn", blobs));
    EXPECT_EQ(net.bound["bn/0"], (Values{1, 2}));
    EXPECT_EQ(net.bound["bn/1"], (Values{3, 4}));
    EXPECT_EQ(net.bound["bn/2"], Values{1}); // not scaled
    EXPECT_EQ(net.bound["bn/3"], (Values{5, 6}));
    EXPECT_EQ(net.bound["bn/4"], (Values{7, 8}));
  }
  // With one channel the order is ambiguous, so it is assumed to be the current
  // order.
  Net single;
  single.add("bn", "BatchNorm", {{1}, {1}, {1}, {1}, {1}});
  single.bind(fileOf("bn", {blob({1}, {1}), blob({1}, {2}), blob({1}, {1}),
                            blob({1}, {3}), blob({1}, {4})}));
  EXPECT_EQ(single.bound["bn/0"], Values{1});
  EXPECT_EQ(single.bound["bn/4"], Values{4});
  Net caffeNet = batchNorm(3);
  expectError(ExitStatus::BadInput, "has a scale and a bias there", [&] {
    caffeNet.bind(fileOf("bn", {mean, variance, unused, scale, bias}));
  });
  caffeNet.bind(fileOf(
      "bn", {mean, variance, unused, blob({2}, {1, 1}), blob({2}, {0, 0})}));
  EXPECT_EQ(caffeNet.bound["bn/1"], (Values{3, 4}));
  EXPECT_EQ(caffeNet.bound["bn/2"], Values{1});
}

TEST(WeightBinding, BatchNormOfThreeBlobs) {
  const auto weights =
      fileOf("bn", {blob({2}, {2, 4}), blob({2}, {6, 8}), blob({1}, {2})});
  Net caffeNet = batchNorm(3);
  caffeNet.bind(weights);
  EXPECT_EQ(caffeNet.bound["bn/0"], (Values{2, 4}));
  EXPECT_EQ(caffeNet.bound["bn/2"], Values{2});
  // NVCaffe's layer keeps its scale and bias.
  Net nvcaffeNet = batchNorm(5);
  nvcaffeNet.bind(weights);
  EXPECT_EQ(nvcaffeNet.bound["bn/0"], (Values{1, 2}));
  EXPECT_EQ(nvcaffeNet.bound["bn/1"], (Values{3, 4}));
  EXPECT_EQ(nvcaffeNet.bound["bn/2"], Values{1});
  EXPECT_EQ(nvcaffeNet.bound.count("bn/3"), 0u);
  // For other layer types a different number of blobs is an error.
  Net scale;
  scale.add("bn", "Scale", {{2}, {2}, {1}, {2}, {2}});
  expectError(ExitStatus::BadInput, "has 3 blobs there and 5",
              [&] { scale.bind(weights); });
}

TEST(ProvidedWeights, AreTheLayersOfAllFiles) {
  Net net;
  for (const char *name : {"a", "b", "c", "d"})
    net.add(name, "InnerProduct", {{1}, {1}});
  using Names = std::vector<std::string>;
  EXPECT_EQ(net.missing(), (Names{"a", "b", "c", "d"}));
  net.bind(fileOf("c", {blob({1}, {1}), blob({1}, {2})}));
  EXPECT_EQ(net.missing(), (Names{"a", "b", "d"}));
  net.bind(fileOf("a", {blob({1}, {1}), blob({1}, {2})}));
  EXPECT_EQ(net.missing(), (Names{"b", "d"}));
  net.provided.add(2); // the first parameter of b
  EXPECT_EQ(net.missing(), (Names{"b", "d"}));
  net.provided.add(3);
  EXPECT_EQ(net.missing(), Names{"d"});
  net.provided.addAll();
  EXPECT_EQ(net.missing(), Names());
  EXPECT_EQ(brew::caffe::missingWeightsText({"W"}, {"b"}, true),
            "W: no weights for 1 layer of the net (--allow-missing-weights "
            "leaves them to fillers): b");
  EXPECT_EQ(brew::caffe::missingWeightsText({}, {"b", "d"}, false),
            "no weights for 2 layers of the net, left to fillers: b, d");
}

TEST(ProvidedWeights, LayersThatOnlyShareNeedNone) {
  Net net;
  net.add("owner", "InnerProduct", {{1}, {1}});
  net.add("sharer", "InnerProduct", {{1}, {1}}, {0, 1});
  net.add("half", "InnerProduct", {{1}, {1}}, {0});
  net.bind(fileOf("owner", {blob({1}, {1}), blob({1}, {2})}));
  EXPECT_EQ(net.missing(), std::vector<std::string>{"half"});
}

TEST(ProvidedWeights, LayersOfAFileAreComplete) {
  // NVCaffe's layer keeps the scale and bias that Caffe's file lacks.
  Net net = batchNorm(5);
  net.bind(
      fileOf("bn", {blob({2}, {2, 4}), blob({2}, {6, 8}), blob({1}, {2})}));
  EXPECT_EQ(net.missing(), std::vector<std::string>());
}

TEST(ProvidedWeights, IncludeValuesInThePlan) {
  plan::Manifest manifest;
  for (const char *layer : {"a", "a", "b"}) {
    plan::Parameter &parameter = *manifest.add_parameters();
    parameter.set_layer(layer);
    parameter.set_buffer_index(
        static_cast<std::uint32_t>(manifest.parameters_size() - 1));
  }
  std::vector<brew::caffe::LayerBlobs> layers = {
      {"a",
       "",
       {{&manifest.parameters(0), {}, false, 0},
        {&manifest.parameters(1), {}, false, 1}}},
      {"b", "", {{&manifest.parameters(2), {}, false, 2}}}};
  // Initial values of one blob suffice for its layer.
  manifest.mutable_parameters(0)->set_initial_segment_index(0);
  EXPECT_EQ(brew::caffe::ProvidedWeights(manifest).layersWithoutWeights(layers),
            std::vector<std::string>{"b"});
  plan::Arena &arena = *manifest.add_arenas();
  arena.set_kind(plan::PARAMETERS);
  arena.set_initial_segment_index(0);
  EXPECT_EQ(brew::caffe::ProvidedWeights(manifest).layersWithoutWeights(layers),
            std::vector<std::string>());
}
