//===- TensorPattern.h - Tensors by patterns of names -----------*- C++ -*-===//
//
// Parameters are called LAYER.weights, LAYER.bias, LAYER.2, ... (BatchNorm's:
// LAYER.mean, LAYER.variance, LAYER.correction); also LAYER.0 and LAYER.1.
// Their gradients have the suffix ".gradient", and blobs their own names. In a
// pattern, '*' matches any characters and '?' one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/session/Tensor.h"

#include <string>
#include <string_view>
#include <vector>

namespace brew::runtime {

/// Returns whether the pattern matches the whole text.
bool matchesPattern(std::string_view pattern, std::string_view text);

/// Returns the name of a parameter or of its gradient: "conv1.weights",
/// "conv1.weights.gradient"; for a blob, its own name.
std::string identifierOf(const plan::Manifest &manifest,
                         const TensorName &tensor);

/// Returns the plan's entry of a parameter. Throws Error (70) if there is none.
const plan::Parameter &parameterOf(const plan::Manifest &manifest,
                                   const TensorName &tensor);

/// Returns the parameters that the pattern matches, in the net's order, each
/// once even if layers share it. With `trainedOnly`, only those that are
/// trained. Throws Error (2) if there is none.
std::vector<TensorName> parametersMatching(const plan::Manifest &manifest,
                                           const std::string &pattern,
                                           bool trainedOnly = false);

/// Returns the parameters that the pattern matches, else the gradients, else
/// the readable blobs of a program. Throws Error (2) if there is none.
std::vector<TensorName> tensorsMatching(const plan::Manifest &manifest,
                                        const std::string &pattern,
                                        int program);

} // namespace brew::runtime
