//===- Loss.td - Losses and accuracy -----------------------*- tablegen -*-===//
#ifndef BREW_LAYERS_LOSS_TD
#define BREW_LAYERS_LOSS_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_SoftmaxLossOp : Brew_LayerOp<"softmax_loss",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundablePartly]> {
  let summary = "Multinomial logistic loss of the softmax of x";
  let description = [{
    `prob` is the softmax, `normalizer` the divisor of the summed loss, `status` the result of
    the label check (see `brew.check_labels`). With `class_weights`, one per class, the loss of
    each item is multiplied by the weight of its label; the normalizer ignores the weights. With
    `logarithms`, x are already logarithms of probabilities: no softmax is computed, and `prob` is
    x.

    Example:

    ```mlir
    %loss, %prob, %normalizer, %status = brew.softmax_loss "loss"(%x, %label) {axis = 1 : i64,
        normalization = #brew<normalization valid>, tops = ["loss"]}
        : (tensor<64x10xf32>, tensor<64xf32>)
        -> (tensor<f32>, tensor<64x10xf32>, tensor<f32>, tensor<i32>)
    ```
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label,
      Optional<AnyTensor>:$class_weights), layerAttributes,
    (ins I64Attr:$axis, OptionalAttr<I64Attr>:$ignore_label,
      Brew_NormalizationAttr:$normalization, UnitAttr:$logarithms));
  let results = (outs AnyTensor:$loss, AnyTensor:$prob, AnyTensor:$normalizer,
    AnyTensor:$status);
}

def Brew_SoftmaxLossBackwardOp : Brew_Op<"softmax_loss_backward", [Pure, LoopNests, Roundable]> {
  let summary = "dx = (prob - onehot(label)) * class_weights[label] * dloss / normalizer";
  let description = [{
    With `logarithms`, `prob` counts as 0.
  }];
  let arguments = (ins AnyTensor:$prob, AnyTensor:$label, AnyTensor:$normalizer,
    AnyTensor:$dloss, Optional<AnyTensor>:$class_weights, StrAttr:$layer, I64Attr:$axis, OptionalAttr<I64Attr>:$ignore_label,
    UnitAttr:$logarithms);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_LabelLossesOp : Brew_LayerOp<"label_losses", [Pure, LoopNests]> {
  let summary = "-log(prob[label]) of each label, 0 for ignored ones";
  let description = [{
    `losses` has the shape of `label`. The loss of `brew.softmax_loss` without class weights is
    their sum divided by the normalizer.
  }];
  let arguments = !con((ins AnyTensor:$prob, AnyTensor:$label), layerAttributes,
    (ins I64Attr:$axis, OptionalAttr<I64Attr>:$ignore_label));
  let results = (outs AnyTensor:$losses);
}

def Brew_AccuracyOp : Brew_LayerOp<"accuracy",
    [Pure, LoopNests, Labels, ItemCounts, RoundablePartly]> {
  let summary = "Fraction of samples whose label is among the `top_k` scores";
  let description = [{
    `per_class` is the accuracy of each class, 0 for a class without samples.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$label), layerAttributes,
    (ins I64Attr:$axis, I64Attr:$top_k, OptionalAttr<I64Attr>:$ignore_label));
  let results = (outs AnyTensor:$accuracy, AnyTensor:$per_class, AnyTensor:$status);
}

#endif // BREW_LAYERS_LOSS_TD
