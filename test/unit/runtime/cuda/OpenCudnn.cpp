//===- OpenCudnn.cpp - Prints cuDNN's version or the error ----------------===//
//
// Each test runs this program in a process of its own, because an opened
// library stays open.
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
