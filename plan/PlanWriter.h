//===- PlanWriter.h - Serialization of plans --------------------*- C++ -*-===//
#pragma once

#include "plan/PlanFormat.h"
#include "plan/plan.pb.h"

#include <string>
#include <vector>

namespace brew::plan {

/// Returns the bytes of a plan file. `segmentBytes[i]` is the content of
/// `manifest.segments(i)`; the caller sets its `kind`, this function its offset
/// and size. Validates the manifest as readers do; a violation throws Error
/// (70) with the reader's message.
std::string serializePlan(Manifest manifest,
                          const std::vector<std::string> &segmentBytes);

/// Recomputes the checksum in the header of `bytes` (at least a header long).
void updateChecksum(std::string &bytes);

} // namespace brew::plan
