//===- Resample.td - Forks' layers that move positions -----*- tablegen -*-===//
#ifndef BREW_LAYERS_RESAMPLE_TD
#define BREW_LAYERS_RESAMPLE_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_ShuffleChannelOp : Brew_LayerOp<"shuffle_channel",
    [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Channel i of group g becomes channel g of group i";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins I64Attr:$group));
  let results = (outs AnyTensor:$y);
}

def Brew_ReorgOp : Brew_LayerOp<"reorg", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Positions become channels, or channels positions with `reverse`";
  let description = [{
    As Darknet does it, whose weights rely on it: of an image of C channels, H rows
    and W columns, the elements in order are those of C / stride^2 channels, H *
    stride rows and W * stride columns, whose every stride-th position in either
    direction belongs to one of the C channels.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$stride, UnitAttr:$reverse));
  let results = (outs AnyTensor:$y);
}

def Brew_ReorgBackwardOp : Brew_Op<"reorg_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Puts the gradient back";
  let arguments = (ins AnyTensor:$dy, StrAttr:$layer, I64Attr:$stride, UnitAttr:$reverse);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_UpsampleOp : Brew_LayerOp<"upsample", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Every position repeated scale[0] times down, scale[1] times across";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$scale));
  let results = (outs AnyTensor:$y);
}

def Brew_InterpOp : Brew_LayerOp<"interp", [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "Bilinear resizing with aligned corners";
  let description = [{
    The rows and columns of x without the first -pad_beg and the last -pad_end
    become `size` (height, width) or, without it, first fewer by `shrink` and then
    more by `zoom`, or as many as `reference` has.
  }];
  let arguments = !con((ins AnyTensor:$x, Optional<AnyTensor>:$reference), layerAttributes,
    (ins DenseI64ArrayAttr:$size, I64Attr:$zoom, I64Attr:$shrink, I64Attr:$pad_beg,
      I64Attr:$pad_end));
  let results = (outs AnyTensor:$y);
}

def Brew_InterpBackwardOp : Brew_Op<"interp_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Sums, for each position, what the positions made of it weigh it by";
  let arguments = (ins AnyTensor:$dy, StrAttr:$layer, I64Attr:$pad_beg, I64Attr:$pad_end);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_AxpyOp : Brew_LayerOp<"axpy", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "a * x + y with one a for each channel of each sample";
  let arguments = !con((ins AnyTensor:$a, AnyTensor:$x, AnyTensor:$y), layerAttributes);
  let results = (outs AnyTensor:$z);
}

#endif // BREW_LAYERS_RESAMPLE_TD
