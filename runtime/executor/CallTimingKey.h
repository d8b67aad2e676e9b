//===- CallTimingKey.h - Timing cache keys of library calls -----*- C++ -*-===//
//
// The keys of two calls are equal if they compute the same on operands of equal
// layouts, so that both have the same fastest implementation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"

#include <string>

namespace brew::runtime {

/// Returns type, dimensions and strides: "F32[64,20,24,24]:[11520,576,24,1]".
std::string layoutText(const plan::Buffer &buffer);

/// Returns the key of a call on these operands. `b` may be null.
std::string convolutionKey(const plan::ConvolutionCall &call,
                           const plan::Buffer &x, const plan::Buffer &w,
                           const plan::Buffer *b, const plan::Buffer &y);
std::string innerProductKey(const plan::InnerProductCall &call,
                            const plan::Buffer &x, const plan::Buffer &w,
                            const plan::Buffer *b, const plan::Buffer &y);

/// Name of the candidate that is a generated kernel of the plan.
inline constexpr const char *kGeneratedCode = "generated code";
/// Returns the suffix of the key of a call with a generated alternative.
/// `generator` identifies its compiler and target, since other code takes other
/// times.
inline std::string generatedAlternativeKey(const std::string &generator) {
  return " beside " + generator;
}

} // namespace brew::runtime
