//===- PrecisionInterface.td - What may be rounded ---------*- tablegen -*-===//
//
// Apart from BrewInterfaces.td, so that only operations which declare it depend on it.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_PRECISION_INTERFACE_TD
#define BREW_PRECISION_INTERFACE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/Interfaces.td"

def Brew_PrecisionInterface : OpInterface<"PrecisionInterface"> {
  let cppNamespace = "::brew::dialects";
  let description = [{
    An operation that computes as well from operands that have been rounded to 16
    bits, and whose results may be rounded, save those it names. One that declares
    nothing keeps all digits on both sides. Scalar bodies, vendor calls and what only
    moves elements need no declaration: for them passes know what may be rounded.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether an operand must keep all digits, as labels, indices, regions and masks
        do; so must what it is computed from, as far as that is only moved or computed
        element by element.
      }],
      "bool", "mustStayExact", (ins "unsigned":$operand), "", "return false;">,
    InterfaceMethod<[{
        Whether the elements of a result are those of an operand, at other places:
        then it must keep all digits where the result must.
      }],
      "bool", "copiesElements", (ins "unsigned":$operand, "unsigned":$result), "",
      "return false;">,
    InterfaceMethod<[{
        Whether a top stays f32, as those do that number or count something, that are
        probabilities, or that are summed up further. What is saved beyond the tops
        stays f32 anyway.
      }],
      "bool", "staysF32", (ins "unsigned":$result), "", "return false;">];
}

// An operation all of which may be rounded, those that name what may not, and those
// that give elements another place.
defvar Roundable = Brew_PrecisionInterface;
defvar RoundableMove = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["copiesElements"]>;
defvar RoundableSelection = DeclareOpInterfaceMethods<Brew_PrecisionInterface,
  ["mustStayExact", "copiesElements"]>;
defvar RoundableOperands = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["staysF32"]>;
defvar RoundableTops = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["mustStayExact"]>;
defvar RoundablePartly = DeclareOpInterfaceMethods<Brew_PrecisionInterface, ["mustStayExact", "staysF32"]>;

#endif // BREW_PRECISION_INTERFACE_TD
