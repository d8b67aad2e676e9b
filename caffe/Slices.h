//===- Slices.h - Work on elements by several threads -----------*- C++ -*-===//
#pragma once

#include <cstdint>
#include <functional>

namespace brew::caffe {

/// Calls `work(begin, end)` for consecutive slices of the elements [0, count),
/// on up to `threads` threads. If the system cannot create more threads, the
/// calling thread does their work.
void forEachSlice(std::int64_t count, int threads,
                  const std::function<void(std::int64_t, std::int64_t)> &work);

} // namespace brew::caffe
