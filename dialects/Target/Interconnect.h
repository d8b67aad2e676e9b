//===- Interconnect.h - What connects the ranks of a data-parallel run --*- C++ -*-===//
//
// The number of ranks and what lies between them are not known when a net is
// compiled. These stand for what is common on a CPU machine and between two of
// them; docs/scaling.md says where they come from and what follows.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace brew::dialects::target {

/// Seconds that launchOverhead and ending one all-reduce takes, whatever its size.
inline constexpr double kAllReduceLatencySeconds = 50e-6;
/// Bytes of a bucket that are added up per second when it is large.
inline constexpr double kAllReduceBytesPerSecond = 2e9;

} // namespace brew::dialects::target
