//===- BrewDialect.td - The brew dialect and its attributes -----*- tablegen -*-===//
#ifndef BREW_DIALECT_TD
#define BREW_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Brew_Dialect : Dialect {
  let name = "brew";
  let cppNamespace = "::brew::ir";
  let summary = "A Caffe net: layers over tensors, parameters as symbols";
  let description = [{
    Layers are operations over value-semantics tensors whose dimensions are in
    Caffe's order. Learnable parameters and solver state are symbols of the
    module; programs read them as values and store new ones. The location of
    every operation is the place in the prototxt it came from.

    A net goes through the phases *import* (operations 1:1 with layers, unranked
    tensors), *graph* (static shapes, gradients and solver updates) and *fused*
    (vendor calls and `brew.kernel` regions) before it becomes the `plan`
    dialect.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"
  ];
}

def Brew_LayoutAttr : AttrDef<Brew_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "Order in memory of a tensor's dimensions";
  let description = [{
    Encoding of a ranked tensor type: its logical dimensions, outermost in
    memory first. `#brew.layout<0, 2, 3, 1>` on an N, C, H, W tensor is
    channels-last. A tensor without an encoding is row-major.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$order);
  let assemblyFormat = "`<` $order `>`";
  let genVerifyDecl = 1;
}

class Brew_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::brew::ir";
  let genSpecializedAttr = 0;
}
class Brew_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Brew_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Brew_Phase : Brew_I32Enum<"Phase", "Caffe's net phase", [
  I32EnumAttrCase<"Train", 0, "train">, I32EnumAttrCase<"Test", 1, "test">]>;
def Brew_PhaseAttr : Brew_EnumAttr<Brew_Phase, "phase">;

def Brew_EltwiseKind : Brew_I32Enum<"EltwiseKind", "EltwiseParameter.EltwiseOp", [
  I32EnumAttrCase<"Prod", 0, "prod">, I32EnumAttrCase<"Sum", 1, "sum">,
  I32EnumAttrCase<"Max", 2, "max">]>;
def Brew_EltwiseKindAttr : Brew_EnumAttr<Brew_EltwiseKind, "eltwise_kind">;

def Brew_ReductionKind : Brew_I32Enum<"ReductionKind", "ReductionParameter.ReductionOp", [
  I32EnumAttrCase<"Sum", 1, "sum">, I32EnumAttrCase<"AbsSum", 2, "asum">,
  I32EnumAttrCase<"SumSq", 3, "sumsq">, I32EnumAttrCase<"Mean", 4, "mean">]>;
def Brew_ReductionKindAttr : Brew_EnumAttr<Brew_ReductionKind, "reduction_kind">;

def Brew_Normalization : Brew_I32Enum<"Normalization", "LossParameter.NormalizationMode", [
  I32EnumAttrCase<"Full", 0, "full">, I32EnumAttrCase<"Valid", 1, "valid">,
  I32EnumAttrCase<"BatchSize", 2, "batch_size">, I32EnumAttrCase<"None", 3, "none">]>;
def Brew_NormalizationAttr : Brew_EnumAttr<Brew_Normalization, "normalization">;

def Brew_SolverScalar : Brew_I32Enum<"SolverScalar", "Scalars the host sets before an update", [
  I32EnumAttrCase<"LearningRate", 0, "learning_rate">,
  I32EnumAttrCase<"Momentum", 1, "momentum">,
  I32EnumAttrCase<"WeightDecay", 2, "weight_decay">,
  I32EnumAttrCase<"GradientScale", 3, "gradient_scale">]>;
def Brew_SolverScalarAttr : Brew_EnumAttr<Brew_SolverScalar, "solver_scalar">;

def Brew_Regularization : Brew_I32Enum<"Regularization", "SolverParameter.regularization_type", [
  I32EnumAttrCase<"L1", 0, "L1">, I32EnumAttrCase<"L2", 1, "L2">]>;
def Brew_RegularizationAttr : Brew_EnumAttr<Brew_Regularization, "regularization">;

#endif // BREW_DIALECT_TD
