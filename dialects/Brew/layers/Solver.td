//===- Solver.td - Solver updates --------------------------*- tablegen -*-===//
#ifndef BREW_LAYERS_SOLVER_TD
#define BREW_LAYERS_SOLVER_TD

include "dialects/Brew/BrewLayer.td"

def Brew_SGDUpdateOp : Brew_Op<"sgd_update", [Pure, Generic, Brew_UpdateInterface]> {
  let summary = "One step of stochastic gradient descent with momentum";
  let description = [{
    With g = gradient_scale * gradient + weight_decay * decay_mult * r(w), where r is
    w (L2) or its sign (L1): new history h' = momentum * h + rate * lr_mult * g and
    new parameter w' = w - h'.
  }];
  let arguments = (ins AnyTensor:$w, AnyTensor:$gradient, AnyTensor:$history,
    AnyTensor:$rate, AnyTensor:$momentum, AnyTensor:$weight_decay,
    AnyTensor:$gradient_scale, F32Attr:$lr_mult, F32Attr:$decay_mult,
    Brew_RegularizationAttr:$regularization);
  let results = (outs AnyTensor:$new_w, AnyTensor:$new_history);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_SOLVER_TD
