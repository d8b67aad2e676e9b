//===- StreamingCopy.cpp - Copies past the caches -------------------------===//
#include "runtime/cpu/StreamingCopy.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace brew::runtime {

void streamingCopy(std::byte *target, const std::byte *source,
                   std::size_t size) {
#if defined(__x86_64__)
  constexpr std::size_t kLine = 64;
  if (size >= kStreamingBytes) {
    const std::size_t head = -reinterpret_cast<std::uintptr_t>(target) % kLine;
    std::memcpy(target, source, head);
    target += head, source += head, size -= head;
    for (; size >= kLine; target += kLine, source += kLine, size -= kLine) {
      __m128i line[4];
      std::memcpy(line, source, kLine);
      for (int i = 0; i < 4; ++i)
        _mm_stream_si128(reinterpret_cast<__m128i *>(target) + i, line[i]);
    }
    _mm_sfence(); // before another thread reads the bytes
  }
#endif
  std::memcpy(target, source, size);
}

} // namespace brew::runtime
