//===- ItemCountInterface.td - Layers that accept item counts -------------===//
//
// Separate from BrewInterfaces.td so that only layers that declare the interface
// depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_ITEM_COUNT_INTERFACE_TD
#define BREW_ITEM_COUNT_INTERFACE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Brew_ItemCountInterface : OpInterface<"ItemCountInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer that accepts bottoms of which only the first items are valid, their number being
    known at run time only (see ItemCounts.h). The default implementation is that of a layer
    that computes each item of its tops from the same item of its bottoms.
  }];
  let methods = [InterfaceMethod<[{
      Sets the item counts of the tops. Masks operands and rescales results if the
      layer combines items. Requires inferred shapes. Called for every layer, even if no
      bottom has an item count.
    }],
    "::mlir::LogicalResult", "propagateItemCounts",
    (ins "::brew::dialects::ItemCounts &":$counts), "",
    "return counts.propagate($_op.getOperation());">];
}

// A layer that computes item by item, and a layer with its own implementation.
defvar ItemWise = Brew_ItemCountInterface;
defvar ItemCounts = DeclareOpInterfaceMethods<Brew_ItemCountInterface, ["propagateItemCounts"]>;

#endif // BREW_ITEM_COUNT_INTERFACE_TD
