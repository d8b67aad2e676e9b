//===- BrewInterfaces.td - What a layer declares -----------*- tablegen -*-===//
#ifndef BREW_INTERFACES_TD
#define BREW_INTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Brew_ShapeInterface : OpInterface<"ShapeInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer computes the shapes of its tops and of its parameters from the shapes
    of its bottoms, as Caffe's `LayerSetUp` and `Reshape` do.
  }];
  let methods = [InterfaceMethod<[{
      Bottoms are ranked when this is called. Appends one shape per result to
      `tops`; appends to `params` one shape per operand that is a parameter, in
      operand order. Reports what does not fit at the op's location and fails.
    }],
    "::mlir::LogicalResult", "inferShapes",
    (ins "::brew::dialects::Shapes &":$tops, "::brew::dialects::Shapes &":$params)>];
}

def Brew_GradientInterface : OpInterface<"GradientInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer that gradients flow through. Elementwise layers get theirs from
    `ScalarBodyInterface` instead.
  }];
  let methods = [InterfaceMethod<[{
      Builds the gradients of the operands flagged in `needed`, given those of
      the results (null where no gradient arrives), and puts them in
      `operandGradients`, which has one null entry per operand. An entry left
      null means zero.
    }],
    "::mlir::LogicalResult", "buildGradients",
    (ins "::mlir::OpBuilder &":$builder,
         "::mlir::ArrayRef<::mlir::Value>":$resultGradients,
         "::mlir::ArrayRef<bool>":$needed,
         "::mlir::MutableArrayRef<::mlir::Value>":$operandGradients)>];
}

def Brew_ScalarBodyInterface : OpInterface<"ScalarBodyInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An elementwise layer: one result, whose every element is one scalar expression
    of the operands' elements. The expression is the only definition of the
    layer; its generic form and its gradients are derived from it.
  }];
  let methods = [
    InterfaceMethod<"Builds the expression from one scalar per operand, with "
        "`arith` and `math` operations; kinks are compare and select.",
      "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands)>,
    InterfaceMethod<"First dimension of the result that dimension 0 of operand "
        "`number` matches; later ones follow, the others are broadcast.",
      "int64_t", "operandAxis", (ins "unsigned":$number), "", "return 0;">,
    InterfaceMethod<[{
        Builds the derivative by operand `number` from the result's element alone,
        or returns null when it needs the operands (the default). Lets the
        backward pass keep y instead of x, which in-place layers rely on.
      }], "::mlir::Value", "buildDerivativeFromResult",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "unsigned":$number, "::mlir::Value":$result), "",
      "return ::mlir::Value();">
  ];
}

def Brew_LoopNestInterface : OpInterface<"LoopNestInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation with a generic form: loop nests (`linalg.generic`) over its
    operands that any target can run without a vendor library.
  }];
  let methods = [InterfaceMethod<
      "Builds the nests and returns one value per result (null for results "
      "without uses that were not worth computing).",
    "::llvm::SmallVector<::mlir::Value>", "buildNests",
    (ins "::mlir::OpBuilder &":$builder)>];
}

def Brew_PlanStepInterface : OpInterface<"PlanStepInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation that is a step of its own in the plan, and no kernel: a call. What
    is not lowered to its generic form stays in the program until then.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the operation of the plan dialect that computes this one, which has
        `StepInterface`. `buffer` gives the buffer of an operand or a result. The
        layer, the number of operations and, behind the first gradient, that it
        belongs to the backward pass are added by who asks.
      }], "::mlir::Operation *", "buildPlanStep",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::function_ref<::mlir::Value(::mlir::Value)>":$buffer)>,
    InterfaceMethod<"Floating-point operations of one execution.",
      "int64_t", "countFlops", (ins), "", "return 0;">
  ];
}

def Brew_LibraryInterface : OpInterface<"LibraryInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation with a generic form that a vendor library can compute in one call
    (`PlanStepInterface`) instead.
  }];
  let methods = [
    InterfaceMethod<"Group that `--no-library=GROUP` names.",
      "::llvm::StringRef", "libraryGroup", (ins)>,
    InterfaceMethod<"Whether there is a call for the shapes and layouts of its "
        "operands, which are floats of at most 32 bits.",
      "bool", "hasLibraryCall", (ins)>
  ];
}

def Brew_LabelInterface : OpInterface<"LabelInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer that checks its labels: the operand of a `brew.check_labels` is one
    of its results.
  }];
  let methods = [InterfaceMethod<"Labels must lie in [0, this); known once "
      "shapes are.", "int64_t", "labelLimit", (ins)>];
}

def Brew_SolverUpdateInterface : OpInterface<"SolverUpdateInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A solver's update of one parameter: every result has the parameter's type.
  }];
}

#endif // BREW_INTERFACES_TD
