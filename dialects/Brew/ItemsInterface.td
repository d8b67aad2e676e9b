//===- ItemsInterface.td - Layers that accept counted items ---------------===//
//
// Apart from BrewInterfaces.td, so that only layers which declare it depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_ITEMS_INTERFACE_TD
#define BREW_ITEMS_INTERFACE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Brew_ItemsInterface : OpInterface<"ItemsInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    A layer that accepts bottoms of which only the first items count, how many being
    known at run time (see Items.h). Without a definition of its own it computes each
    item of its tops from the same item of its bottoms.
  }];
  let methods = [InterfaceMethod<[{
      Says which tops are counted, and by what; changes what the layer reads and
      gives where it combines items. Shapes are known. Called for every layer, with
      counted bottoms or without.
    }],
    "::mlir::LogicalResult", "countItems",
    (ins "::brew::dialects::ItemCounts &":$counts), "",
    "return counts.pass($_op.getOperation());">];
}

// A layer that works item by item, and one that says itself what it does.
defvar ItemWise = Brew_ItemsInterface;
defvar Items = DeclareOpInterfaceMethods<Brew_ItemsInterface, ["countItems"]>;

#endif // BREW_ITEMS_INTERFACE_TD
