//===- CudnnSharingTest.cpp - Equal calls share graphs of cuDNN -----------===//
//
// Uses the fake cuDNN of FakeCudnnBackend.cpp, which counts descriptors.
//
//===----------------------------------------------------------------------===//
#include "FakeCudnnBackend.h"
#include "runtime/cuda/cudnn/CudnnAdapter.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

using namespace brew::runtime::cuda;
using namespace brew::runtime::cuda::cudnn;

namespace {

BrewVendorTensor tensor(std::vector<std::int64_t> dims) {
  BrewVendorTensor result = {};
  result.type = BREW_VENDOR_F32;
  result.rank = static_cast<int32_t>(dims.size());
  result.alignment = 256;
  std::int64_t next = 1;
  for (std::size_t d = dims.size(); d-- > 0; next *= dims[d]) {
    result.dims[d] = dims[d];
    result.strides[d] = next;
  }
  return result;
}

BrewVendorConvolution convolution() {
  BrewVendorConvolution call = {};
  call.direction = BREW_VENDOR_FORWARD;
  call.math = BREW_VENDOR_STRICT;
  call.x = tensor({8, 4, 10, 10});
  call.w = tensor({6, 4, 3, 3});
  call.b = tensor({6});
  call.y = tensor({8, 6, 10, 10});
  for (int i = 0; i < 2; ++i)
    call.pad[i] = call.pad_end[i] = call.stride[i] = call.dilation[i] = 1;
  call.groups = 1;
  return call;
}

class CudnnSharing : public testing::Test {
protected:
  void SetUp() override {
    char message[BREW_VENDOR_MESSAGE_SIZE] = "";
    ASSERT_EQ(table.open(&context, message), 0) << message;
  }
  void TearDown() override {
    for (BrewVendorCall *call : calls)
      table.destroy(call);
    table.close(context);
  }
  BrewVendorCall *create(const BrewVendorConvolution &description) {
    char message[BREW_VENDOR_MESSAGE_SIZE] = "";
    BrewVendorCall *call = nullptr;
    EXPECT_EQ(table.create_convolution(context, &description, 1 << 20, &call,
                                       message),
              0)
        << message;
    calls.push_back(call);
    return call;
  }
  /// Creates a call and returns the number of heuristics that it queried.
  int createAndCountQueries(const BrewVendorConvolution &description) {
    const int before = fakeCudnnCreated(EngineHeuristicsDescriptor);
    create(description);
    return fakeCudnnCreated(EngineHeuristicsDescriptor) - before;
  }

  const BrewVendorTable &table = cudnnVendorTable();
  BrewVendorContext *context = nullptr;
  std::vector<BrewVendorCall *> calls;
};

constexpr int kModes = 3; // heuristic modes queried for each graph

TEST_F(CudnnSharing, EqualCallsQueryHeuristicsOnce) {
  BrewVendorConvolution call = convolution();
  EXPECT_EQ(createAndCountQueries(call), kModes);
  EXPECT_EQ(createAndCountQueries(call), 0);
  // Engines ignore alignments above 16 bytes.
  call.w.alignment = 64;
  EXPECT_EQ(createAndCountQueries(call), 0);
  // A bias and a ReLU need a fused graph; the bare graph is cached.
  call.has_bias = call.relu = 1;
  EXPECT_EQ(createAndCountQueries(call), kModes);
  EXPECT_EQ(createAndCountQueries(call), 0);
}

TEST_F(CudnnSharing, DifferentCallsQueryHeuristicsAgain) {
  BrewVendorConvolution plain = convolution();
  plain.has_bias = plain.relu = 1;
  EXPECT_EQ(createAndCountQueries(plain), 2 * kModes);
  const std::vector<void (*)(BrewVendorConvolution &)> changes = {
      [](BrewVendorConvolution &c) { c.direction = BREW_VENDOR_BACKWARD_DATA; },
      [](BrewVendorConvolution &c) { c.math = BREW_VENDOR_TF32; },
      [](BrewVendorConvolution &c) { c.deterministic = 1; },
      [](BrewVendorConvolution &c) { c.x.type = BREW_VENDOR_BF16; },
      [](BrewVendorConvolution &c) { c.x.alignment = 4; },
      [](BrewVendorConvolution &c) { c.x.dims[0] = c.y.dims[0] = 16; },
      [](BrewVendorConvolution &c) { c.y.strides[0] = 900; },
      [](BrewVendorConvolution &c) { c.pad_end[1] = 2; },
      [](BrewVendorConvolution &c) { c.stride[0] = 2; },
      [](BrewVendorConvolution &c) { c.dilation[1] = 2; },
      [](BrewVendorConvolution &c) { c.groups = 2; },
      [](BrewVendorConvolution &c) { c.accumulate = 1; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    BrewVendorConvolution call = plain;
    changes[i](call);
    EXPECT_GE(createAndCountQueries(call), kModes) << i;
    EXPECT_EQ(createAndCountQueries(call), 0) << i;
  }
  // These are part of the fused graph only.
  BrewVendorConvolution call = plain;
  call.negative_slope = 1e-9f;
  EXPECT_EQ(createAndCountQueries(call), kModes);
  call.negative_slope = 0;
  call.relu = 0;
  EXPECT_EQ(createAndCountQueries(call), kModes);
}

TEST_F(CudnnSharing, EqualCallsCompileEnginesOnce) {
  BrewVendorCall *first = create(convolution()),
                 *second = create(convolution());
  ASSERT_EQ(table.candidates(first), 2);
  EXPECT_STREQ(table.describe(first, 1), "engine 1 k0=0 k1=1");
  EXPECT_STREQ(table.engine(second, 1), "engine 1");
  const int before = fakeCudnnFinalized(ExecutionPlanDescriptor);
  EXPECT_EQ(table.workspace(first, 1), 64u);
  EXPECT_EQ(table.workspace(second, 1), 64u);
  EXPECT_EQ(fakeCudnnFinalized(ExecutionPlanDescriptor), before + 1);
  // After release(), the engine is compiled again for the second call.
  table.release(first, 1);
  char message[BREW_VENDOR_MESSAGE_SIZE] = "";
  EXPECT_EQ(table.run(second, 1, nullptr, nullptr, nullptr, nullptr, nullptr,
                      nullptr, message),
            0)
      << message;
  EXPECT_EQ(fakeCudnnFinalized(ExecutionPlanDescriptor), before + 2);
}

TEST_F(CudnnSharing, EnginesOfAGraphShareKnobDescriptors) {
  const int before = fakeCudnnCreated(KnobChoiceDescriptor);
  create(convolution());
  // There is one descriptor per kind of knob, for any number of engines.
  EXPECT_EQ(fakeCudnnCreated(KnobChoiceDescriptor) - before, 44);
}

} // namespace
