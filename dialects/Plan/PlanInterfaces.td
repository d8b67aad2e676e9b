//===- PlanInterfaces.td - What a step of a plan declares --*- tablegen -*-===//
#ifndef PLAN_INTERFACES_TD
#define PLAN_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def Plan_StepInterface : OpInterface<"StepInterface"> {
  let cppNamespace = "::brew::dialects::plan";
  let description = [{
    A step of a program: a launch, a vendor call, a copy. Which of its operands it
    reads and writes are its memory effects (`MemoryEffectOpInterface`), from which
    the plan is verified. How a plan file describes it is `ManifestInterface` of
    compiler/manifest/ManifestInterface.td. Who asks many steps gives them symbol tables, in
    which those that name a kernel find it without looking through the module.
  }];
  let methods = [
    InterfaceMethod<"Names of the layers it computes for; null: none are known.",
      "::mlir::ArrayAttr", "getLayersAttr">,
    InterfaceMethod<"", "void", "setLayersAttr", (ins "::mlir::ArrayAttr":$layers)>,
    InterfaceMethod<"Whether it belongs to the backward pass.", "bool", "getBackward">,
    InterfaceMethod<"", "void", "setBackward", (ins "bool":$backward)>,
    InterfaceMethod<"Whether it computes again what the forward pass has.", "bool",
      "getRematerialized">,
    InterfaceMethod<"", "void", "setRematerialized", (ins "bool":$rematerialized)>,
    InterfaceMethod<"Floating-point operations of one execution; null: none are "
        "counted.", "::mlir::IntegerAttr", "getFlopsAttr">,
    InterfaceMethod<"", "void", "setFlopsAttr", (ins "::mlir::IntegerAttr":$flops)>,
    InterfaceMethod<"A bit for each operand: whether it must be aligned as a whole "
        "is, which a subview of a joined blob need not be.",
      "::llvm::BitVector", "alignedOperands",
      (ins "::mlir::SymbolTableCollection &":$symbols), "",
      "return ::llvm::BitVector($_op->getNumOperands(), true);">,
    InterfaceMethod<"Whether operand `written`, whose bytes are exactly those of "
        "operand `other`, may take its place. Else nothing that a step writes "
        "shares a byte with another of its operands.",
      "bool", "canOverwriteOperand", (ins "unsigned":$written, "unsigned":$other,
        "::mlir::SymbolTableCollection &":$symbols), "",
      "return false;">,
    InterfaceMethod<"Adds its memory effects.", "void", "addEffects",
      (ins "::mlir::SymbolTableCollection &":$symbols,
        "::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &":$effects), "",
      "::llvm::cast<::mlir::MemoryEffectOpInterface>($_op.getOperation()).getEffects(effects);">
  ];
}

#endif // PLAN_INTERFACES_TD
