//===- BrewInterfaces.td - Interfaces of layers ------------*- tablegen -*-===//
#ifndef BREW_INTERFACES_TD
#define BREW_INTERFACES_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Brew_ShapeInterface : OpInterface<"ShapeInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer that computes the shapes of its tops and of its parameters from the shapes of
    its bottoms, as Caffe's `LayerSetUp` and `Reshape` do.
  }];
  let methods = [InterfaceMethod<[{
      Appends one shape per result to `tops`, and one shape per operand that is a
      parameter to `params`, in operand order. Requires ranked bottoms. Emits an error
      at the layer and fails if the shapes do not fit.
    }],
    "::mlir::LogicalResult", "inferShapes",
    (ins "::brew::dialects::Shapes &":$tops, "::brew::dialects::Shapes &":$params)>];
}

def Brew_GradientInterface : OpInterface<"GradientInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A differentiable layer. Elementwise layers are differentiated through
    `ScalarBodyInterface` instead.
  }];
  let methods = [InterfaceMethod<[{
      Builds the gradients of the operands flagged in `needed` from
      `resultGradients`, in which null means that no gradient reaches the result.
      Writes them to `operandGradients`, which has one null entry per operand. An
      entry that stays null means a gradient of zero.
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
    An elementwise layer: a layer of one result, each element of which is one scalar
    expression of the operands' elements. The expression is the only definition of the
    layer; its loop nest and its gradients are derived from it.
  }];
  let methods = [
    InterfaceMethod<"Builds the expression from one scalar per operand, with "
        "operations of `arith` and `math`. Piecewise functions are a comparison "
        "and a select.",
      "::mlir::Value", "buildScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::ValueRange":$operands)>,
    InterfaceMethod<"Returns the dimension of the result that dimension 0 of "
        "operand `number` matches. The operand's further dimensions match the "
        "following ones; it is broadcast along all others.",
      "int64_t", "operandAxis", (ins "unsigned":$number), "", "return 0;">,
    InterfaceMethod<[{
        Builds the derivative with respect to operand `number` from the result's
        element alone. Returns null (the default) if the derivative needs the
        operands. With it, the backward pass saves y instead of x, as in-place
        layers require.
      }], "::mlir::Value", "buildDerivativeFromResult",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "unsigned":$number, "::mlir::Value":$result), "",
      "return ::mlir::Value();">
  ];
}

def Brew_LoopNestInterface : OpInterface<"LoopNestInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation that can be lowered to loop nests (`linalg.generic`) over its operands,
    which every target can run without a vendor library.
  }];
  let methods = [InterfaceMethod<
      "Builds the nests and returns one value per result. The value of an unused "
      "result may be null.",
    "::llvm::SmallVector<::mlir::Value>", "buildNests",
    (ins "::mlir::OpBuilder &":$builder)>];
}

def Brew_PlanStepInterface : OpInterface<"PlanStepInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation that becomes a step of its own in the plan instead of part of a kernel: a
    library call, a host layer, an all-reduce. An operation that is not lowered to loop
    nests stays in the program until the plan is emitted.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the operation of the plan dialect that computes this one; it
        implements `StepInterface`. `buffer` returns the buffer of an operand or a
        result. The caller sets the step's layers, floating-point operations and
        `backward`.
      }], "::mlir::Operation *", "buildPlanStep",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::function_ref<::mlir::Value(::mlir::Value)>":$buffer)>,
    InterfaceMethod<"Returns the floating-point operations of one execution.",
      "int64_t", "countFlops", (ins), "", "return 0;">
  ];
}

def Brew_LoopInterface : OpInterface<"LoopInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation that becomes a `brew.loop`, since it repeats library calls. Until
    brew-build-loops it is opaque, and its operands and results are row-major.
  }];
  let methods = [
    InterfaceMethod<
      "Builds one `brew.loop`, with loop nests between the calls of its body, and returns one "
      "value per result. The value of an unused result may be null.",
      "::llvm::SmallVector<::mlir::Value>", "buildLoop",
      (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<[{
        Sets the narrow type to which the loop rounds the operands of its products, although its
        values have 32 bits.
      }], "void", "setRounded", (ins "::mlir::Type":$type), "",
      "$_op->setAttr(\"rounded\", ::mlir::TypeAttr::get(type));">,
    InterfaceMethod<"Returns the floating-point operations of the products in all iterations.",
      "int64_t", "countFlops", (ins)>
  ];
}

def Brew_LibraryInterface : OpInterface<"LibraryInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation with loop nests that one call of a vendor library can compute instead
    (`PlanStepInterface`).
  }];
  let methods = [
    InterfaceMethod<"Returns the GROUP of `--no-library=GROUP` that disables the call.",
      "::llvm::StringRef", "libraryGroup", (ins)>,
    InterfaceMethod<"Whether a call supports the shapes and layouts of the "
        "operands. Requires floats of at most 32 bits.",
      "bool", "hasLibraryCall", (ins)>
  ];
}

def Brew_LabelInterface : OpInterface<"LabelInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer that checks its labels. One of its results is the `status` operand of a
    `brew.check_labels`.
  }];
  let methods = [InterfaceMethod<
      "Returns the exclusive upper bound of valid labels, which start at 0. Requires "
      "inferred shapes.", "int64_t", "labelLimit", (ins)>];
}

def Brew_SolverUpdateInterface : OpInterface<"SolverUpdateInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A solver's update of one parameter. Every result has the parameter's type.
  }];
}

#endif // BREW_INTERFACES_TD
