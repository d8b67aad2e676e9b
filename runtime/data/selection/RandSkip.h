//===- RandSkip.h - Images that training skips at its start -----*- C++ -*-===//
#pragma once

#include "runtime/data/BatchSource.h"

#include <cstdint>
#include <string>

namespace brew::runtime {

/// Draws how many images a data layer skips, in [0, `randSkip`), and logs the
/// number as Caffe does. `layer` and `list` name the layer and its list in
/// messages. Throws Error (1) if the list has no more than that many `images`.
std::uint64_t skippedImages(const DataLayerInfo &info, std::uint64_t randSkip,
                            std::uint64_t images, const std::string &layer,
                            const std::string &list);

} // namespace brew::runtime
