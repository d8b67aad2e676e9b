//===- cuda_bf16.h - Found in place of CUDA's by bf16 kernels ---*- C++ -*-===//
#include "Half.h"
