//===- WinogradConvolution.h - 3x3 convolutions by Winograd -----*- C++ -*-===//
#pragma once

#include "runtime/cpu/CpuStep.h"
#include "runtime/cpu/onednn/DnnlCall.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace brew::runtime {

/// Creates the call by Winograd's algorithm with tiles of `tile` x `tile`
/// outputs, 2 or 4. Returns null unless these conditions hold: f32, 3x3, stride
/// 1, no groups, contiguous channels in multiples of 16, and a processor with
/// AVX2.
std::unique_ptr<CpuStep> makeWinograd(DnnlContext &context,
                                      const plan::ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y,
                                      std::int64_t tile);

/// Returns the available tile sizes; an empty list if the plan requires exact
/// convolutions.
std::vector<std::int64_t> winogradTiles(const DnnlContext &context,
                                        const plan::ConvolutionCall &call,
                                        BoundBuffer x, BoundBuffer w,
                                        BoundBuffer b, BoundBuffer y);

/// Returns the fastest tile size by the cost model, or 0 if oneDNN's
/// convolution is faster.
std::int64_t winogradTile(const DnnlContext &context,
                          const plan::ConvolutionCall &call, BoundBuffer x,
                          BoundBuffer w, BoundBuffer b, BoundBuffer y);

/// Creates the call with the tile size that winogradTile() returns. Returns
/// null if that size is 0.
std::unique_ptr<CpuStep> makeWinograd(DnnlContext &context,
                                      const plan::ConvolutionCall &call,
                                      BoundBuffer x, BoundBuffer w,
                                      BoundBuffer b, BoundBuffer y);

} // namespace brew::runtime
