//===- Attention.td - Attention ----------------------------*- tablegen -*-===//
#ifndef BREW_LAYERS_ATTENTION_TD
#define BREW_LAYERS_ATTENTION_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"

def Brew_AttentionOp : Brew_LayerOp<"attention", [Pure, Gradient, LoopNests, ItemWise]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    `query` has the shape (items, queries, heads, width), `key` and `value` have the shape (items,
    keys, heads, width). The weights of a query are the softmax, over all keys, of its dot products
    with the keys, divided by the square root of the width. y is the sum of the values times the
    weights. With `causal`, a query reads no later keys.

    `options` contains the mask if `masked`, then a random key if `dropout` is set. The mask has the
    shape (items, keys) or (items or 1, ..., queries, keys); weights where it is 0 are 0. Dropout
    applies to the weights.

    The weights are not stored. `log_sums` has the shape (items, queries, heads): the logarithms of
    the softmax's denominators, from which the backward pass recomputes the weights.

    Example:

    ```mlir
    %y, %sums = brew.attention "attn"(%q, %k, %v) {causal}
        : (tensor<8x64x4x32xf32>, tensor<8x64x4x32xf32>, tensor<8x64x4x32xf32>)
        -> (tensor<8x64x4x32xf32>, tensor<8x64x4xf32>)
    ```
  }];
  let arguments = !con((ins AnyTensor:$query, AnyTensor:$key, AnyTensor:$value,
    Variadic<AnyTensor>:$options), layerAttributes,
    (ins UnitAttr:$causal, UnitAttr:$masked, OptionalAttr<F32Attr>:$dropout));
  let results = (outs AnyTensor:$y, AnyTensor:$log_sums);
}

#endif // BREW_LAYERS_ATTENTION_TD
