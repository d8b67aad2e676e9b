//===- InitialValues.h - Initial values of parameters -----------*- C++ -*-===//
//
// Before weights are loaded, a parameter has the values in its layer's `blobs`
// in the prototxt, or the values of its filler, as in Caffe. brewc computes
// them if it embeds weights; otherwise the runtime does.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstddef>
#include <cstdint>

namespace brew::caffe {

/// Writes the initial values of `parameter` to `memory`, the first byte of its
/// buffer, in the buffer's layout. `given` points to the values of its initial
/// segment, in row-major order of its file dimensions and of the plan's
/// precision. If null, writes the values of the filler, or zeros if there is no
/// filler. The filler's random stream depends on `seed` and the parameter's
/// name only: the bits are the same for any number of threads. Throws Error (1)
/// if the filler cannot be parsed or does not suit the shape.
void writeInitialValues(const plan::Manifest &manifest,
                        const plan::Parameter &parameter,
                        const std::byte *given, std::uint64_t seed, int threads,
                        std::byte *memory);

} // namespace brew::caffe
