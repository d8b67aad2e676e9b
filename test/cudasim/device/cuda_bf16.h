//===- cuda_bf16.h - Replacement for CUDA's header --------------*- C++ -*-===//
#include "Half.h"
