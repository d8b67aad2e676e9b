//===- BrewEnums.td - Enumerations of attributes -----------*- tablegen -*-===//
#ifndef BREW_ENUMS_TD
#define BREW_ENUMS_TD

include "dialects/Brew/BrewDialect.td"

def Brew_NetPhase : Brew_I32Enum<"NetPhase", "phase of a Caffe net", [
  I32EnumAttrCase<"Train", 0, "train">, I32EnumAttrCase<"Test", 1, "test">]>;
def Brew_NetPhaseAttr : Brew_EnumAttr<Brew_NetPhase, "net_phase">;

def Brew_ProgramRole : Brew_I32Enum<"ProgramRole", "purpose of a program", [
  I32EnumAttrCase<"Main", 0, "main">,
  I32EnumAttrCase<"ForwardBackward", 1, "forward_backward">,
  I32EnumAttrCase<"Test", 2, "test">,
  I32EnumAttrCase<"Deploy", 3, "deploy">,
  I32EnumAttrCase<"Prepare", 4, "prepare">,
  I32EnumAttrCase<"Update", 5, "update">,
  I32EnumAttrCase<"Accumulate", 6, "accumulate">,
  I32EnumAttrCase<"Collect", 7, "collect">,
  I32EnumAttrCase<"Clip", 8, "clip">,
  I32EnumAttrCase<"Reduce", 9, "reduce">]>;
def Brew_ProgramRoleAttr : Brew_EnumAttr<Brew_ProgramRole, "program_role">;

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

// Numbered as plan::SolverScalar.
def Brew_LearningRate : I32EnumAttrCase<"LearningRate", 0, "learning_rate">;
def Brew_Momentum : I32EnumAttrCase<"Momentum", 1, "momentum">;
def Brew_WeightDecay : I32EnumAttrCase<"WeightDecay", 2, "weight_decay">;
def Brew_GradientScale : I32EnumAttrCase<"GradientScale", 3, "gradient_scale">;
def Brew_Momentum2 : I32EnumAttrCase<"Momentum2", 4, "momentum2">;
def Brew_Delta : I32EnumAttrCase<"Delta", 5, "delta">;
def Brew_RmsDecay : I32EnumAttrCase<"RmsDecay", 6, "rms_decay">;
def Brew_BiasCorrection : I32EnumAttrCase<"BiasCorrection", 7, "bias_correction">;
def Brew_SolverScalar : Brew_I32Enum<"SolverScalar",
  "scalar that the host writes before an update", [
  Brew_LearningRate, Brew_Momentum, Brew_WeightDecay, Brew_GradientScale,
  Brew_Momentum2, Brew_Delta, Brew_RmsDecay, Brew_BiasCorrection]>;
def Brew_SolverScalarAttr : Brew_EnumAttr<Brew_SolverScalar, "solver_scalar">;

def Brew_Regularization : Brew_I32Enum<"Regularization", "SolverParameter.regularization_type", [
  I32EnumAttrCase<"L1", 0, "L1">, I32EnumAttrCase<"L2", 1, "L2">]>;
def Brew_RegularizationAttr : Brew_EnumAttr<Brew_Regularization, "regularization">;

#endif // BREW_ENUMS_TD
