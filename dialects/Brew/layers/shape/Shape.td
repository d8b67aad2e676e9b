//===- Shape.td - Layers that arrange elements -------------*- tablegen -*-===//
#ifndef BREW_LAYERS_SHAPE_TD
#define BREW_LAYERS_SHAPE_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_ConcatOp : Brew_LayerOp<"concat", [Pure, Gradient, LoopNests, ItemCounts]> {
  let summary = "Concatenates blobs along `axis`";
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes, (ins I64Attr:$axis));
  let results = (outs AnyTensor:$y);
}

def Brew_SliceOp : Brew_LayerOp<"slice", [Pure, Gradient, LoopNests, ItemWise]> {
  let summary = "Splits a blob along `axis`";
  let description = [{
    `points` are the start positions of all tops but the first. Without them, the tops have equal
    sizes.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$axis, DenseI64ArrayAttr:$points));
  let results = (outs Variadic<AnyTensor>:$ys);
}

def Brew_ReverseOp : Brew_LayerOp<"reverse",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableMove]> {
  let summary = "Reverses the elements along each of `axes`";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$axes));
  let results = (outs AnyTensor:$y);
}

def Brew_CropOp : Brew_LayerOp<"crop", [Pure, Gradient, LoopNests, ItemCounts]> {
  let summary = "The slice of x that has the size of `reference`, from `axis` on";
  let description = [{
    `offsets` has one entry per dimension from `axis` on, one for all of them, or none for a slice
    that starts at 0. Shape inference replaces them by one entry per dimension.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$reference), layerAttributes,
    (ins I64Attr:$axis, DenseI64ArrayAttr:$offsets));
  let results = (outs AnyTensor:$y);
}

def Brew_CropCenterOp : Brew_LayerOp<"crop_center", [Pure, Gradient, LoopNests]> {
  let summary = "x without `sizes` elements at both ends of each dimension";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$sizes));
  let results = (outs AnyTensor:$y);
}

def Brew_PadOp : Brew_LayerOp<"pad", [Pure, Gradient, LoopNests, Roundable]> {
  let summary = "x surrounded by elements of one value";
  let description = [{
    `paddings` are the numbers of elements before and after each dimension, in pairs.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins DenseI64ArrayAttr:$paddings, F32Attr:$value));
  let results = (outs AnyTensor:$y);
}

def Brew_ReshapeOp : Brew_LayerOp<"reshape", [Pure, Gradient, ItemCounts]> {
  let summary = "The same elements under another shape";
  let description = [{
    `dims` replace `num_axes` dimensions (-1: all) from `axis` on. A 0 keeps the dimension at its
    position; a -1, at most one, takes the remaining elements.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins DenseI64ArrayAttr:$dims, I64Attr:$axis, I64Attr:$num_axes));
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

def Brew_FlattenOp : Brew_LayerOp<"flatten", [Pure, Gradient, ItemCounts]> {
  let summary = "Flattens the dimensions from `axis` to `end_axis`";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$axis, I64Attr:$end_axis));
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

def Brew_SqueezeOp : Brew_LayerOp<"squeeze", [Pure, Gradient, ItemCounts]> {
  let summary = "Removes the dimensions `axes`, which have size 1";
  let description = [{
    Without `axes`, removes all dimensions of size 1.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$axes));
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

def Brew_PermuteOp : Brew_LayerOp<"permute",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableMove]> {
  let summary = "Permutes dimensions: dimension i of y is dimension order[i] of x";
  let description = [{
    Dimensions that `order` does not name follow in their own order.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$order));
  let results = (outs AnyTensor:$y);
}

def Brew_TileOp : Brew_LayerOp<"tile", [Pure, Gradient, LoopNests, ItemWise, RoundableMove]> {
  let summary = "Repeats x `tiles` times along `axis`";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins I64Attr:$axis, I64Attr:$tiles));
  let results = (outs AnyTensor:$y);
}

def Brew_ParameterOp : Brew_LayerOp<"parameter", [Pure, Gradient]> {
  let summary = "A parameter of shape `dims` as a blob";
  let arguments = !con((ins AnyTensor:$w), layerAttributes, (ins DenseI64ArrayAttr:$dims));
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

//===----------------------------------------------------------------------===//
// Structural operations
//===----------------------------------------------------------------------===//

class Brew_SliceViewOp<string mnemonic, list<Trait> traits = []>
    : Brew_Op<mnemonic, !listconcat([Pure], traits)> {
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_ConcatViewOp : Brew_SliceViewOp<"concat_view", [Brew_View]> {
  let summary = "Concatenation along `axis` without a loop nest";
  let description = [{
    In the fused phase, the operands are subviews of the result: their producers write them in
    place (see brew-alias-subviews).
  }];
  let arguments = (ins Variadic<AnyTensor>:$xs, StrAttr:$layer, I64Attr:$axis);
  let results = (outs AnyTensor:$y);
}

def Brew_SubviewOp : Brew_SliceViewOp<"subview", [Brew_View, Brew_AcceptsSubviews]> {
  let summary = "The slice of x that starts at `offsets`";
  let description = [{
    In the fused phase, the result is a view of x, like that of `brew.reinterpret`.

    Example: two of four channels.

    ```mlir
    %y = brew.subview "slice"(%x) {offsets = array<i64: 0, 2>}
        : (tensor<8x4xf32>) -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$x, StrAttr:$layer, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyTensor:$y);
}

def Brew_ZeroPadOp : Brew_SliceViewOp<"zero_pad", [LoopNests]> {
  let summary = "x at `offsets` of a tensor of zeros";
  let arguments = (ins AnyTensor:$x, StrAttr:$layer, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_SHAPE_TD
