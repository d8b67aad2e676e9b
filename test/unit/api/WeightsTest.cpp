//===- WeightsTest.cpp - Weight files and solver states as arrays ---------===//
//
// Uses only the public headers and libbrew_runtime. Messages are encoded by
// hand.
//
//===----------------------------------------------------------------------===//
#include <brew/brew.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace brew::api;

namespace {

using Floats = std::vector<float>;

/// A temporary folder.
class WeightsApi : public ::testing::Test {
protected:
  WeightsApi() {
    folder = std::filesystem::temp_directory_path() /
             ("brew_weights_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
  }
  ~WeightsApi() override { std::filesystem::remove_all(folder); }
  std::string path(const std::string &name) const { return folder / name; }

  std::filesystem::path folder;
};

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Encodes a length-delimited field of less than 128 bytes.
std::string field(int number, const std::string &content) {
  std::string tag(1, static_cast<char>((number << 3 | 2) & 127));
  if (number > 15) {
    tag[0] = static_cast<char>(((number << 3 | 2) & 127) | 128);
    tag += static_cast<char>(number >> 4);
  }
  return tag + static_cast<char>(content.size()) + content;
}

template <typename Value> std::string bytesOf(const std::vector<Value> &from) {
  return {reinterpret_cast<const char *>(from.data()),
          from.size() * sizeof(Value)};
}

std::string layerOf(const std::string &name, const std::string &type) {
  return field(1, name) + field(2, type);
}

Floats valuesOf(const brew_snapshot_blob &blob) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < blob.ndim; ++i)
    count *= blob.dims[i];
  return {blob.values, blob.values + count};
}

/// Returns the status of the error that `body` throws, BREW_OK without one.
template <typename Body>
brew_status statusOf(Body &&body, std::string *message = nullptr) {
  try {
    body();
  } catch (const Error &error) {
    EXPECT_STRNE(error.what(), "");
    if (message)
      *message = error.what();
    return error.status();
  }
  return BREW_OK;
}

} // namespace

TEST_F(WeightsApi, BinaryFilesContainTheMessagesOfNetAndLayers) {
  Floats values = {1.5f}, diffs = {-2};
  // Field 10 is the phase, which Brew's own trainer does not write.
  const std::string layer = layerOf("ip", "InnerProduct") + "\x50\x01";
  Weights net = Weights::ofNet(field(1, "n"));
  net.addLayer(layer);
  net.addBlob({1}, values.data(), diffs.data());
  net.write(path("w.caffemodel"));
  const std::string blob = field(5, bytesOf(values)) +
                           field(6, bytesOf(diffs)) +
                           field(7, field(1, std::string(1, 1)));
  EXPECT_EQ(contentOf(path("w.caffemodel")),
            field(1, "n") + field(100, layer + field(7, blob)));

  Weights read = Weights::read(path("w.caffemodel"));
  ASSERT_EQ(read.layers(), 1u);
  EXPECT_STREQ(read.layer(0).name, "ip");
  EXPECT_STREQ(read.layer(0).type, "InnerProduct");
  ASSERT_EQ(read.layer(0).blobs, 1u);
  EXPECT_EQ(valuesOf(read.blob(0, 0)), values);
  EXPECT_EQ(read.blob(0, 0).diffs, nullptr);
}

TEST_F(WeightsApi, ParsesV1LayersLegacyShapesAndDoubles) {
  // V1: name 4, blobs 6. Legacy shape: num, channels, height and width.
  const std::string blob = std::string("\x08\x01\x10\x01\x18\x01\x20\x02") +
                           field(8, bytesOf<double>({0.25, 3}));
  Weights weights =
      Weights::parse(field(2, field(4, "old") + field(6, blob)), "the bytes");
  ASSERT_EQ(weights.layers(), 1u);
  EXPECT_STREQ(weights.layer(0).name, "old");
  const brew_snapshot_blob read = weights.blob(0, 0);
  EXPECT_EQ(std::vector<std::int64_t>(read.dims, read.dims + read.ndim),
            (std::vector<std::int64_t>{1, 1, 1, 2}));
  EXPECT_EQ(valuesOf(read), (Floats{0.25f, 3}));

  Floats values(2);
  Weights net = Weights::ofNet("");
  net.addLayer(layerOf("old", "Bias"));
  net.addBlob({2}, values.data()); // a legacy shape fits by its count
  net.copyFrom(weights, "the bytes");
  EXPECT_EQ(values, (Floats{0.25f, 3}));
  EXPECT_TRUE(net.blob(0, 0).is_loaded);
}

TEST_F(WeightsApi, CopiesByNameOrNothing) {
  Floats a = {1, 2}, b = {3};
  Weights saved = Weights::ofNet(field(1, "n"));
  saved.addLayer(layerOf("a", "Scale"));
  saved.addBlob({2}, a.data());
  saved.addLayer(layerOf("only in the file", "Scale"));
  saved.addBlob({1}, b.data());
  saved.addLayer(layerOf("b", "Bias"));
  saved.addBlob({1}, b.data());
  saved.write(path("w.caffemodel"));
  const Weights file = Weights::read(path("w.caffemodel"));

  Floats toA(2), toB(2), toC = {7};
  Weights other = Weights::ofNet("");
  other.addLayer(layerOf("a", "Scale"));
  other.addBlob({2}, toA.data());
  other.addLayer(layerOf("b", "Bias"));
  other.addBlob({2}, toB.data());
  std::string message;
  EXPECT_EQ(statusOf([&] { other.copyFrom(file, "w"); }, &message),
            BREW_BAD_INPUT);
  EXPECT_EQ(message, "w: the weights do not match the net\n"
                     "  layer 'b' blob 0 is 1 there and 2 in the net\n"
                     "  are they of this net? (to learn a layer's parameters "
                     "from scratch, rename the layer)");
  EXPECT_EQ(toA, Floats(2));
  EXPECT_FALSE(other.blob(0, 0).is_loaded);

  Weights net = Weights::ofNet("");
  net.addLayer(layerOf("a", "Scale"));
  net.addBlob({2}, toA.data());
  net.addLayer(layerOf("c", "Bias"));
  net.addBlob({1}, toC.data());
  net.copyFrom(file, "w");
  EXPECT_EQ(toA, a);
  EXPECT_EQ(toC, Floats{7});
  EXPECT_TRUE(net.blob(0, 0).is_loaded);
  EXPECT_FALSE(net.blob(1, 0).is_loaded);

  // As in Caffe, a file without a common layer changes nothing.
  Weights unrelated = Weights::ofNet("");
  unrelated.addLayer(layerOf("c", "Bias"));
  unrelated.addBlob({1}, toC.data());
  unrelated.copyFrom(file, "w");
  EXPECT_EQ(toC, Floats{7});

  // The file has parameters for a layer that has none in the net.
  Weights changed = Weights::ofNet("");
  changed.addLayer(layerOf("a", "ReLU"));
  EXPECT_EQ(statusOf([&] { changed.copyFrom(file, "w"); }), BREW_BAD_INPUT);
}

TEST_F(WeightsApi, CopiesOtherShapesWithoutStrictDim) {
  Floats a = {1, 2, 3, 4};
  Weights saved = Weights::ofNet("");
  saved.addLayer(layerOf("a", "Scale"));
  saved.addBlob({4}, a.data());
  saved.write(path("w.caffemodel"));
  const Weights file = Weights::read(path("w.caffemodel"));
  Floats to(4);
  Weights strict = Weights::ofNet("");
  strict.addLayer(layerOf("a", "Scale"));
  strict.addBlob({2, 2}, to.data());
  EXPECT_EQ(statusOf([&] { strict.copyFrom(file, "w"); }), BREW_BAD_INPUT);
  Weights net = Weights::ofNet("");
  // strict_dim: false, which is field 1003.
  net.addLayer(layerOf("a", "Scale") + std::string("\xD8\x3E\0", 3));
  net.addBlob({2, 2}, to.data());
  net.copyFrom(file, "w");
  EXPECT_EQ(to, a);
}

TEST_F(WeightsApi, ConvertsBatchNormOfNvidia) {
  Floats mean = {2, 4}, variance = {6, 8}, factor = {2}, toMean(2),
         toVariance(2), toFactor(1), scale = {5, 5}, bias = {5, 5};
  Weights saved = Weights::ofNet("");
  saved.addLayer(layerOf("bn", "BatchNorm"));
  saved.addBlob({2}, mean.data());
  saved.addBlob({2}, variance.data());
  saved.addBlob({1}, factor.data());
  saved.write(path("w.caffemodel"));
  Weights net = Weights::ofNet("");
  net.addLayer(layerOf("bn", "BatchNorm"));
  net.addBlob({2}, toMean.data());
  net.addBlob({2}, toVariance.data());
  net.addBlob({1}, toFactor.data());
  net.addBlob({2}, scale.data());
  net.addBlob({2}, bias.data());
  net.copyFrom(Weights::read(path("w.caffemodel")), "w");
  EXPECT_EQ(toMean, (Floats{1, 2}));
  EXPECT_EQ(toVariance, (Floats{3, 4}));
  EXPECT_EQ(toFactor, Floats{1});
  EXPECT_EQ(scale, (Floats{5, 5}));
  EXPECT_FALSE(net.blob(0, 3).is_loaded);
}

TEST_F(WeightsApi, Hdf5OmitsSharedParameters) {
  Floats values = {1, 2}, diffs = {3, 4};
  Weights net = Weights::ofNet(field(1, "n"));
  net.addLayer(layerOf("owner", "Scale"));
  net.addBlob({2}, values.data(), diffs.data());
  net.addLayer(layerOf("sharer", "Scale"));
  net.addBlob({2}, values.data(), diffs.data(), /*isShared=*/true);
  net.write(path("w.h5"), BREW_HDF5);
  TensorFile file(path("w.h5"), BREW_READ);
  EXPECT_EQ(file.list(),
            (std::vector<std::string>{"/data/owner/0", "/diff/owner/0",
                                      "/diff/sharer/0"}));
  EXPECT_EQ(file.read("/diff/sharer/0"), diffs);

  values = {0, 0};
  net.copyFrom(Weights::read(path("w.h5")), "w");
  EXPECT_EQ(values, (Floats{1, 2}));
}

TEST_F(WeightsApi, SolverStates) {
  for (const brew_snapshot_format format : {BREW_BINARY_PROTO, BREW_HDF5}) {
    Floats first = {1, 2, 3, 4}, second = {5};
    auto rate = makeStruct<brew_rate_state>();
    rate.step = 3;
    rate.has_minimum_loss = 1;
    rate.minimum_loss = 0.5f;
    rate.last_event = 28;
    SolverState saved(30, "/elsewhere/w.caffemodel", rate);
    saved.addHistory("a/0", {2, 2}, first.data());
    saved.addHistory("b/0", {1}, second.data());
    saved.write(path("s"), format);

    SolverState file(path("s"));
    EXPECT_EQ(file.iteration(), 30);
    EXPECT_EQ(file.rate().step, 3);
    EXPECT_TRUE(file.rate().has_minimum_loss);
    EXPECT_EQ(file.rate().minimum_loss, 0.5f);
    EXPECT_EQ(file.rate().last_event, 28);
    ASSERT_EQ(file.tensors(), 2u);
    EXPECT_EQ(valuesOf(file.history(0)), first);

    EXPECT_EQ(statusOf([&] { file.findWeights(); }), BREW_UNAVAILABLE);
    std::ofstream(path("w.caffemodel")) << "weights";
    EXPECT_EQ(file.findWeights(), path("w.caffemodel")); // moved with the state
    std::filesystem::remove(path("w.caffemodel"));

    Floats toFirst(4), toSecond(1);
    SolverState target(0, "", makeStruct<brew_rate_state>());
    target.addHistory("a/0", {2, 2}, toFirst.data());
    std::string message;
    EXPECT_EQ(statusOf([&] { target.copyHistoryFrom(file); }, &message),
              BREW_BAD_INPUT);
    EXPECT_EQ(message, path("s") + ": the state has 2 history blobs; this net "
                                   "and solver have 1");
    target.addHistory("b/0", {1}, toSecond.data());
    target.copyHistoryFrom(file);
    EXPECT_EQ(toFirst, first);
    EXPECT_EQ(toSecond, second);

    SolverState wrong(0, "", makeStruct<brew_rate_state>());
    wrong.addHistory("a/0", {4}, toFirst.data());
    wrong.addHistory("b/0", {1}, toSecond.data());
    EXPECT_EQ(statusOf([&] { wrong.copyHistoryFrom(file); }, &message),
              BREW_BAD_INPUT);
    EXPECT_EQ(message, path("s") + ": the solver state does not fit the net\n"
                                   "  history 0 is 2x2 there and 4 for "
                                   "parameter a/0");
  }
}

TEST_F(WeightsApi, InvalidCallsAndFiles) {
  EXPECT_EQ(statusOf([&] { Weights::read(path("nowhere")); }),
            BREW_UNAVAILABLE);
  EXPECT_EQ(statusOf([&] { SolverState state(path("nowhere")); }),
            BREW_UNAVAILABLE);
  std::ofstream(path("garbage")) << "garbage";
  EXPECT_EQ(statusOf([&] { Weights::read(path("garbage")); }), BREW_BAD_INPUT);
  EXPECT_EQ(statusOf([&] { SolverState state(path("garbage")); }),
            BREW_BAD_INPUT);
  EXPECT_EQ(statusOf([&] { Weights::parse("garbage", "g"); }), BREW_BAD_INPUT);
  EXPECT_EQ(statusOf([&] { Weights::ofNet("garbage"); }), BREW_USAGE);

  Floats values = {1};
  Weights net = Weights::ofNet("");
  EXPECT_EQ(statusOf([&] { net.addBlob({1}, values.data()); }), BREW_USAGE);
  net.addLayer(layerOf("a", "Scale"));
  EXPECT_EQ(statusOf([&] { net.addBlob({1}, nullptr); }), BREW_USAGE);
  net.addBlob({1}, values.data());
  EXPECT_EQ(statusOf([&] { net.layer(1); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { net.blob(0, 1); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { net.copyFrom(net, "itself"); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { net.write(path("nowhere/w")); }), BREW_UNAVAILABLE);
  net.write(path("w"));
  Weights file = Weights::read(path("w"));
  EXPECT_EQ(statusOf([&] { file.write(path("w")); }), BREW_USAGE);
  EXPECT_EQ(statusOf([&] { file.addLayer(layerOf("b", "Bias")); }), BREW_USAGE);
}
