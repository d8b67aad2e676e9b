//===- StepDescription.h - Short descriptions of steps ----------*- C++ -*-===//
#pragma once

#include "plan/plan.pb.h"

#include <string>

namespace brew::plan {

/// Returns the description of a step in `brew-run inspect` and the compiler's
/// reports: "kernel pool1", "convolution BACKWARD_WEIGHTS", "copy", "host Twice
/// FORWARD", "20 times (copy, kernel lstm)". The step belongs to `manifest`.
inline std::string describeAction(const Manifest &manifest, const Step &step) {
  switch (step.action_case()) {
  case Step::kLaunch:
    return "kernel " +
           manifest.kernels(static_cast<int>(step.launch().kernel_index()))
               .symbol();
  case Step::kConvolution:
    return "convolution " + Direction_Name(step.convolution().direction());
  case Step::kInnerProduct:
    return "inner product " + Direction_Name(step.inner_product().direction());
  case Step::kCopy:
    return "copy";
  case Step::kAllReduce:
    return std::string("all-reduce ") +
           (step.all_reduce().kind() == AllReduceCall::START ? "start "
                                                             : "wait ") +
           std::to_string(step.all_reduce().bucket());
  case Step::kHost:
    return "host " + step.host().type() + " " +
           Direction_Name(step.host().direction());
  case Step::kLoop: {
    std::string text;
    for (const Step &nested : step.loop().steps())
      text += (text.empty() ? "" : ", ") + describeAction(manifest, nested);
    return std::to_string(step.loop().iterations()) + " times (" + text + ")";
  }
  case Step::ACTION_NOT_SET:
    break;
  }
  return "unknown";
}

} // namespace brew::plan
