//===- cuda_fp16.h - Replacement for CUDA's header --------------*- C++ -*-===//
#include "Half.h"
