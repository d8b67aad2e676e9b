//===- TimingFuzz.cpp - Fuzz entry: timing caches -------------------------===//
#include "Fuzz.h"
#include "runtime/executor/TimingCache.h"

using namespace brew;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  fuzz::attempt([&] { runtime::TimingCache::parse(fuzz::textOf(data, size)); });
  return 0;
}
