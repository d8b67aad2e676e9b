//===- Interconnect.h - Interconnect of ranks -------------------*- C++ -*-===//
//
// The number of ranks and their interconnect are not known when a net is
// compiled. These rates are assumptions for ranks on one machine or on a
// 25 Gbit/s network. They determine the default bucket size and the all-reduce
// times of `brewc --report`, but not results (docs/distributed.md).
//
//===----------------------------------------------------------------------===//
#pragma once

namespace brew::dialects::target {

/// Seconds to start and finish one all-reduce of any size.
inline constexpr double kAllReduceLatencySeconds = 50e-6;
/// Bytes per second that an all-reduce of a large bucket reduces.
inline constexpr double kAllReduceBytesPerSecond = 2e9;

} // namespace brew::dialects::target
