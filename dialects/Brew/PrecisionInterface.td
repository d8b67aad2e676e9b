//===- PrecisionInterface.td - Rounding to 16 bits ---------*- tablegen -*-===//
//
// Separate from BrewInterfaces.td so that only operations that declare the interface
// depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_PRECISION_INTERFACE_TD
#define BREW_PRECISION_INTERFACE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Brew_PrecisionInterface : OpInterface<"PrecisionInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation whose operands and results may be rounded to 16 bits, except those that its
    methods name. An operation without the interface keeps full precision on both sides.
    Scalar bodies, library calls and operations that only move elements do not need the
    interface: passes know which of their values may be rounded.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether an operand must not be rounded, like labels, indices, regions and masks.
        Then the values that it is computed from must not be rounded either, if the
        computation is elementwise or only moves elements.
      }],
      "bool", "mustStayExact", (ins "unsigned":$operand), "", "return false;">,
    InterfaceMethod<[{
        Whether a result consists of an operand's elements at other positions. Then the
        operand must not be rounded if the result must not be.
      }],
      "bool", "copiesElements", (ins "unsigned":$operand, "unsigned":$result), "",
      "return false;">,
    InterfaceMethod<[{
        Whether a top stays f32: positions, counts, probabilities, and values that are
        summed later. Results saved for the backward pass always stay f32.
      }],
      "bool", "staysF32", (ins "unsigned":$result), "", "return false;">];
}

// Roundable: all operands and results may be rounded.
// RoundableMove: the same, for an operation that moves elements.
// RoundableSelection: selects elements by operands that must stay exact.
// RoundableOperands: tops stay f32; operands may be rounded.
// RoundableTops: operands must stay exact; tops may be rounded.
// RoundablePartly: some operands must stay exact, and some tops stay f32.
defvar Roundable = Brew_PrecisionInterface;
defvar RoundableMove = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["copiesElements"]>;
defvar RoundableSelection = DeclareOpInterfaceMethods<Brew_PrecisionInterface,
  ["mustStayExact", "copiesElements"]>;
defvar RoundableOperands = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["staysF32"]>;
defvar RoundableTops = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["mustStayExact"]>;
defvar RoundablePartly = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["mustStayExact", "staysF32"]>;

#endif // BREW_PRECISION_INTERFACE_TD
