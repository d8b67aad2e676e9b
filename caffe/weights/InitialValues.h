//===- InitialValues.h - Initial values of parameters -----------*- C++ -*-===//
//
// As in Caffe, a parameter's initial values come from its layer's `blobs` in
// the prototxt or, if there are none, from its filler. brewc computes the
// values if it embeds weights; otherwise the runtime does.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/plan.pb.h"

#include <cstddef>
#include <cstdint>

namespace brew::caffe {

/// Writes the initial values of `parameter` to `memory`, the first byte of its
/// buffer, in the buffer's layout. `prototxtValues` points to the values from
/// the prototxt's `blobs`, in the buffer's element type and in row-major order
/// of the file dimensions. If it is null, writes the values of the filler, or
/// zeros if there is no filler. The filler's random stream depends only on
/// `seed` and the parameter's name: the bits are the same for any number of
/// threads. Throws Error (1) if the filler cannot be parsed or does not suit
/// the shape.
void writeInitialValues(const plan::Manifest &manifest,
                        const plan::Parameter &parameter,
                        const std::byte *prototxtValues, std::uint64_t seed,
                        int threads, std::byte *memory);

} // namespace brew::caffe
