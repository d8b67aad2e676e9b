//===- Interconnect.h - Interconnect of ranks -------------------*- C++ -*-===//
//
// The number of ranks and their interconnect are not known when a net is
// compiled. These are typical numbers for one CPU machine and for two connected
// ones. docs/scaling.md contains their sources and their consequences.
//
//===----------------------------------------------------------------------===//
#pragma once

namespace brew::dialects::target {

/// Seconds to start and finish one all-reduce of any size.
inline constexpr double kAllReduceLatencySeconds = 50e-6;
/// Bytes per second that an all-reduce of a large bucket reduces.
inline constexpr double kAllReduceBytesPerSecond = 2e9;

} // namespace brew::dialects::target
