//===- cuda_fp16.h - Found in place of CUDA's by f16 kernels ----*- C++ -*-===//
#include "Half.h"
