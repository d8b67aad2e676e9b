//===- ItemCountInterface.td - Layers that accept counted items ---------------===//
//
// Apart from BrewInterfaces.td, so that only layers which declare it depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_ITEM_COUNT_INTERFACE_TD
#define BREW_ITEM_COUNT_INTERFACE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Brew_ItemCountInterface : OpInterface<"ItemCountInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer that accepts bottoms of which only the first items count, how many being
    known at run time (see ItemCounts.h). Without a definition of its own it computes each
    item of its tops from the same item of its bottoms.
  }];
  let methods = [InterfaceMethod<[{
      Says which tops are counted, and by what; changes what the layer reads and
      gives where it combines items. Shapes are known. Called for every layer, with
      counted bottoms or without.
    }],
    "::mlir::LogicalResult", "propagateItemCounts",
    (ins "::brew::dialects::ItemCounts &":$counts), "",
    "return counts.propagate($_op.getOperation());">];
}

// A layer that works item by item, and one that says itself what it does.
defvar ItemWise = Brew_ItemCountInterface;
defvar ItemCounts = DeclareOpInterfaceMethods<Brew_ItemCountInterface, ["propagateItemCounts"]>;

#endif // BREW_ITEM_COUNT_INTERFACE_TD
