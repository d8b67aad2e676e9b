//===- Items.td - Blobs whose number of items the data decide -------------===//
#ifndef BREW_LAYERS_ITEMS_TD
#define BREW_LAYERS_ITEMS_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_FilterOp : Brew_LayerOp<"filter", [Pure, Gradient, LoopNests, ItemCounts, RoundableSelection]> {
  let summary = "The items of each x whose selector is not zero";
  let description = [{
    They stand first in the tops, in their order, and `count` says how many they
    are; what follows repeats the last of them, or is zero if there is none. `position`
    is the position of each item of x in the tops, or -1.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs, AnyTensor:$selector), layerAttributes);
  let results = (outs Variadic<AnyTensor>:$ys, AnyTensor:$count, AnyTensor:$position);
}

def Brew_WithItemCountOp : Brew_LayerOp<"with_item_count", [Pure, LoopNests, ItemCounts]> {
  let summary = "The items of each x, of which `number` says how many count";
  let description = [{
    `number` is one floating-point number; in the xs the last item that counts has been
    repeated (see ItemCounts.h). No gradient passes.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs, AnyTensor:$number), layerAttributes);
  let results = (outs Variadic<AnyTensor>:$ys, AnyTensor:$count);
}

class Brew_ItemOp<string mnemonic, list<Trait> traits = []>
    : Brew_Op<mnemonic, !listconcat([Pure, LoopNests], traits)> {
  let assemblyFormat = "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def Brew_FilterBackwardOp : Brew_ItemOp<"filter_backward", [Roundable]> {
  let summary = "dx is dy at `position`, and 0 for items that were not selected";
  let arguments = (ins AnyTensor:$dy, AnyTensor:$position, StrAttr:$layer);
  let results = (outs AnyTensor:$dx);
}

def Brew_MaskItemsOp : Brew_ItemOp<"mask_items", [Gradient, RoundableMove]> {
  let summary = "The first `count` items of x, then `fill`";
  let arguments = (ins AnyTensor:$x, AnyTensor:$count, StrAttr:$layer, F64Attr:$fill);
  let results = (outs AnyTensor:$y);
}

def Brew_AverageItemsOp : Brew_ItemOp<"average_items", [Gradient, Roundable]> {
  let summary = "x * items / count, or 0 if count is 0";
  let description = "Of a sum that was divided by `items`, the most there can be, it "
    "makes one that is divided by how many there are.";
  let arguments = (ins AnyTensor:$x, AnyTensor:$count, StrAttr:$layer,
    StrArrayAttr:$tops, OptionalAttr<DenseF32ArrayAttr>:$loss_weights, I64Attr:$items);
  let results = (outs AnyTensor:$y);
}

#endif // BREW_LAYERS_ITEMS_TD
