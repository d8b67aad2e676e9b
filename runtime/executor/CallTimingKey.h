//===- CallTimingKey.h - Which library calls can share a choice -------*- C++ -*-===//
//
// Texts for keys of the timing cache: equal for calls that compute the same on
// operands that lie alike.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "plan/PlanFile.h"

#include <string>

namespace brew::runtime {

/// "F32[64,20,24,24]:[11520,576,24,1]".
std::string layoutText(const plan::Buffer &buffer);

/// Of a call on these operands; `b` may be null.
std::string convolutionKey(const plan::ConvolutionCall &call,
                            const plan::Buffer &x, const plan::Buffer &w,
                            const plan::Buffer *b, const plan::Buffer &y);
std::string innerProductKey(const plan::InnerProductCall &call,
                             const plan::Buffer &x, const plan::Buffer &w,
                             const plan::Buffer *b, const plan::Buffer &y);

/// What a call's candidate is called that is a kernel of the plan.
inline constexpr const char *kGeneratedCode = "generated code";
/// Goes behind the text of a call beside which there is one: `generator` is
/// what made it and for which machine, as other code takes other times.
inline std::string generatedAlternativeKey(const std::string &generator) {
  return " beside " + generator;
}

} // namespace brew::runtime
