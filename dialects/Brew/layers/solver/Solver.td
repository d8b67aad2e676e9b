//===- Solver.td - Solver updates --------------------------*- tablegen -*-===//
#ifndef BREW_LAYERS_SOLVER_TD
#define BREW_LAYERS_SOLVER_TD

include "dialects/Brew/BrewLayer.td"

// One step of a solver for one parameter. Operands: the parameter, its gradient,
// the solver's state tensors and the scalars that the rule reads, in that order.
// Results: the new parameter, the new states, and the amount subtracted from the
// parameter.
class Brew_SolverUpdate<string mnemonic, list<string> states,
                        list<I32EnumAttrCase> scalars, dag moreAttributes = (ins)>
    : Brew_Op<mnemonic, [Pure, LoopNests, Brew_SolverUpdateInterface]> {
  let arguments = !con(
    (ins AnyTensor:$w, AnyTensor:$gradient),
    !dag(ins, !foreach(state, states, AnyTensor), states),
    !dag(ins, !foreach(scalar, scalars, AnyTensor),
         !foreach(scalar, scalars, scalar.str)),
    (ins F32Attr:$lr_mult, F32Attr:$decay_mult,
         Brew_RegularizationAttr:$regularization),
    moreAttributes);
  let results = !con(
    (outs AnyTensor:$new_w),
    !dag(outs, !foreach(state, states, AnyTensor),
         !foreach(state, states, "new_" # state)),
    (outs AnyTensor:$update));
  let assemblyFormat =
    "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// Number of state tensors.
    static constexpr unsigned stateCount = }] # !size(states) # [{;
    /// The scalar operands, in order.
    static llvm::ArrayRef<SolverScalar> scalarOperands() {
      static constexpr SolverScalar list[] = {}] #
      !interleave(!foreach(scalar, scalars, "SolverScalar::" # scalar.symbol), ", ")
      # [{};
      return list;
    }
  }];
}

// In the descriptions, g = gradient_scale * gradient + weight_decay * decay_mult *
// r(w), where r(w) is w (L2) or its sign (L1), rate = learning_rate * lr_mult, and
// w' = w - update. Powers are elementwise.

def Brew_SGDUpdateOp : Brew_SolverUpdate<"sgd_update", ["history"],
    [SolverScalar_LearningRate, SolverScalar_WeightDecay, SolverScalar_GradientScale, SolverScalar_Momentum],
    (ins OptionalAttr<Brew_LocalRateAttr>:$local_rate, OptionalAttr<F32Attr>:$local_factor)> {
  let summary = "Stochastic gradient descent with momentum";
  let description = [{
    history' = momentum * history + rate * g; update = history'.

    With `local_rate`, a positive lr_mult is replaced by a factor from the L2 norms of w and of
    d = gradient_scale * gradient, or 1 if a norm is 0:

    - lars (local_lr_auto of Intel Caffe and NVIDIA Caffe 0.16.4):
      rate = learning_rate * local_factor * |w| / (|d| + weight_decay * |w|)
    - larc_scale (larc of NVIDIA Caffe 0.17):
      rate = learning_rate * (1 - momentum) * local_factor * |w| / |d|
    - larc_clip: rate = min(learning_rate, (1 - momentum) * local_factor * |w| / |d|)
  }];
  let hasVerifier = 1;
}

def Brew_NesterovUpdateOp : Brew_SolverUpdate<"nesterov_update", ["history"],
    [SolverScalar_LearningRate, SolverScalar_WeightDecay, SolverScalar_GradientScale, SolverScalar_Momentum]> {
  let summary = "Nesterov's accelerated gradient";
  let description = "history' = momentum * history + rate * g; "
    "update = (1 + momentum) * history' - momentum * history.";
}

def Brew_AdaGradUpdateOp : Brew_SolverUpdate<"adagrad_update", ["history"],
    [SolverScalar_LearningRate, SolverScalar_WeightDecay, SolverScalar_GradientScale, SolverScalar_Delta]> {
  let summary = "AdaGrad";
  let description = "history' = history + g^2; "
    "update = rate * g / (history'^0.5 + delta).";
}

def Brew_RMSPropUpdateOp : Brew_SolverUpdate<"rmsprop_update", ["history"],
    [SolverScalar_LearningRate, SolverScalar_WeightDecay, SolverScalar_GradientScale, SolverScalar_Delta,
     SolverScalar_RmsDecay]> {
  let summary = "RMSProp";
  let description = "history' = rms_decay * history + (1 - rms_decay) * g^2; "
    "update = rate * g / (history'^0.5 + delta).";
}

def Brew_AdaDeltaUpdateOp : Brew_SolverUpdate<"adadelta_update",
    ["gradient_history", "update_history"],
    [SolverScalar_LearningRate, SolverScalar_WeightDecay, SolverScalar_GradientScale, SolverScalar_Momentum,
     SolverScalar_Delta]> {
  let summary = "AdaDelta";
  let description = [{
    gradient_history' = momentum * gradient_history + (1 - momentum) * g^2;
    u = g * ((update_history + delta) / (gradient_history' + delta))^0.5;
    update_history' = momentum * update_history + (1 - momentum) * u^2;
    update = rate * u.
  }];
}

def Brew_AdamUpdateOp : Brew_SolverUpdate<"adam_update", ["mean", "variance"],
    [SolverScalar_LearningRate, SolverScalar_WeightDecay, SolverScalar_GradientScale, SolverScalar_Momentum,
     SolverScalar_Momentum2, SolverScalar_Delta, SolverScalar_BiasCorrection]> {
  let summary = "Adam";
  let description = [{
    mean' = momentum * mean + (1 - momentum) * g;
    variance' = momentum2 * variance + (1 - momentum2) * g^2;
    update = rate * bias_correction * mean' / (variance'^0.5 + delta), where the
    host computes bias_correction = (1 - momentum2^t)^0.5 / (1 - momentum^t).
  }];
}

//===----------------------------------------------------------------------===//
// All gradients at once
//===----------------------------------------------------------------------===//

def Brew_AllGradientsOp : Brew_Op<"all_gradients", [Pure, Brew_PersistentRead]> {
  let summary = "Reads the gradients of all parameters, concatenated";
  let description = [{
    The result is a vector of the complete gradient arena, including the zeros between
    gradients. With `accumulated`, it contains the sums of the gradients of an iteration's
    earlier batches (`iter_size`) instead.
  }];
  let arguments = (ins UnitAttr:$accumulated);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "(`accumulated` $accumulated^)? attr-dict `:` type($result)";
}
def Brew_StoreAllGradientsOp : Brew_Op<"store_all_gradients", [Store]> {
  let summary = "Stores the gradients of all parameters, or the accumulated ones";
  let arguments = (ins AnyTensor:$value, UnitAttr:$accumulated);
  let assemblyFormat = "$value (`accumulated` $accumulated^)? attr-dict `:` type($value)";
}

#endif // BREW_LAYERS_SOLVER_TD
