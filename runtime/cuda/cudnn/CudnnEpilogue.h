//===- CudnnEpilogue.h - Epilogue of a bare convolution ---------*- C++ -*-===//
//
// Computes the bias, the ReLU and the bias gradient with cuDNN's legacy
// functions, which accept every layout and type of a convolution. cuDNN has no
// engine for some graphs of these operations alone (F32 in NCHW order).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/cuda/VendorTable.h"
#include "runtime/cuda/cudnn/CudnnApi.h"

namespace brew::runtime::cuda::cudnn {

class Epilogue {
public:
  /// Throws Failure. `api` must outlive the epilogue.
  Epilogue(const Api &api, const BrewVendorConvolution &call);
  ~Epilogue();
  Epilogue(const Epilogue &) = delete;
  Epilogue &operator=(const Epilogue &) = delete;

  /// Enqueues the epilogue on the handle's stream: FORWARD y = act(y + b) in
  /// place; BACKWARD_WEIGHTS b = [b +] sum of y over all dimensions but the
  /// channels; BACKWARD_DATA nothing. Throws Failure.
  void run(Handle handle, void *b, void *y) const;

private:
  void createDescriptors();
  void destroyDescriptors();
  void applyRelu(Handle handle, void *y) const;

  const Api &api;
  const BrewVendorConvolution call;
  LegacyTensor output = nullptr, bias = nullptr;
  LegacyActivation relu = nullptr;
  /// Maximum or minimum of y and slope * y: a ReLU with a negative slope.
  LegacyOpTensor minOrMax = nullptr;
};

} // namespace brew::runtime::cuda::cudnn
