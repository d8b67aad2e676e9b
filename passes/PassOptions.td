//===- PassOptions.td - Helper for pass options ------------*- tablegen -*-===//
#ifndef BREW_PASS_OPTIONS_TD
#define BREW_PASS_OPTIONS_TD

include "mlir/Pass/PassBase.td"

// Accepted values of a pass option: the given cases of an enumeration in
// dialects/Target/TargetEnums.td, under the enumeration's own spelling.
class valuesOf<list<string> cases, string enumeration> {
  string text = "::llvm::cl::values(" # !interleave(!foreach(each, cases,
    "clEnumValN(::brew::dialects::target::" # enumeration # "::" # each #
    ", ::brew::dialects::target::stringify" # enumeration # "(::brew::dialects::target::" #
    enumeration # "::" # each # "), \"\")"), ", ") # ")";
}

#endif // BREW_PASS_OPTIONS_TD
