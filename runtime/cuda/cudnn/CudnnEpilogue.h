//===- CudnnEpilogue.h - What a bare convolution leaves to be done --------===//
//
// The bias, the ReLU and the gradient of the bias, by cuDNN's older functions:
// they take every layout and type that a convolution has, where graphs of such
// operations alone have no engine for some (F32 in Caffe's own order).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/VendorTable.h"
#include "runtime/cuda/cudnn/CudnnApi.h"

namespace brew::runtime::cuda::cudnn {

class Epilogue {
public:
  /// Throws Failure. `api` must outlive it.
  Epilogue(const Api &api, const BrewVendorConvolution &call);
  ~Epilogue();
  Epilogue(const Epilogue &) = delete;
  Epilogue &operator=(const Epilogue &) = delete;

  /// Enqueues it on the handle's stream: FORWARD y = act(y + b) in place;
  /// BACKWARD_WEIGHTS b = [b +] the sums of y; else nothing. Throws Failure.
  void run(Handle handle, void *b, void *y) const;

private:
  void describe();
  void destroy();
  void applyRelu(Handle handle, void *y) const;

  const Api &api;
  const BrewVendorConvolution call;
  LegacyTensor output = nullptr, bias = nullptr;
  LegacyActivation relu = nullptr;
  LegacyOpTensor minOrMax = nullptr; ///< of y and slope * y: ReLU with a slope
};

} // namespace brew::runtime::cuda::cudnn
