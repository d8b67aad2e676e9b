//===- CudnnDeviceTest.cpp - cuDNN's engines for an absent GPU ------------===//
//
// Since version 9.8 cuDNN lists and compiles engines for a device that is
// known only by its properties. These tests check without a GPU that cuDNN
// supports Brew's calls on an H100.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/cudnn/CudnnAdapter.h"
#include "runtime/cuda/cudnn/CudnnApi.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

using namespace brew::runtime::cuda;

namespace {

/// Properties of an H100 in the schema of cuDNN 9.8 to 9.19.
constexpr char kH100[] = R"({"schemaVersion": 4, "cudnnVersion": VERSION,
  "deviceName": "NVIDIA H100 80GB HBM3", "deviceVer": 900, "driverVer": 13000,
  "cudaDeviceId": 0, "pciDeviceId": 0, "multiProcessorCount": 132,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32,
  "warpSize": 32, "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "totalGlobalMem": 85014020096,
  "smClockRateKHz": 1980000, "memClockRateKHz": 2619000,
  "l2CacheSize": 52428800, "isTccDriver": 0, "supportCoopLaunch": 1})";

struct Precision {
  const char *name;
  int32_t type;
  BrewVendorMath math;
  bool channelsLast;
};
constexpr Precision kPrecisions[] = {
    {"f32", BREW_VENDOR_F32, BREW_VENDOR_STRICT, false},
    {"f32 channels last", BREW_VENDOR_F32, BREW_VENDOR_STRICT, true},
    {"tf32", BREW_VENDOR_F32, BREW_VENDOR_TF32, true},
    {"bf16", BREW_VENDOR_BF16, BREW_VENDOR_STRICT, true},
    {"f16", BREW_VENDOR_F16, BREW_VENDOR_STRICT, true}};

struct Shape {
  const char *name;
  std::int64_t channels, outputs, kernel, stride, pad, dilation, groups;
  std::int64_t padEndMinusPad =
      0; ///< padding after a dimension minus padding before it
};
constexpr Shape kShapes[] = {
    {"pictures", 3, 32, 5, 2, 0, 1, 1}, {"plain", 32, 64, 3, 1, 1, 1, 1},
    {"point", 64, 48, 1, 1, 0, 1, 1},   {"dilated", 16, 16, 3, 1, 2, 2, 1},
    {"groups", 32, 64, 3, 1, 1, 1, 2},  {"depthwise", 32, 32, 3, 2, 1, 1, 32}};

/// Returns a dense tensor. As in Brew, only tensors without depth can be
/// channels-last; tensors with a depth are in NCDHW order.
BrewVendorTensor tensor(const Precision &precision,
                        std::vector<std::int64_t> dims, bool channelsLast) {
  const auto rank = static_cast<int32_t>(dims.size());
  BrewVendorTensor result = {precision.type, rank, 16, {}, {}};
  std::int64_t next = 1;
  for (int d : rank == 5      ? std::vector<int>{4, 3, 2, 1, 0}
               : channelsLast ? std::vector<int>{1, 3, 2, 0}
                              : std::vector<int>{3, 2, 1, 0}) {
    const auto index = static_cast<std::size_t>(d);
    result.dims[d] = dims[index];
    result.strides[d] = next;
    next *= dims[index];
  }
  return result;
}

/// Returns a convolution over `dimensions` spatial dimensions. With one
/// dimension, planes have one row, as in the vendor calls of plans.
BrewVendorConvolution callOf(const Precision &precision, const Shape &shape,
                             BrewVendorDirection direction,
                             int dimensions = 2) {
  constexpr std::int64_t kImages = 16, kExtent = 28;
  const std::int64_t windowExtent = shape.dilation * (shape.kernel - 1) + 1,
                     extent = (kExtent + 2 * shape.pad + shape.padEndMinusPad -
                               windowExtent) /
                                  shape.stride +
                              1;
  auto dims = [&](std::int64_t first, std::int64_t second,
                  std::int64_t spatialExtent) {
    std::vector<std::int64_t> list = {first, second};
    if (dimensions == 1)
      list.push_back(1);
    list.insert(list.end(), static_cast<std::size_t>(dimensions),
                spatialExtent);
    return list;
  };
  BrewVendorConvolution call = {};
  call.direction = direction;
  call.math = precision.math;
  const bool isChannelsLast = precision.channelsLast && dimensions == 2;
  call.x =
      tensor(precision, dims(kImages, shape.channels, kExtent), isChannelsLast);
  // F32 weights keep Caffe's layout.
  call.w =
      tensor(precision,
             dims(shape.outputs, shape.channels / shape.groups, shape.kernel),
             isChannelsLast && precision.type != BREW_VENDOR_F32);
  call.y =
      tensor(precision, dims(kImages, shape.outputs, extent), isChannelsLast);
  call.b = {precision.type, 1, 16, {shape.outputs}, {1}};
  for (int i = 0; i < call.x.rank - 2; ++i) {
    call.pad[i] = shape.pad;
    call.pad_end[i] = shape.pad + shape.padEndMinusPad;
    call.stride[i] = shape.stride;
    call.dilation[i] = shape.dilation;
  }
  call.groups = shape.groups;
  return call;
}

class CudnnDevice : public testing::TestWithParam<Precision> {
protected:
  static void SetUpTestSuite() {
    try {
      // The JSON must name the version of the library.
      std::string properties = kH100;
      properties.replace(properties.find("VERSION"), 7,
                         std::to_string(cudnn::Api::open().cudnnGetVersion()));
      context = makeOfflineCudnnContext(properties, reason);
    } catch (const cudnn::Failure &failure) {
      reason = failure.what();
    }
  }
  static void TearDownTestSuite() {
    if (context)
      cudnnVendorTable().close(context);
    context = nullptr;
  }
  void SetUp() override {
    if (!context)
      GTEST_SKIP() << reason;
  }

  /// Returns the number of candidates, up to 3, that cuDNN can build. Fails the
  /// test if it can build no candidate.
  static int countUsable(const BrewVendorConvolution &description,
                         const std::string &name) {
    const BrewVendorTable &table = cudnnVendorTable();
    char message[BREW_VENDOR_MESSAGE_SIZE] = "";
    BrewVendorCall *call = nullptr;
    if (table.create_convolution(context, &description, std::uint64_t(1) << 30,
                                 &call, message) != 0) {
      ADD_FAILURE() << name << ": " << message;
      return 0;
    }
    int count = 0;
    for (int i = 0; i < table.candidates(call) && count < 3; ++i) {
      const std::uint64_t bytes = table.workspace(call, i);
      count += bytes != UINT64_MAX;
      // The name of a candidate begins with the name of its engine.
      EXPECT_EQ(
          std::string(table.describe(call, i)).rfind(table.engine(call, i), 0),
          0u);
      table.release(call, i);
      // A released candidate is rebuilt when needed.
      EXPECT_EQ(table.workspace(call, i), bytes);
    }
    EXPECT_GT(count, 0) << name << ": none of " << table.candidates(call);
    table.destroy(call);
    return count;
  }

  static BrewVendorContext *context;
  static std::string reason;
};
BrewVendorContext *CudnnDevice::context = nullptr;
std::string CudnnDevice::reason;

TEST_P(CudnnDevice, EveryDirectionHasAnEngine) {
  for (const Shape &shape : kShapes)
    for (auto direction : {BREW_VENDOR_FORWARD, BREW_VENDOR_BACKWARD_DATA,
                           BREW_VENDOR_BACKWARD_WEIGHTS})
      for (int accumulate : {0, 1})
        for (int deterministic : {0, 1}) {
          BrewVendorConvolution call = callOf(GetParam(), shape, direction);
          call.accumulate = accumulate;
          call.deterministic = deterministic;
          countUsable(call, std::string(shape.name) + " direction " +
                                std::to_string(direction) +
                                (accumulate ? " accumulate" : "") +
                                (deterministic ? " deterministic" : ""));
        }
}

TEST_P(CudnnDevice, CandidatesAreNamedByTheirKnobs) {
  const BrewVendorTable &table = cudnnVendorTable();
  const BrewVendorConvolution description =
      callOf(GetParam(), kShapes[1], BREW_VENDOR_FORWARD);
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  BrewVendorCall *call = nullptr;
  ASSERT_EQ(table.create_convolution(context, &description,
                                     std::uint64_t(1) << 30, &call, message),
            0)
      << message;
  std::set<std::string> names;
  bool anyKnobs = false;
  for (int i = 0; i < table.candidates(call); ++i) {
    const std::string name = table.describe(call, i);
    EXPECT_TRUE(names.insert(name).second) << name;
    anyKnobs |= name.find(" k") != std::string::npos;
  }
  EXPECT_TRUE(anyKnobs);
  table.destroy(call);
}

TEST_P(CudnnDevice, EveryEpilogueHasAnEngine) {
  for (const Shape &shape : {kShapes[1], kShapes[5]})
    for (int bias : {0, 1})
      for (float slope : {0.0f, 0.1f}) {
        BrewVendorConvolution call =
            callOf(GetParam(), shape, BREW_VENDOR_FORWARD);
        call.has_bias = bias;
        call.relu = 1;
        call.negative_slope = slope;
        countUsable(call, std::string(shape.name) + (bias ? " bias" : "") +
                              " slope " + std::to_string(slope));
      }
}

TEST_P(CudnnDevice, OneAndThreeDimensionsHaveEngines) {
  for (int dimensions : {1, 3})
    for (const Shape &shape : {kShapes[0], kShapes[1], kShapes[4]})
      for (auto direction : {BREW_VENDOR_FORWARD, BREW_VENDOR_BACKWARD_DATA,
                             BREW_VENDOR_BACKWARD_WEIGHTS})
        for (int deterministic : {0, 1}) {
          BrewVendorConvolution call =
              callOf(GetParam(), shape, direction, dimensions);
          if (dimensions == 1) { // no padding around the single row
            call.pad[0] = call.pad_end[0] = 0;
            call.stride[0] = call.dilation[0] = 1;
          }
          call.deterministic = deterministic;
          call.has_bias = direction != BREW_VENDOR_BACKWARD_DATA;
          call.relu = direction == BREW_VENDOR_FORWARD;
          countUsable(call, std::to_string(dimensions) + " dimensions, " +
                                shape.name + " direction " +
                                std::to_string(direction) +
                                (deterministic ? " deterministic" : ""));
        }
}

/// More or less padding after each dimension than before it, as pad_type and
/// pad_l cause.
TEST_P(CudnnDevice, UnevenPaddingHasEngines) {
  for (Shape shape :
       {kShapes[0], kShapes[1], kShapes[2], kShapes[3], kShapes[4], kShapes[5]})
    for (std::int64_t morePadBefore : {0, 1})
      for (auto direction : {BREW_VENDOR_FORWARD, BREW_VENDOR_BACKWARD_DATA,
                             BREW_VENDOR_BACKWARD_WEIGHTS})
        for (int deterministic : {0, 1}) {
          shape.padEndMinusPad = morePadBefore ? -shape.pad : 1;
          shape.pad += morePadBefore;
          BrewVendorConvolution call = callOf(GetParam(), shape, direction);
          shape.pad -= morePadBefore;
          call.deterministic = deterministic;
          call.has_bias = direction != BREW_VENDOR_BACKWARD_DATA;
          call.relu = direction == BREW_VENDOR_FORWARD;
          countUsable(call, std::string(shape.name) +
                                (morePadBefore ? " before" : "") +
                                " direction " + std::to_string(direction) +
                                (deterministic ? " deterministic" : ""));
        }
}

/// Slices of concatenated blobs have larger strides than dense tensors.
TEST_P(CudnnDevice, SlicesHaveEngines) {
  if (!GetParam().channelsLast)
    GTEST_SKIP() << "only channels-last slices need other engines";
  auto slice = [](BrewVendorTensor &tensor) {
    constexpr std::int64_t kOtherChannels = 96;
    const std::int64_t channels = tensor.dims[1];
    for (int d : {0, 2, 3})
      tensor.strides[d] =
          tensor.strides[d] / channels * (channels + kOtherChannels);
  };
  for (const Shape &shape : {kShapes[1], kShapes[2], kShapes[3], kShapes[4]})
    for (auto direction : {BREW_VENDOR_FORWARD, BREW_VENDOR_BACKWARD_DATA,
                           BREW_VENDOR_BACKWARD_WEIGHTS})
      for (int slicedOperands : {1, 2, 3}) // bit 0: x, bit 1: y
        for (int deterministic : {0, 1}) {
          BrewVendorConvolution call = callOf(GetParam(), shape, direction);
          if (slicedOperands & 1)
            slice(call.x);
          if (slicedOperands & 2)
            slice(call.y);
          call.deterministic = deterministic;
          call.has_bias = direction != BREW_VENDOR_BACKWARD_DATA;
          call.relu = direction == BREW_VENDOR_FORWARD;
          countUsable(call, std::string(shape.name) + " direction " +
                                std::to_string(direction) + " slices " +
                                std::to_string(slicedOperands) +
                                (deterministic ? " deterministic" : ""));
        }
}

INSTANTIATE_TEST_SUITE_P(OnH100, CudnnDevice, testing::ValuesIn(kPrecisions),
                         [](const testing::TestParamInfo<Precision> &info) {
                           std::string name = info.param.name;
                           for (char &letter : name)
                             if (letter == ' ')
                               letter = '_';
                           return name;
                         });

} // namespace
