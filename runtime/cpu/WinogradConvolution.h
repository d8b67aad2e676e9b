//===- WinogradConvolution.h - 3x3 convolutions by Winograd -----*- C++ -*-===//
#pragma once

#include "runtime/cpu/CpuCall.h"
#include "runtime/cpu/DnnlCall.h"

#include <memory>

namespace brew::runtime {

/// The call by Winograd's algorithm for tiles of `tile` x `tile` outputs, 2 or
/// 4, where its conditions hold: f32, 3x3, stride 1, no groups, channels side
/// by side and a multiple of 16, a processor with AVX2. Else null.
std::unique_ptr<CpuCall> makeWinograd(DnnlContext &context,
                                      const plan::ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y,
                                      std::int64_t tile);

/// The fastest of these by the model; null where oneDNN's convolution is
/// faster, and where the plan wants exact ones.
std::unique_ptr<CpuCall> makeWinograd(DnnlContext &context,
                                      const plan::ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y);

} // namespace brew::runtime
