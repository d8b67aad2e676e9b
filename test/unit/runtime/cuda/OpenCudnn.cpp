//===- OpenCudnn.cpp - What opening cuDNN says ----------------------------===//
//
// A process of its own for each library: what was opened stays open.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/cudnn/CudnnApi.h"

#include <cstdio>

int main() {
  try {
    std::puts(brew::runtime::cuda::cudnn::Api::open().name().c_str());
  } catch (const std::exception &failure) {
    std::puts(failure.what());
  }
}
