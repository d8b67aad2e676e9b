//===- WinogradConvolution.h - 3x3 convolutions by Winograd -----*- C++ -*-===//
#pragma once

#include "runtime/cpu/CpuCall.h"
#include "runtime/cpu/onednn/DnnlCall.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace brew::runtime {

/// The call by Winograd's algorithm for tiles of `tile` x `tile` outputs, 2 or
/// 4, where its conditions hold: f32, 3x3, stride 1, no groups, channels side
/// by side and a multiple of 16, a processor with AVX2. Else null.
std::unique_ptr<CpuCall> makeWinograd(DnnlContext &context,
                                      const plan::ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y,
                                      std::int64_t tile);

/// The tiles that can be tried; none where the plan wants exact convolutions.
std::vector<std::int64_t> winogradTiles(const DnnlContext &context,
                                        const plan::ConvolutionCall &call,
                                        BoundBuffer x, BoundBuffer w,
                                        BoundBuffer b, BoundBuffer y);

/// The fastest of them by the model; 0 where oneDNN's convolution is faster.
std::int64_t winogradTile(const DnnlContext &context,
                          const plan::ConvolutionCall &call, BoundBuffer x,
                          BoundBuffer w, BoundBuffer b, BoundBuffer y);

/// The call with that tile; null without one.
std::unique_ptr<CpuCall> makeWinograd(DnnlContext &context,
                                      const plan::ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y);

} // namespace brew::runtime
