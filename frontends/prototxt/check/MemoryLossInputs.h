//===- MemoryLossInputs.h - Bottoms of MemoryLoss layers --------*- C++ -*-===//
#pragma once

#include "frontends/prototxt/check/NetGraph.h"

namespace brew::prototxt {

/// Warns of MemoryLoss layers whose bottoms are probabilities, the tops of
/// Softmax and Sigmoid layers: learners write the gradients of logits.
void warnOfProbabilities(const NetGraph &graph, const SourceMap &locations,
                         Diagnostics &diagnostics);

} // namespace brew::prototxt
