//===- Passes.td - Passes of the compiler phases -----------*- tablegen -*-===//
#ifndef BREW_PASSES_TD
#define BREW_PASSES_TD

// The descriptions show IR before and after a pass. Attributes and types that
// do not matter for the example are left out.

include "passes/graph/GraphPasses.td"
include "passes/fused/FusedPasses.td"
include "passes/plan/PlanPasses.td"

#endif // BREW_PASSES_TD
