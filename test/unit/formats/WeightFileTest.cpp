//===- WeightFileTest.cpp -------------------------------------------------===//
#include "formats/WeightFile.h"
#include "formats/ProtoFile.h"
#include "formats/caffe.pb.h"
#include "test/common/TestFiles.h"

#include <cmath>
#include <csignal>
#include <numeric>
#include <sys/resource.h>

using namespace brew;
using namespace brew::formats;
using namespace brew::test;

namespace {

Blob filledBlob(std::vector<int64_t> dims) {
  Blob blob;
  blob.dims = dims;
  blob.floats.resize(static_cast<size_t>(elementCount(dims, "test")));
  std::iota(blob.floats.begin(), blob.floats.end(), 0.5f);
  return blob;
}

Weights smallNet() {
  Weights weights;
  weights.netName = "Net";
  weights.layers.push_back({"data", "Data", {}, {"data", "label"}, {}});
  weights.layers.push_back({"conv",
                            "Convolution",
                            {"data"},
                            {"conv"},
                            {filledBlob({4, 2, 3, 3}), filledBlob({4})}});
  weights.layers.push_back(
      {"scale", "Scale", {"conv"}, {"s"}, {filledBlob({})}});
  Blob doubles;
  doubles.dims = {3};
  doubles.doubles = {1.0 / 3, 2, 3};
  weights.layers.push_back({"ip", "InnerProduct", {"s"}, {"ip"}, {doubles}});
  return weights;
}

void expectEqual(const Weights &a, const Weights &b) {
  EXPECT_EQ(a.netName, b.netName);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].name, b.layers[i].name);
    EXPECT_EQ(a.layers[i].type, b.layers[i].type);
    EXPECT_EQ(a.layers[i].bottoms, b.layers[i].bottoms);
    EXPECT_EQ(a.layers[i].tops, b.layers[i].tops);
    ASSERT_EQ(a.layers[i].blobs.size(), b.layers[i].blobs.size());
    for (size_t j = 0; j < a.layers[i].blobs.size(); ++j) {
      EXPECT_EQ(a.layers[i].blobs[j].dims, b.layers[i].blobs[j].dims);
      EXPECT_EQ(a.layers[i].blobs[j].floats, b.layers[i].blobs[j].floats);
      EXPECT_EQ(a.layers[i].blobs[j].doubles, b.layers[i].blobs[j].doubles);
    }
  }
}

TEST(WeightFile, RoundTrips) {
  TempFolder folder;
  writeWeights(folder / "w.caffemodel", smallNet());
  expectEqual(readWeights(folder / "w.caffemodel"), smallNet());
}

// Brew encodes the file without protobuf; protobuf must produce the same bytes.
TEST(WeightFile, BytesEqualProtobufs) {
  TempFolder folder;
  writeWeights(folder / "w.caffemodel", smallNet());
  caffe::NetParameter net;
  net.set_name("Net");
  for (const WeightLayer &from : smallNet().layers) {
    caffe::LayerParameter *layer = net.add_layer();
    layer->set_name(from.name);
    layer->set_type(from.type);
    for (const std::string &bottom : from.bottoms)
      layer->add_bottom(bottom);
    for (const std::string &top : from.tops)
      layer->add_top(top);
    for (const Blob &blob : from.blobs)
      fillBlobProto(blob, *layer->add_blobs());
  }
  EXPECT_EQ(readBytes(folder / "w.caffemodel"), net.SerializeAsString());
}

// Gradients (`diff`) lie between values and shape, in the order of their field
// numbers.
TEST(WeightFile, BytesWithGradientsEqualProtobufs) {
  TempFolder folder;
  Weights weights = smallNet();
  caffe::NetParameter net;
  net.set_name("Net");
  for (WeightLayer &layer : weights.layers) {
    caffe::LayerParameter *to = net.add_layer();
    to->set_name(layer.name);
    to->set_type(layer.type);
    for (const std::string &bottom : layer.bottoms)
      to->add_bottom(bottom);
    for (const std::string &top : layer.tops)
      to->add_top(top);
    for (const Blob &blob : layer.blobs) {
      layer.diffs.push_back(blob);
      for (float &value : layer.diffs.back().floats)
        value = -value;
      for (double &value : layer.diffs.back().doubles)
        value = -value;
      caffe::BlobProto *proto = to->add_blobs();
      fillBlobProto(blob, *proto);
      for (float value : blob.floats)
        proto->add_diff(-value);
      for (double value : blob.doubles)
        proto->add_double_diff(-value);
    }
  }
  writeWeights(folder / "w.caffemodel", weights);
  EXPECT_EQ(readBytes(folder / "w.caffemodel"), net.SerializeAsString());
}

TEST(WeightFile, ReadsRawValues) {
  TempFolder folder;
  caffe::NetParameter net;
  caffe::LayerParameter *layer = net.add_layer();
  layer->set_name("conv");
  auto add = [&](caffe::BlobProto::RawType type, std::string bytes) {
    caffe::BlobProto *blob = layer->add_blobs();
    blob->mutable_shape()->add_dim(2);
    blob->set_raw_data_type(type);
    blob->set_raw_data(std::move(bytes));
  };
  const double doubles[] = {0.1, -2};
  const float floats[] = {0.25f, 3};
  const uint16_t halves[] = {0x3c00, 0xc100}; // 1, -2.5
  add(caffe::BlobProto::DOUBLE, {reinterpret_cast<const char *>(doubles), 16});
  add(caffe::BlobProto::FLOAT, {reinterpret_cast<const char *>(floats), 8});
  add(caffe::BlobProto::FLOAT16, {reinterpret_cast<const char *>(halves), 4});
  writeProtoFile(folder / "w", net);
  const Weights weights = readWeights(folder / "w");
  const std::vector<Blob> &blobs = weights.layers[0].blobs;
  ASSERT_EQ(blobs.size(), 3u);
  EXPECT_EQ(blobs[0].doubles, (std::vector<double>{0.1, -2}));
  EXPECT_EQ(blobs[1].floats, (std::vector<float>{0.25f, 3}));
  EXPECT_EQ(blobs[2].floats, (std::vector<float>{1, -2.5f}));

  layer->mutable_blobs(2)->mutable_raw_data()->pop_back();
  writeProtoFile(folder / "w", net);
  expectError(ExitStatus::BadInput, "needs 2 values of 2 bytes, found 3 bytes",
              [&] { readWeights(folder / "w"); });
  layer->mutable_blobs(2)->set_raw_data_type(caffe::BlobProto::INT);
  writeProtoFile(folder / "w", net);
  expectError(ExitStatus::BadInput, "blob 2: raw_data of type INT",
              [&] { readWeights(folder / "w"); });
  layer->mutable_blobs(2)->clear_raw_data_type();
  writeProtoFile(folder / "w", net);
  expectError(ExitStatus::BadInput, "blob 2: raw_data of no type",
              [&] { readWeights(folder / "w"); });
}

TEST(WeightFile, ConvertsHalfPrecisionNumbers) {
  EXPECT_EQ(halfToFloat(0x0000), 0.0f);
  EXPECT_TRUE(std::signbit(halfToFloat(0x8000)));
  EXPECT_EQ(halfToFloat(0x0001), 0x1p-24f); // smallest subnormal
  EXPECT_EQ(halfToFloat(0x03ff), 1023 * 0x1p-24f);
  EXPECT_EQ(halfToFloat(0x0400), 0x1p-14f); // smallest normal
  EXPECT_EQ(halfToFloat(0x3555), 0x1.554p-2f);
  EXPECT_EQ(halfToFloat(0x7bff), 65504.0f); // largest
  EXPECT_EQ(halfToFloat(0xfc00), -HUGE_VALF);
  EXPECT_TRUE(std::isnan(halfToFloat(0x7e00)));
}

TEST(WeightFile, ReadsCaffesFile) {
  Weights weights =
      readWeights(referencePath("solvers/sgd_fixed/init.caffemodel"));
  EXPECT_EQ(weights.netName, "SolverNet");
  const WeightLayer *conv = nullptr;
  for (const WeightLayer &layer : weights.layers)
    if (layer.name == "conv")
      conv = &layer;
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->type, "Convolution");
  EXPECT_EQ(conv->bottoms, std::vector<std::string>{"data"});
  ASSERT_EQ(conv->blobs.size(), 2u);
  EXPECT_EQ(conv->blobs[0].dims, (std::vector<int64_t>{4, 2, 3, 3}));
  EXPECT_FALSE(conv->blobs[0].legacyShape);
  // The net fills biases with the constant 0.1.
  EXPECT_EQ(conv->blobs[1].floats, std::vector<float>(4, 0.1f));
}

TEST(WeightFile, ReadsOlderLayersAndShapes) {
  TempFolder folder;
  caffe::NetParameter net;
  caffe::V1LayerParameter *v1 = net.add_layers();
  v1->set_name("fc");
  v1->set_type(caffe::V1LayerParameter::INNER_PRODUCT);
  caffe::BlobProto *blob = v1->add_blobs();
  blob->set_num(1);
  blob->set_channels(1);
  blob->set_height(2);
  blob->set_width(3);
  for (int i = 0; i < 6; ++i)
    blob->add_data(static_cast<float>(i));
  caffe::V0LayerParameter *v0 = net.add_layers()->mutable_layer();
  v0->set_name("old");
  v0->set_type("conv");
  v0->add_blobs()->add_double_data(7);
  writeProtoFile(folder / "v1.caffemodel", net);

  Weights weights = readWeights(folder / "v1.caffemodel");
  ASSERT_EQ(weights.layers.size(), 2u);
  EXPECT_EQ(weights.layers[0].type, "InnerProduct");
  EXPECT_EQ(weights.layers[0].blobs[0].dims,
            (std::vector<int64_t>{1, 1, 2, 3}));
  EXPECT_TRUE(weights.layers[0].blobs[0].legacyShape);
  EXPECT_EQ(weights.layers[1].name, "old");
  EXPECT_EQ(weights.layers[1].type, "conv");
  EXPECT_EQ(weights.layers[1].blobs[0].toFloats(), std::vector<float>{7});
}

// The file exceeds protobuf's former default limit of 64 MB.
TEST(WeightFile, RoundTripsLargeFile) {
  TempFolder folder;
  Weights weights;
  weights.layers.push_back(
      {"fc", "InnerProduct", {}, {}, {filledBlob({5000, 4000})}});
  writeWeights(folder / "w.caffemodel", weights);
  EXPECT_GT(std::filesystem::file_size(folder / "w.caffemodel"), 80000000u);
  Weights reread = readWeights(folder / "w.caffemodel");
  EXPECT_EQ(reread.layers[0].blobs[0].floats,
            weights.layers[0].blobs[0].floats);
}

TEST(WeightFile, ReportsMissingFileAndFolder) {
  expectError(ExitStatus::Unavailable, "caffemodel not found",
              [] { readWeights("/nonexistent/w.caffemodel"); });
  expectError(ExitStatus::BadInput, "is a folder", [] { readWeights("/"); });
}

TEST(WeightFile, RefusesEmptyAndForeignFiles) {
  TempFolder folder;
  writeBytes(folder / "w", "");
  expectError(ExitStatus::BadInput, "damaged or truncated caffemodel",
              [&] { readWeights(folder / "w"); });
  writeBytes(folder / "w", "name: \"LeNet\"\nlayer { name: \"conv1\" }\n");
  expectError(ExitStatus::BadInput, "is the prototxt of a net, not weights",
              [&] { readWeights(folder / "w"); });
  writeBytes(folder / "w", std::string("BREWPLAN\2\0\0\0", 12));
  expectError(ExitStatus::BadInput,
              "is a compiled plan, not weights; weights are in",
              [&] { readWeights(folder / "w"); });
}

TEST(WeightFile, OtherHdf5FilesAreRefused) {
  expectError(ExitStatus::BadInput, "has no group 'data'",
              [] { readWeights(referencePath("solvers/sgd_fixed/data.h5")); });
}

TEST(WeightFile, RefusesValuesThatDoNotFitTheShape) {
  TempFolder folder;
  caffe::NetParameter net;
  caffe::LayerParameter *layer = net.add_layer();
  layer->set_name("conv");
  layer->add_blobs()->mutable_shape()->add_dim(3);
  layer->mutable_blobs(0)->add_data(1);
  writeProtoFile(folder / "w", net);
  expectError(ExitStatus::BadInput,
              "layer 'conv', blob 0: damaged: shape 3 needs 3 values, found 1",
              [&] { readWeights(folder / "w"); });
  layer->mutable_blobs(0)->mutable_shape()->set_dim(0, -1);
  writeProtoFile(folder / "w", net);
  expectError(ExitStatus::BadInput, "negative extent",
              [&] { readWeights(folder / "w"); });
  for (int i = 0; i < 3; ++i)
    layer->mutable_blobs(0)->mutable_shape()->add_dim(int64_t(1) << 40);
  layer->mutable_blobs(0)->mutable_shape()->set_dim(0, 1);
  writeProtoFile(folder / "w", net);
  expectError(ExitStatus::BadInput, "is too large",
              [&] { readWeights(folder / "w"); });
}

// A file cut between two top-level fields is a smaller net; a file cut anywhere
// else must be rejected.
TEST(WeightFile, ReadsOrRefusesFileTruncatedAtAnyLength) {
  TempFolder folder;
  std::string bytes =
      readBytes(referencePath("solvers/sgd_fixed/init.caffemodel"));
  size_t layers =
      readWeights(referencePath("solvers/sgd_fixed/init.caffemodel"))
          .layers.size();
  size_t accepted = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    writeBytes(folder / "w", bytes.substr(0, length));
    bool refused = refusedAsBadInput(
        [&] { EXPECT_LT(readWeights(folder / "w").layers.size(), layers); });
    accepted += refused ? 0 : 1;
  }
  EXPECT_LE(accepted, layers);
}

TEST(WeightFile, ReadsOrRefusesFlippedBits) {
  TempFolder folder;
  std::string bytes =
      readBytes(referencePath("solvers/sgd_fixed/init.caffemodel"));
  size_t refused = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    writeBytes(folder / "w", damaged);
    refused += refusedAsBadInput([&] { readWeights(folder / "w"); });
  }
  EXPECT_GT(refused, 0u);
}

TEST(WeightFile, FullDiskKeepsThePreviousFile) {
  TempFolder folder;
  writeWeights(folder / "w", smallNet());
  Weights large;
  large.layers.push_back(
      {"fc", "InnerProduct", {}, {}, {filledBlob({1000, 1000})}});
  auto previousHandler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit previous, limit;
  getrlimit(RLIMIT_FSIZE, &previous);
  limit = previous;
  limit.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  expectError(ExitStatus::Unavailable, "cannot write",
              [&] { writeWeights(folder / "w", large); });
  setrlimit(RLIMIT_FSIZE, &previous);
  std::signal(SIGXFSZ, previousHandler);
  expectEqual(readWeights(folder / "w"), smallNet());
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WeightFile, ReadsBlobsOfC3D) {
  // C3D 1.0: num, channels, length, height, width, data.
  const std::string extents("\x08\x01\x10\x01\x18\x01\x20\x01\x28\x02", 10);
  const float values[] = {5, 6};
  const std::string data =
      "\x32\x08" + std::string(reinterpret_cast<const char *>(values), 8);
  caffe::BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(extents + data));
  const Blob blob = takeBlob(proto, "w");
  EXPECT_TRUE(blob.legacyShape);
  EXPECT_EQ(blob.dims, (std::vector<int64_t>{1, 1, 1, 1, 2}));
  EXPECT_EQ(blob.floats, (std::vector<float>{5, 6}));
  ASSERT_TRUE(proto.ParseFromString(extents + data.substr(0, 1) + '\x04' +
                                    data.substr(2, 4)));
  expectError(ExitStatus::BadInput,
              "w: damaged: shape 1x1x1x1x2 needs 2 values, found 1",
              [&] { takeBlob(proto, "w"); });
}

TEST(WeightFile, RoundTripsRecordedLeNet) {
  std::string path = sharedPath("golden/lenet_mnist/init.caffemodel");
  SKIP_WITHOUT(path);
  Weights weights = readWeights(path);
  EXPECT_EQ(weights.netName, "LeNet");
  TempFolder folder;
  writeWeights(folder / "w", weights);
  expectEqual(readWeights(folder / "w"), weights);
}

} // namespace
