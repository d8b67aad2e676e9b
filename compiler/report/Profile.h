//===- Profile.h - Measured times of a plan's steps -------------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <map>
#include <string>

namespace brew::compiler {

/// Measured seconds of steps: the median of the measured iterations.
using MeasuredTimes = std::map<const plan::Step *, double>;

/// Reads the trace `path` that `brew-run time --profile` wrote for a program of
/// a plan with the same steps as `manifest`, which must outlive the result.
/// Throws Error: Unavailable if the file cannot be read; BadInput if it is no
/// such trace, or if it is the trace of other steps.
MeasuredTimes readProfile(const std::string &path,
                          const plan::Manifest &manifest);

} // namespace brew::compiler
