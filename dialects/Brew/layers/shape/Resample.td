//===- Resample.td - Forks' layers that move elements ------*- tablegen -*-===//
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
  let summary = "Moves positions into channels, or channels into positions with `reverse`";
  let description = [{
    Uses the element order of Darknet, on which its weights rely: the elements of an image of C
    channels, H rows and W columns, in order, are read as C / stride^2 channels of H * stride rows
    and W * stride columns, of which each of the C channels takes every stride-th position in both
    directions.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$stride, UnitAttr:$reverse));
  let results = (outs AnyTensor:$y);
}

def Brew_ReorgBackwardOp : Brew_Op<"reorg_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of reorg: moves elements back";
  let arguments = (ins AnyTensor:$dy, StrAttr:$layer, I64Attr:$stride, UnitAttr:$reverse);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_UpsampleOp : Brew_LayerOp<"upsample", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "Repeats every position scale[0] times down and scale[1] times across";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$scale));
  let results = (outs AnyTensor:$y);
}

def Brew_InterpOp : Brew_LayerOp<"interp", [Pure, Gradient, LoopNests, ItemCounts, Roundable]> {
  let summary = "Bilinear resizing with aligned corners";
  let description = [{
    First removes `-pad_beg` rows and columns at the start of x and `-pad_end` at the end (both
    pads are at most 0). The result has `size` (height, width), the size of `reference`, or the
    cropped size reduced by `shrink` and then enlarged by `zoom`.
  }];
  let arguments = !con((ins AnyTensor:$x, Optional<AnyTensor>:$reference), layerAttributes,
    (ins DenseI64ArrayAttr:$size, I64Attr:$zoom, I64Attr:$shrink, I64Attr:$pad_beg,
      I64Attr:$pad_end));
  let results = (outs AnyTensor:$y);
}

def Brew_InterpBackwardOp : Brew_Op<"interp_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of interp: weighted sums over the positions that read an element";
  let arguments = (ins AnyTensor:$dy, StrAttr:$layer, I64Attr:$pad_beg, I64Attr:$pad_end);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

// The positions of x that a position of the result reads.
defvar ResizePositions = (ins I64Attr:$axis, UnitAttr:$align_corners, F32Attr:$before,
  F32Attr:$after, UnitAttr:$single_reads_first, UnitAttr:$zero_outside, UnitAttr:$nearest);

def Brew_ResizeOp : Brew_LayerOp<"resize", [Pure, Gradient, LoopNests, Roundable]> {
  let summary = "Resizing of the dimensions `axis` and `axis` + 1";
  let description = [{
    The extents of the result are `size`, or where that is 0, those of x times `scale`, rounded
    down.

    Position i of the result reads the position (i + `before`) * ratio + `after` of x, where ratio
    is the quotient of their extents, or of the extents minus 1 with `align_corners`. A result of
    extent 1 reads the first position with `single_reads_first`.

    `nearest` rounds that position down. Otherwise, the result is interpolated from the positions
    before and after it. Beyond the edges, these are the first and the last position, or with
    `zero_outside` elements that are 0.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins DenseI64ArrayAttr:$size, DenseF32ArrayAttr:$scale), ResizePositions);
  let results = (outs AnyTensor:$y);
}

def Brew_ResizeBackwardOp : Brew_Op<"resize_backward", [Pure, LoopNests, Roundable]> {
  let summary = "Gradient of resize: weighted sums over the positions that read an element";
  let arguments = !con((ins AnyTensor:$dy, StrAttr:$layer), ResizePositions);
  let results = (outs AnyTensor:$dx);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_AxpyOp : Brew_LayerOp<"axpy", [Pure, Gradient, LoopNests, ItemWise, Roundable]> {
  let summary = "a * x + y, with one a for each channel of each sample";
  let arguments = !con((ins AnyTensor:$a, AnyTensor:$x, AnyTensor:$y), layerAttributes);
  let results = (outs AnyTensor:$z);
}

#endif // BREW_LAYERS_RESAMPLE_TD
