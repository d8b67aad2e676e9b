//===- Gather.td - Layers that choose elements by value ----*- tablegen -*-===//
#ifndef BREW_LAYERS_GATHER_TD
#define BREW_LAYERS_GATHER_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_ArgMaxOp : Brew_LayerOp<"argmax", [Pure, Gradient, LoopNests, ItemWise, RoundableOperands]> {
  let summary = "Positions, or values, of the top_k largest elements";
  let description = [{
    With `axis`, along it: values if `max_values`, positions otherwise. Without, over
    all of a sample: positions and, if `max_values`, values behind them. Of equal
    elements the last comes first.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$top_k, OptionalAttr<I64Attr>:$axis, UnitAttr:$max_values));
  let results = (outs AnyTensor:$y);
}

def Brew_BatchReindexOp : Brew_LayerOp<"batch_reindex",
    [Pure, Gradient, LoopNests, Labels, ItemCounts, RoundableSelection]> {
  let summary = "Item i of the result is item index[i] of x";
  let description = "`status` is the index check's result (see `brew.check_labels`).";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$index), layerAttributes);
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_BatchReindexBackwardOp : Brew_Op<"batch_reindex_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Sums dy over all positions where an item went";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$index, StrAttr:$layer);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_EmbedOp : Brew_LayerOp<"embed", [Pure, Gradient, LoopNests, Labels, ItemWise, RoundableTops]> {
  let summary = "Row w[x], plus bias, for every element of x";
  let description = "`status` is the index check's result (see `brew.check_labels`).";
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$w, Optional<AnyTensor>:$b),
    layerAttributes, (ins I64Attr:$input_dim, I64Attr:$num_output));
  let results = (outs AnyTensor:$y, AnyTensor:$status);
}

def Brew_EmbedBackwardOp : Brew_Op<"embed_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Sums the rows of dy by the element of x they belong to";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$x, StrAttr:$layer);
  let results = (outs AnyTensor:$dw);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

#endif // BREW_LAYERS_GATHER_TD
