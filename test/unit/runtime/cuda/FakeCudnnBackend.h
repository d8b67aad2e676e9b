//===- FakeCudnnBackend.h - A cuDNN that counts what is created -*- C++ -*-===//
#pragma once

#include "runtime/cuda/cudnn/CudnnApi.h"

/// Backend descriptors of a type (cudnn::DescriptorType) that were created, and
/// that were finalized, since the process began.
__attribute__((visibility("default"))) int fakeCudnnCreated(int descriptorType);
__attribute__((visibility("default"))) int
fakeCudnnFinalized(int descriptorType);
