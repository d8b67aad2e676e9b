//===- Gather.td - ArgMax, BatchReindex, Embed -------------*- tablegen -*-===//
#ifndef BREW_LAYERS_GATHER_TD
#define BREW_LAYERS_GATHER_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_ArgMaxOp : Brew_LayerOp<"argmax",
    [Pure, Gradient, LoopNests, ItemWise, RoundableOperands]> {
  let summary = "Positions or values of the `top_k` largest elements";
  let description = [{
    With `axis`, y contains the values (`max_values`) or the positions along the axis. Without
    it, y contains the positions over a complete sample, followed by the values if
    `max_values`. Of equal elements, the last comes first.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$top_k, OptionalAttr<I64Attr>:$axis, UnitAttr:$max_values));
  let results = (outs AnyTensor:$y);
}

def Brew_KeepLargestOp : Brew_LayerOp<"keep_largest", [Pure, Gradient, LoopNests, Roundable]> {
  let summary = "The largest elements of each group; 0 for the others";
  let description = [{
    The elements that differ in the indices of `dims` alone are a group; without `dims`, those of
    an item. `k` elements of each group are kept, or the part `fraction` of it, times `factor`:
    rounded down, and at least one. Of equal elements, the first ones are kept. `mask` is 1 for
    the elements that are kept, and 0 for the others.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$dims,
    OptionalAttr<I64Attr>:$k, OptionalAttr<F32Attr>:$fraction, F32Attr:$factor));
  let results = (outs AnyTensor:$y, AnyTensor:$mask);
}

def Brew_BatchReindexOp : Brew_LayerOp<"batch_reindex",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundableSelection]> {
  let summary = "y[i] = x[index[i]], for items";
  let description = [{
    `status` is the result of the check of `index` (see `brew.check_labels`).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$index), layerAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_BatchReindexBackwardOp : Brew_Op<"batch_reindex_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of batch_reindex: sums dy over the copies of each item";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$index, StrAttr:$layer);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_EmbedOp : Brew_LayerOp<"embed",
    [Pure, Gradient, LoopNests, Labels, ItemWise, RoundableTops]> {
  let summary = "y = w[x] + b for each element of x";
  let description = [{
    Shapes: w [input_dim, num_output], y [X..., num_output]. `status` is the result of the check
    of x (see `brew.check_labels`).
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$input_dim, I64Attr:$num_output));
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_EmbedBackwardOp : Brew_Op<"embed_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of embed: sums the rows of dy for each value of x";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$x, StrAttr:$layer);
  let results = (outs AnyTensor:$dw);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_GATHER_TD
