//===- Shape.td - Layers that arrange elements -------------*- tablegen -*-===//
#ifndef BREW_LAYERS_SHAPE_TD
#define BREW_LAYERS_SHAPE_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_ConcatOp : Brew_LayerOp<"concat", [Pure, Gradient, LoopNests, ItemWise]> {
  let summary = "Joins blobs along `axis`";
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes, (ins I64Attr:$axis));
  let results = (outs AnyTensor:$y);
}

def Brew_SliceOp : Brew_LayerOp<"slice", [Pure, Gradient, LoopNests, ItemWise]> {
  let summary = "Divides a blob along `axis`";
  let description = [{
    `points` are the positions at which each top but the first starts; without
    them all tops are of equal size.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$axis, DenseI64ArrayAttr:$points));
  let results = (outs Variadic<AnyTensor>:$ys);
}

def Brew_ReverseOp : Brew_LayerOp<"reverse", [Pure, Gradient, LoopNests, ItemCounts, RoundableMove]> {
  let summary = "The elements in reverse order along each of `axes`";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$axes));
  let results = (outs AnyTensor:$y);
}

def Brew_CropOp : Brew_LayerOp<"crop", [Pure, Gradient, LoopNests, ItemCounts]> {
  let summary = "The part of x, from `axis` on, that has the reference's size";
  let description = [{
    `offsets` has one entry for all dimensions from `axis` on, or one for each;
    without any the part starts at 0. Shape inference gives each of them one.
  }];
  let arguments = !con((ins AnyTensor:$x, AnyTensor:$reference), layerAttributes,
    (ins I64Attr:$axis, DenseI64ArrayAttr:$offsets));
  let results = (outs AnyTensor:$y);
}

def Brew_ReshapeOp : Brew_LayerOp<"reshape", [Pure, Gradient, ItemCounts]> {
  let summary = "The same elements under another shape";
  let description = [{
    `dims` replace `num_axes` dimensions (-1: all the rest) from `axis` on; 0
    keeps the dimension at its position, one -1 takes what is left.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins DenseI64ArrayAttr:$dims, I64Attr:$axis, I64Attr:$num_axes));
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

def Brew_FlattenOp : Brew_LayerOp<"flatten", [Pure, Gradient, ItemWise]> {
  let summary = "The dimensions from `axis` to `end_axis` as one";
  let arguments = !con((ins AnyTensor:$x), layerAttributes,
    (ins I64Attr:$axis, I64Attr:$end_axis));
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

def Brew_SqueezeOp : Brew_LayerOp<"squeeze", [Pure, Gradient, ItemCounts]> {
  let summary = "x without the dimensions `axes`, which are of size 1";
  let description = "Without `axes`, all dimensions of size 1 go.";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$axes));
  let results = (outs AnyTensor:$y);
  let hasCanonicalizeMethod = 1;
}

def Brew_PermuteOp : Brew_LayerOp<"permute", [Pure, Gradient, LoopNests, ItemCounts, RoundableMove]> {
  let summary = "Dimension i of the result is dimension order[i] of x";
  let description = "Dimensions that `order` does not name follow in their order.";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins DenseI64ArrayAttr:$order));
  let results = (outs AnyTensor:$y);
}

def Brew_TileOp : Brew_LayerOp<"tile", [Pure, Gradient, LoopNests, ItemWise, RoundableMove]> {
  let summary = "x repeated `tiles` times along `axis`";
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
  let summary = "Tensors one after the other along `axis`";
  let description = [{
    No nest: in the fused phase its operands are subviews of the result, written in
    place (see brew-position-subviews).
  }];
  let arguments = (ins Variadic<AnyTensor>:$xs, StrAttr:$layer, I64Attr:$axis);
  let results = (outs AnyTensor:$y);
}

def Brew_SubviewOp : Brew_SliceViewOp<"subview", [Brew_View, Brew_AcceptsSubviews]> {
  let summary = "The part of x that starts at `offsets`";
  let description = "In the fused phase a view of x, like `brew.reinterpret`.";
  let arguments = (ins AnyTensor:$x, StrAttr:$layer, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyTensor:$y);
}

def Brew_ZeroPadOp : Brew_SliceViewOp<"zero_pad", [LoopNests]> {
  let summary = "x at `offsets` of a tensor of zeros";
  let arguments = (ins AnyTensor:$x, StrAttr:$layer, DenseI64ArrayAttr:$offsets);
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_SHAPE_TD
