//===- RandSkip.cpp - Images that training skips at its start -------------===//
#include "runtime/data/selection/RandSkip.h"

#include "caffe/RandomStream.h"
#include "support/Error.h"

namespace brew::runtime {

std::uint64_t skippedImages(const DataLayerInfo &info, std::uint64_t randSkip,
                            std::uint64_t images, const std::string &layer,
                            const std::string &list) {
  const std::uint64_t count =
      caffe::RandomStream(info.seed.rankSeed(), "rand_skip " + info.stream)
          .below(0, randSkip);
  postLine(info.events, log::site::imageSkip,
           "Skipping first " + std::to_string(count) + " data points.");
  if (count >= images)
    throw badInput(layer + ": rand_skip " + std::to_string(randSkip) +
                   " skips " + std::to_string(count) + " of the " +
                   std::to_string(images) + " images of '" + list +
                   "'; not enough to skip");
  return count;
}

} // namespace brew::runtime
