//===- PlanInterfaces.td - Interface of steps of a plan ----*- tablegen -*-===//
#ifndef PLAN_INTERFACES_TD
#define PLAN_INTERFACES_TD

include "mlir/IR/Interfaces.td"

def Plan_StepInterface : OpInterface<"StepInterface"> {
  let cppNamespace = "::brew::dialects::plan";
  let description = [{
    A step of a program: a launch, a library call, a copy. Its memory effects
    (`MemoryEffectOpInterface`) are the operands that it reads and writes; verification of the
    plan relies on them. `ManifestInterface` (compiler/manifest/ManifestInterface.td) describes
    the step in the plan file. Callers that query many steps pass symbol tables, in which steps
    that name a kernel find it without searching the module.
  }];
  let methods = [
    InterfaceMethod<"Returns the names of the layers that the step computes, or null.",
      "::mlir::ArrayAttr", "getLayersAttr">,
    InterfaceMethod<"", "void", "setLayersAttr", (ins "::mlir::ArrayAttr":$layers)>,
    InterfaceMethod<"Whether the step belongs to the backward pass.", "bool", "getBackward">,
    InterfaceMethod<"", "void", "setBackward", (ins "bool":$backward)>,
    InterfaceMethod<"Whether the step recomputes values of the forward pass.", "bool",
      "getRematerialized">,
    InterfaceMethod<"", "void", "setRematerialized", (ins "bool":$rematerialized)>,
    InterfaceMethod<"Returns the floating-point operations of one execution, or null "
        "if they are not counted.", "::mlir::IntegerAttr", "getFlopsAttr">,
    InterfaceMethod<"", "void", "setFlopsAttr", (ins "::mlir::IntegerAttr":$flops)>,
    InterfaceMethod<"Returns one bit per operand: whether the operand must have the "
        "alignment of a full buffer, which subviews may lack.",
      "::llvm::BitVector", "alignedOperands",
      (ins "::mlir::SymbolTableCollection &":$symbols), "",
      "return ::llvm::BitVector($_op->getNumOperands(), true);">,
    InterfaceMethod<"Whether the step may write operand `written` over operand "
        "`other` if both occupy exactly the same bytes. Otherwise a written operand "
        "must not share bytes with any other operand.",
      "bool", "canOverwriteOperand", (ins "unsigned":$written, "unsigned":$other,
        "::mlir::SymbolTableCollection &":$symbols), "",
      "return false;">,
    InterfaceMethod<"Appends the memory effects of the step.", "void", "addEffects",
      (ins "::mlir::SymbolTableCollection &":$symbols,
        "::llvm::SmallVectorImpl<::mlir::MemoryEffects::EffectInstance> &":$effects), "",
      "::llvm::cast<::mlir::MemoryEffectOpInterface>($_op.getOperation()).getEffects(effects);">
  ];
}

#endif // PLAN_INTERFACES_TD
