//===- PlanWriter.h - Manifest and segments to the bytes of a plan --------===//
#pragma once

#include "plan/PlanFormat.h"
#include "plan/plan.pb.h"

#include <string>
#include <vector>

namespace brew::plan {

/// The bytes of a plan file. `segmentBytes[i]` is the content of
/// `manifest.segments(i)`, of which the caller fills in `kind`; offsets and
/// sizes are set here. The result is checked by the reader's own rules, so that
/// a plan no runtime would take is never written: a violation throws Error (70)
/// with the reader's sentence.
std::string serializePlan(Manifest manifest,
                          const std::vector<std::string> &segmentBytes);

/// Recomputes the checksum in the header of `bytes` (at least a header long).
void updateChecksum(std::string &bytes);

} // namespace brew::plan
