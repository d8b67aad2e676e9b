//===- CudnnEpilogueTest.cpp - Epilogues with fake cuDNN functions --------===//
//
// The fake functions compute on the host as documented by cuDNN.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/cudnn/CudnnEpilogue.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

using namespace brew::runtime::cuda;
using namespace brew::runtime::cuda::cudnn;

namespace {

int liveDescriptors = 0;

struct Tensor {
  int type = -1, dims[4] = {}, strides[4] = {};
};

template <typename T> int createDescriptor(void **descriptor) {
  *descriptor = new T();
  ++liveDescriptors;
  return Success;
}
template <typename T> int destroyDescriptor(void *descriptor) {
  delete static_cast<T *>(descriptor);
  --liveDescriptors;
  return Success;
}

/// Calls `visit` with the offset and channel of each element.
template <typename Visit> void forEach(const Tensor &t, Visit visit) {
  for (int n = 0; n < t.dims[0]; ++n)
    for (int c = 0; c < t.dims[1]; ++c)
      for (int h = 0; h < t.dims[2]; ++h)
        for (int w = 0; w < t.dims[3]; ++w)
          visit(n * t.strides[0] + c * t.strides[1] + h * t.strides[2] +
                    w * t.strides[3],
                c);
}

float scale(const void *factor) { return *static_cast<const float *>(factor); }

Api fakeApi() {
  Api api;
  api.cudnnGetErrorString = [](int) { return "CUDNN_STATUS_OTHER"; };
  api.cudnnGetLastErrorString = [](char *, std::size_t) {};
  api.cudnnCreateTensorDescriptor = createDescriptor<Tensor>;
  api.cudnnDestroyTensorDescriptor = destroyDescriptor<Tensor>;
  api.cudnnSetTensorNdDescriptor = [](LegacyTensor descriptor, int type,
                                      int rank, const int *dims,
                                      const int *strides) {
    auto *tensor = static_cast<Tensor *>(descriptor);
    tensor->type = type;
    std::copy(dims, dims + rank, tensor->dims);
    std::copy(strides, strides + rank, tensor->strides);
    return int(Success);
  };
  api.cudnnCreateActivationDescriptor = createDescriptor<int>;
  api.cudnnDestroyActivationDescriptor = destroyDescriptor<int>;
  api.cudnnSetActivationDescriptor = [](LegacyActivation, int mode, int,
                                        double) {
    return mode == ActivationRelu ? int(Success) : 1;
  };
  api.cudnnCreateOpTensorDescriptor = createDescriptor<int>;
  api.cudnnDestroyOpTensorDescriptor = destroyDescriptor<int>;
  api.cudnnSetOpTensorDescriptor = [](LegacyOpTensor descriptor, int operation,
                                      int, int) {
    *static_cast<int *>(descriptor) = operation;
    return int(Success);
  };
  api.cudnnAddTensor = [](Handle, const void *alpha, LegacyTensor, // b
                          const void *b, const void *beta, LegacyTensor to,
                          void *y) {
    auto *values = static_cast<float *>(y);
    forEach(*static_cast<Tensor *>(to), [&](int i, int channel) {
      values[i] = scale(alpha) * static_cast<const float *>(b)[channel] +
                  scale(beta) * values[i];
    });
    return int(Success);
  };
  api.cudnnActivationForward = [](Handle, LegacyActivation, const void *alpha,
                                  LegacyTensor, const void *x, const void *beta,
                                  LegacyTensor to, void *y) {
    auto *values = static_cast<float *>(y);
    forEach(*static_cast<Tensor *>(to), [&](int i, int) {
      const float from = static_cast<const float *>(x)[i];
      values[i] = scale(alpha) * std::max(from, 0.0f) + scale(beta) * values[i];
    });
    return int(Success);
  };
  api.cudnnOpTensor = [](Handle, LegacyOpTensor operation, const void *alpha1,
                         LegacyTensor, const void *a, const void *alpha2,
                         LegacyTensor, const void *b, const void *beta,
                         LegacyTensor to, void *c) {
    auto *values = static_cast<float *>(c);
    forEach(*static_cast<Tensor *>(to), [&](int i, int) {
      const float left = scale(alpha1) * static_cast<const float *>(a)[i],
                  right = scale(alpha2) * static_cast<const float *>(b)[i];
      values[i] = (*static_cast<int *>(operation) == OpTensorMax
                       ? std::max(left, right)
                       : std::min(left, right)) +
                  scale(beta) * values[i];
    });
    return int(Success);
  };
  api.cudnnConvolutionBackwardBias =
      [](Handle, const void *alpha, LegacyTensor from, const void *y,
         const void *beta, LegacyTensor to, void *b) {
        auto *sums = static_cast<float *>(b);
        for (int c = 0; c < static_cast<Tensor *>(to)->dims[1]; ++c)
          sums[c] *= scale(beta);
        forEach(*static_cast<Tensor *>(from), [&](int i, int channel) {
          sums[channel] += scale(alpha) * static_cast<const float *>(y)[i];
        });
        return int(Success);
      };
  return api;
}

/// Returns a call whose y has the dimensions [2,3,2,2], channels last.
BrewVendorConvolution callOf(BrewVendorDirection direction) {
  BrewVendorConvolution call = {};
  call.direction = direction;
  call.has_bias = 1;
  call.y = {BREW_VENDOR_F32, 4, 16, {2, 3, 2, 2}, {12, 1, 6, 3}};
  call.b = {BREW_VENDOR_F32, 1, 16, {3}, {1}};
  return call;
}

TEST(CudnnEpilogue, AddsTheBiasAndRectifies) {
  const Api api = fakeApi();
  for (int bias : {0, 1})
    for (float slope : {-1.0f, 0.0f, 0.25f, 2.0f}) { // below 0: no ReLU
      BrewVendorConvolution call = callOf(BREW_VENDOR_FORWARD);
      call.has_bias = bias;
      call.relu = slope >= 0;
      call.negative_slope = call.relu ? slope : 0;
      std::vector<float> y(24), b = {1, -2, 0.5f}, expected(24);
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = static_cast<float>(i) - 11;
        expected[i] = y[i] + (bias ? b[i % 3] : 0);
        if (call.relu && expected[i] < 0)
          expected[i] *= slope;
      }
      Epilogue(api, call).run(nullptr, b.data(), y.data());
      EXPECT_EQ(y, expected) << bias << " " << slope;
    }
  EXPECT_EQ(liveDescriptors, 0);
}

TEST(CudnnEpilogue, SumsTheGradientOfTheBias) {
  const Api api = fakeApi();
  for (int accumulate : {0, 1}) {
    BrewVendorConvolution call = callOf(BREW_VENDOR_BACKWARD_WEIGHTS);
    call.accumulate = accumulate;
    std::vector<float> y(24, 1), b = {100, 200, 300};
    Epilogue(api, call).run(nullptr, b.data(), y.data());
    EXPECT_EQ(b, accumulate ? (std::vector<float>{108, 208, 308})
                            : (std::vector<float>{8, 8, 8}));
  }
}

TEST(CudnnEpilogue, LeavesGradientsOfDataUnchanged) {
  const Api api = fakeApi();
  BrewVendorConvolution call = callOf(BREW_VENDOR_BACKWARD_DATA);
  call.has_bias = 0;
  std::vector<float> y(24, -1), before = y;
  Epilogue(api, call).run(nullptr, nullptr, y.data());
  EXPECT_EQ(y, before);
}

TEST(CudnnEpilogue, FailedConstructionDestroysDescriptors) {
  Api api = fakeApi();
  api.cudnnSetActivationDescriptor = [](LegacyActivation, int, int, double) {
    return 1;
  };
  BrewVendorConvolution call = callOf(BREW_VENDOR_FORWARD);
  call.relu = 1;
  EXPECT_THROW(Epilogue(api, call), Failure);
  EXPECT_EQ(liveDescriptors, 0);
}

} // namespace
