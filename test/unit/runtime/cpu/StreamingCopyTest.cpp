//===- StreamingCopyTest.cpp - Copies past the caches ---------------------===//
#include "runtime/cpu/StreamingCopy.h"

#include <gtest/gtest.h>

#include <vector>

using namespace brew::runtime;

/// Every alignment and remainder, below and above the size that is streamed.
TEST(StreamingCopy, EqualsMemcpyAtAnyAlignment) {
  std::vector<std::byte> source(kStreamingBytes + 512);
  for (std::size_t i = 0; i < source.size(); ++i)
    source[i] = static_cast<std::byte>(i * 131 >> 3);
  for (const std::size_t base : {std::size_t(100), kStreamingBytes})
    for (const std::size_t offset : {0, 1, 4, 16, 63})
      for (const std::size_t extra : {0, 1, 63, 64, 130}) {
        const std::size_t size = base + extra;
        std::vector<std::byte> target(source.size(), std::byte(7));
        streamingCopy(target.data() + offset, source.data() + 3, size);
        EXPECT_TRUE(std::equal(target.begin() + std::ptrdiff_t(offset),
                               target.begin() + std::ptrdiff_t(offset + size),
                               source.begin() + 3))
            << size << " bytes at " << offset;
        for (std::size_t i = 0; i < target.size(); ++i)
          if ((i < offset || i >= offset + size) && target[i] != std::byte(7)) {
            ADD_FAILURE() << "wrote byte " << i;
            break;
          }
      }
}
