//===- External.td - What the caller of a program computes ----------------===//
#ifndef BREW_LAYERS_EXTERNAL_TD
#define BREW_LAYERS_EXTERNAL_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_OutputGradientOp : Brew_Op<"output_gradient"> {
  let summary = "The gradient of a blob's last version, which the caller writes";
  let description = [{
    Stands between a program's forward and backward pass: the caller may look at
    outputs and kept blobs there, and write before the backward pass begins. Nothing
    of the forward pass that it can see may move behind the first of them, and nothing
    overwrites the seed before backward reads it.
  }];
  let arguments = (ins StrAttr:$blob);
  let results = (outs AnyTensor:$gradient);
  let assemblyFormat = "$blob attr-dict `:` type($gradient)";
}

// Which layer it is, for the functions that compute it.
defvar hostAttributes = (ins StrAttr:$kind, StrAttr:$settings, StrAttr:$param_str,
  UnitAttr:$test_phase);
defvar HostCall = TraitList<[DeclareOpInterfaceMethods<Brew_PlanStepInterface>,
  RoundablePartly, Brew_AcceptsSubviews]>;

def Brew_HostLayerOp : Brew_LayerOp<"host_layer", [Gradient, ItemCounts, HostCall]> {
  let summary = "A layer that the program around the runtime, or the runtime itself, computes";
  let description = [{
    `kind` is the type that its functions are registered for; `settings` the layer as
    text of the prototxt, `param_str` that of its python_param. Shapes of tops come from
    the types that the dialect knows (dialects/Brew/HostLayers.h), or are those of
    `shapes`, which has an entry for each top: its dimensions, or unit where nobody gave
    them. Its functions may keep what they like between calls, so that calls are neither
    dropped nor joined. They get and give all digits.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes, hostAttributes,
    (ins OptionalAttr<ArrayAttr>:$shapes));
  let results = (outs Variadic<AnyTensor>:$ys);
}

def Brew_HostLayerBackwardOp : Brew_Op<"host_layer_backward",
    [AttrSizedOperandSegments, HostCall]> {
  let summary = "The backward pass of a host layer";
  let description = [{
    Reads bottoms, tops and the gradients of all tops; its results are the gradients of
    the bottoms that `bottoms` numbers.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs, Variadic<AnyTensor>:$ys,
    Variadic<AnyTensor>:$dys, StrAttr:$layer, DenseI64ArrayAttr:$bottoms),
    hostAttributes);
  let results = (outs Variadic<AnyTensor>:$dxs);
  let assemblyFormat =
    "$layer `(` operands `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // BREW_LAYERS_EXTERNAL_TD
