//===- Items.td - Blobs with a dynamic number of items --------------------===//
#ifndef BREW_LAYERS_ITEMS_TD
#define BREW_LAYERS_ITEMS_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_FilterOp : Brew_LayerOp<"filter",
    [Pure, Gradient, LoopNests, ItemCounts, RoundableSelection]> {
  let summary = "The items of each x whose selector is not 0";
  let description = [{
    The selected items come first in the tops, in their order; `count` is their number. The
    other items of the tops repeat the last selected one, or are 0 if there is none (see
    ItemCounts.h). `position` is the position of each item of x in the tops, or -1.

    Example:

    ```mlir
    %y, %count, %position = brew.filter "f"(%x, %selector) {tops = ["y"]}
        : (tensor<8x3xf32>, tensor<8xf32>) -> (tensor<8x3xf32>, tensor<i32>, tensor<8xi32>)
    ```
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs, AnyTensor:$selector), layerAttributes);
  let results = (outs Variadic<AnyTensor>:$ys, AnyTensor:$count, AnyTensor:$position);
}

def Brew_WithItemCountOp : Brew_LayerOp<"with_item_count", [Pure, LoopNests, ItemCounts]> {
  let summary = "Blobs of which only the first `number` items are valid";
  let description = [{
    `number` is one floating-point number. The items are along dimension `axis`, before which all
    extents are 1. The other items of each x must repeat the last valid item (see ItemCounts.h).
    Not differentiable.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs, AnyTensor:$number), layerAttributes,
    (ins DefaultValuedAttr<I64Attr, "0">:$axis));
  let results = (outs Variadic<AnyTensor>:$ys, AnyTensor:$count);
}

class Brew_ItemOp<string mnemonic, list<Trait> traits = []>
    : Brew_Op<mnemonic, !listconcat([Pure, LoopNests], traits)> {
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_FilterBackwardOp : Brew_ItemOp<"filter_backward", [Roundable]> {
  let summary = "Gradient of filter: dy at `position`, 0 for items not selected";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$position, StrAttr:$layer);
  let results = (outs AnyTensor:$dx);
}

def Brew_MaskItemsOp : Brew_ItemOp<"mask_items", [Gradient, RoundableMove]> {
  let summary = "The first `count` items of x, and `fill` for all others";
  let arguments = (ins AnyTensor:$x, AnyTensor:$count, StrAttr:$layer, F64Attr:$fill);
  let results = (outs AnyTensor:$y);
}

def Brew_ScaleItemCountOp : Brew_ItemOp<"scale_item_count"> {
  let summary = "The item count of a view: count * factor";
  let description = [{
    A view may divide each item into `factor` items, and may have them in another dimension, the
    rank of y.
  }];
  let arguments = (ins AnyTensor:$count, StrAttr:$layer, I64Attr:$factor);
  let results = (outs AnyTensor:$y);
}

defvar PackedItems = (ins Variadic<AnyTensor>:$counts, StrAttr:$layer, I64Attr:$axis,
  DenseI64ArrayAttr:$extents, DenseBoolArrayAttr:$counted);

def Brew_PackItemsOp : Brew_Op<"pack_items", [Pure, LoopNests, Gradient, RoundableMove]> {
  let summary = "The valid items of concatenated blobs, without the padding between them";
  let description = [{
    x is a concatenation along `axis` of blobs with `extents` items each. Those that are
    `counted` have only as many valid items as their entry of `counts`, in order. y starts with
    the valid items of all blobs and repeats the last one. `count` is their number.

    Example: two of three items, and one of one.

    ```mlir
    %y, %count = brew.pack_items "concat"(%x, %c) {axis = 0 : i64, counted = array<i1: true, false>,
        extents = array<i64: 3, 1>, tops = ["y"]} : (tensor<4x2xf32>, tensor<i32>) -> (tensor<4x2xf32>, tensor<i32>)
    ```
  }];
  let arguments = !con((ins AnyTensor:$x), PackedItems, (ins StrArrayAttr:$tops));
  let results = (outs AnyTensor:$y, AnyTensor:$count);
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_UnpackItemsOp : Brew_ItemOp<"unpack_items", [RoundableMove]> {
  let summary = "Gradient of pack_items: dy at the valid items of x, 0 for the padding";
  let arguments = !con((ins AnyTensor:$dy), PackedItems);
  let results = (outs AnyTensor:$dx);
}

def Brew_AverageItemsOp : Brew_ItemOp<"average_items", [Gradient, Roundable]> {
  let summary = "x * items / count, or 0 if count is 0";
  let description = [{
    Turns a mean over `items`, the maximal number of items, into a mean over the valid items.
  }];
  let arguments = (ins AnyTensor:$x, AnyTensor:$count, StrAttr:$layer,
    StrArrayAttr:$tops, OptionalAttr<DenseF32ArrayAttr>:$loss_weights, I64Attr:$items);
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_ITEMS_TD
