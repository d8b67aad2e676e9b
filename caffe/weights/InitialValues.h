//===- InitialValues.h - What parameters start from -------------*- C++ -*-===//
//
// Before any weight file a parameter has the values that the prototxt gives in
// its layer's `blobs`, or those of its filler. Both are what Caffe's layers are
// set up with; brewc does it where weights are embedded, the runtime elsewhere.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstddef>
#include <cstdint>

namespace brew::caffe {

/// Writes the first values of `parameter` to `memory`, the first byte of its
/// buffer, in the buffer's layout. `given` are the values of its initial
/// segment, in row-major order of its file dimensions and of the plan's
/// precision; null if it has none, for its filler (zero without one), whose
/// random stream depends on `seed` and the parameter's name alone: same seed,
/// same bits, any number of threads. Throws Error (1) if the filler cannot be
/// read or does not suit the shape.
void writeInitialValues(const plan::Manifest &manifest,
                        const plan::Parameter &parameter,
                        const std::byte *given, std::uint64_t seed, int threads,
                        std::byte *memory);

} // namespace brew::caffe
