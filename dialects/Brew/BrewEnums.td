//===- BrewEnums.td - Enumerations of attributes -----------*- tablegen -*-===//
#ifndef BREW_ENUMS_TD
#define BREW_ENUMS_TD

include "dialects/Brew/BrewDialect.td"
include "dialects/EnumCases.td"

def Brew_NetPhase : Brew_I32Enum<"NetPhase", "phase of a Caffe net", [
  NetPhase_Train, NetPhase_Test]>;
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
  EltwiseKind_Prod, EltwiseKind_Sum, EltwiseKind_Max]>;
def Brew_EltwiseKindAttr : Brew_EnumAttr<Brew_EltwiseKind, "eltwise_kind">;

def Brew_ReductionKind : Brew_I32Enum<"ReductionKind", "ReductionParameter.ReductionOp", [
  ReductionKind_Sum, ReductionKind_Asum, ReductionKind_Sumsq, ReductionKind_Mean]>;
def Brew_ReductionKindAttr : Brew_EnumAttr<Brew_ReductionKind, "reduction_kind">;

def Brew_Normalization : Brew_I32Enum<"Normalization", "LossParameter.NormalizationMode", [
  Normalization_Full, Normalization_Valid, Normalization_BatchSize, Normalization_None]>;
def Brew_NormalizationAttr : Brew_EnumAttr<Brew_Normalization, "normalization">;

def Brew_SolverScalar : Brew_I32Enum<"SolverScalar",
  "scalar that the host writes before an update", [
  SolverScalar_LearningRate, SolverScalar_Momentum, SolverScalar_WeightDecay,
  SolverScalar_GradientScale, SolverScalar_Momentum2, SolverScalar_Delta, SolverScalar_RmsDecay,
  SolverScalar_BiasCorrection]>;
def Brew_SolverScalarAttr : Brew_EnumAttr<Brew_SolverScalar, "solver_scalar">;

def Brew_Regularization : Brew_I32Enum<"Regularization", "SolverParameter.regularization_type", [
  I32EnumAttrCase<"L1", 0, "L1">, I32EnumAttrCase<"L2", 1, "L2">]>;
def Brew_RegularizationAttr : Brew_EnumAttr<Brew_Regularization, "regularization">;

def Brew_LocalRate : Brew_I32Enum<"LocalRate",
  "learning rate of one parameter from the norms of its values and its gradient", [
  I32EnumAttrCase<"Lars", 0, "lars">, I32EnumAttrCase<"LarcScale", 1, "larc_scale">,
  I32EnumAttrCase<"LarcClip", 2, "larc_clip">]>;
def Brew_LocalRateAttr : Brew_EnumAttr<Brew_LocalRate, "local_rate">;

#endif // BREW_ENUMS_TD
