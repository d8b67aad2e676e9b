//===- Opaque.td - Layers without code *- tablegen -*-===//
#ifndef BREW_LAYERS_OPAQUE_TD
#define BREW_LAYERS_OPAQUE_TD

include "dialects/Brew/BrewLayer.td"

def Brew_OpaqueOp : Brew_LayerOp<"opaque"> {
  let summary = "A layer of a type that has no code";
  let description = [{
    What a net looks like can be shown before all its layers can be compiled: phase
    import keeps such a layer with its type and, in text form, its settings. Its
    shapes are unknown, so no later phase takes it.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes,
    (ins StrAttr:$kind, StrAttr:$config));
  let results = (outs Variadic<AnyTensor>:$ys);
}

#endif // BREW_LAYERS_OPAQUE_TD
