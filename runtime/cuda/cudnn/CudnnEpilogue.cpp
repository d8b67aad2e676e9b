//===- CudnnEpilogue.cpp - Epilogue of a bare convolution -----------------===//
#include "runtime/cuda/cudnn/CudnnEpilogue.h"

#include "runtime/cuda/cudnn/CudnnGraph.h"

#include <algorithm>

namespace brew::runtime::cuda::cudnn {

namespace {

/// A scaling factor, stored as both types that cuDNN may read: double for F64
/// tensors, float for all others.
class Scale {
public:
  Scale(double value, bool isDouble)
      : wide(value), narrow(static_cast<float>(value)), isDouble(isDouble) {}
  const void *get() const {
    return isDouble ? static_cast<const void *>(&wide) : &narrow;
  }

private:
  double wide;
  float narrow;
  bool isDouble;
};

} // namespace

Epilogue::Epilogue(const Api &cudnnApi,
                   const BrewVendorConvolution &convolution)
    : api(cudnnApi), call(convolution) {
  try {
    createDescriptors();
  } catch (...) {
    destroyDescriptors(); // ~Epilogue() does not run in this case
    throw;
  }
}

Epilogue::~Epilogue() { destroyDescriptors(); }

void Epilogue::createDescriptors() {
  const int rank = call.y.rank;
  int dims[BREW_VENDOR_MAX_RANK], strides[BREW_VENDOR_MAX_RANK];
  for (int d = 0; d < rank; ++d) {
    dims[d] = static_cast<int>(call.y.dims[d]);
    strides[d] = static_cast<int>(call.y.strides[d]);
  }
  api.check(api.cudnnCreateTensorDescriptor(&output),
            "creating a tensor descriptor");
  api.check(api.cudnnSetTensorNdDescriptor(output, dataType(call.y.type), rank,
                                           dims, strides),
            "describing a tensor");
  if (call.has_bias) {
    const int channels = static_cast<int>(call.b.dims[0]);
    std::fill_n(dims, rank, 1);
    std::fill_n(strides, rank, 1);
    dims[1] = strides[0] = channels;
    api.check(api.cudnnCreateTensorDescriptor(&bias),
              "creating a tensor descriptor");
    api.check(api.cudnnSetTensorNdDescriptor(bias, dataType(call.b.type), rank,
                                             dims, strides),
              "describing a bias");
  }
  if (!call.relu)
    return;
  if (call.negative_slope == 0) {
    api.check(api.cudnnCreateActivationDescriptor(&relu),
              "creating an activation descriptor");
    api.check(
        api.cudnnSetActivationDescriptor(relu, ActivationRelu, PropagateNan, 0),
        "describing a ReLU");
    return;
  }
  api.check(api.cudnnCreateOpTensorDescriptor(&minOrMax),
            "creating a descriptor of an operation");
  api.check(api.cudnnSetOpTensorDescriptor(
                minOrMax, call.negative_slope > 1 ? OpTensorMin : OpTensorMax,
                call.y.type == BREW_VENDOR_F64 ? Double : Float, PropagateNan),
            "describing a ReLU");
}

void Epilogue::destroyDescriptors() {
  if (output)
    api.cudnnDestroyTensorDescriptor(output);
  if (bias)
    api.cudnnDestroyTensorDescriptor(bias);
  if (relu)
    api.cudnnDestroyActivationDescriptor(relu);
  if (minOrMax)
    api.cudnnDestroyOpTensorDescriptor(minOrMax);
}

void Epilogue::run(Handle handle, void *b, void *y) const {
  const bool isDouble = call.y.type == BREW_VENDOR_F64;
  const Scale one(1, isDouble), zero(0, isDouble);
  if (call.direction == BREW_VENDOR_BACKWARD_WEIGHTS && call.has_bias)
    api.check(api.cudnnConvolutionBackwardBias(
                  handle, one.get(), output, y,
                  call.accumulate ? one.get() : zero.get(), bias, b),
              "the gradient of the bias");
  if (call.direction != BREW_VENDOR_FORWARD)
    return;
  if (call.has_bias)
    api.check(
        api.cudnnAddTensor(handle, one.get(), bias, b, one.get(), output, y),
        "adding the bias");
  if (call.relu)
    applyRelu(handle, y);
}

void Epilogue::applyRelu(Handle handle, void *y) const {
  const bool isDouble = call.y.type == BREW_VENDOR_F64;
  const Scale one(1, isDouble), zero(0, isDouble),
      slope(call.negative_slope, isDouble);
  if (relu)
    api.check(api.cudnnActivationForward(handle, relu, one.get(), output, y,
                                         zero.get(), output, y),
              "the ReLU");
  else
    api.check(api.cudnnOpTensor(handle, minOrMax, one.get(), output, y,
                                slope.get(), output, y, zero.get(), output, y),
              "the ReLU");
}

} // namespace brew::runtime::cuda::cudnn
