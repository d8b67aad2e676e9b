//===- BrewLayer.td - Base classes of layer operations --------------------===//
//
// One operation per kind of layer. `layer` is the layer's name, `tops` the blob
// names of the leading results; further results are values saved for the backward
// pass. `loss_weights` has one entry per top, `propagate_down` one per bottom.
//
// Files that define operations include this file and never each other, since
// tablegen generates code for every operation that it reads.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_LAYER_TD
#define BREW_LAYER_TD

include "dialects/Brew/BrewEnums.td"
include "dialects/Brew/BrewInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Brew_LayerOp<string mnemonic, list<Trait> traits = []>
    : Brew_Op<mnemonic, !listconcat([
        DeclareOpInterfaceMethods<Brew_ShapeInterface>], traits)> {
  dag layerAttributes = (ins StrAttr:$layer, StrArrayAttr:$tops,
    OptionalAttr<DenseF32ArrayAttr>:$loss_weights,
    OptionalAttr<DenseBoolArrayAttr>:$propagate_down);
  let assemblyFormat =
    "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
}

class Brew_Elementwise<string mnemonic, list<Trait> traits = []>
    : Brew_LayerOp<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs AnyTensor:$y);
}

defvar Gradient = DeclareOpInterfaceMethods<Brew_GradientInterface>;
defvar LoopNests = DeclareOpInterfaceMethods<Brew_LoopNestInterface>;
defvar Loop = DeclareOpInterfaceMethods<Brew_LoopInterface>;
defvar Labels = DeclareOpInterfaceMethods<Brew_LabelInterface>;
defvar Library = TraitList<[
  DeclareOpInterfaceMethods<Brew_PlanStepInterface, ["countFlops"]>,
  DeclareOpInterfaceMethods<Brew_LibraryInterface>]>;
defvar Scalar = DeclareOpInterfaceMethods<Brew_ScalarBodyInterface>;
defvar ScalarInPlace = DeclareOpInterfaceMethods<Brew_ScalarBodyInterface, ["buildDerivativeFromResult"]>;
defvar ScalarBroadcast = DeclareOpInterfaceMethods<Brew_ScalarBodyInterface, ["operandAxis"]>;

#endif // BREW_LAYER_TD
