//===- FakeCudnnBackend.h - A fake cuDNN with counters ----------*- C++ -*-===//
#pragma once

#include "runtime/cuda/cudnn/CudnnApi.h"

/// Return how many backend descriptors of a type (cudnn::DescriptorType) were
/// created or finalized since the process started.
__attribute__((visibility("default"))) int fakeCudnnCreated(int descriptorType);
__attribute__((visibility("default"))) int
fakeCudnnFinalized(int descriptorType);
