//===- External.td - Layers and gradients from host code ------------------===//
#ifndef BREW_LAYERS_EXTERNAL_TD
#define BREW_LAYERS_EXTERNAL_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Brew/ItemCountInterface.td"
include "dialects/Brew/PrecisionInterface.td"

def Brew_OutputGradientOp : Brew_Op<"output_gradient", [Brew_Input]> {
  let summary = "Gradient of a blob that the caller writes";
  let description = [{
    The result is the gradient of the blob's last version. The operation stands between the
    forward and the backward pass of a program: there the caller reads outputs and pinned
    blobs, and writes the gradient, before the backward pass starts. Operations of the forward
    pass whose results the caller can see must not move below the first output gradient.
    Nothing overwrites the gradient before the backward pass reads it.

    Example:

    ```mlir
    %g = brew.output_gradient "scores" : tensor<64x10xf32>
    ```
  }];
  let arguments = (ins StrAttr:$blob);
  let results = (outs AnyTensor:$gradient);
  let assemblyFormat = "$blob attr-dict `:` type($gradient)";
}

// Identify the layer for the host functions that compute it.
defvar hostAttributes = (ins StrAttr:$kind, StrAttr:$settings, StrAttr:$param_str,
  UnitAttr:$test_phase);
// RoundablePartly declares the methods by which host calls forbid the rounding of every operand and
// result.
defvar HostCall = TraitList<[DeclareOpInterfaceMethods<Brew_PlanStepInterface>,
  RoundablePartly, Brew_AcceptsSubviews]>;

def Brew_HostLayerOp : Brew_LayerOp<"host_layer", [Gradient, ItemCounts, HostCall]> {
  let summary = "A layer that host code of the application or the runtime computes";
  let description = [{
    `kind` is the layer type under which its functions are registered, `settings` the layer as
    prototxt text, `param_str` the `param_str` of its python_param. The shapes of the tops come
    from the types registered with the dialect (dialects/Brew/HostLayers.h) or from `shapes`,
    which has one entry per top: its dimensions, or unit if the caller of the compiler did not
    provide them.

    The functions may keep state between calls, so that calls are neither eliminated nor merged.
    Their operands and results are never rounded to 16 bits.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes, hostAttributes,
    (ins OptionalAttr<ArrayAttr>:$shapes));
  let results = (outs Variadic<AnyTensor>:$ys);
}

def Brew_HostLayerBackwardOp : Brew_Op<"host_layer_backward",
    [AttrSizedOperandSegments, HostCall]> {
  let summary = "The backward pass of a host layer";
  let description = [{
    Operands are the bottoms, the tops and the gradients of all tops. The results are the
    gradients of the bottoms whose indices are in `bottoms`.
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
