//===- External.td - What the caller of a program computes ------*- tablegen -*-===//
#ifndef BREW_LAYERS_EXTERNAL_TD
#define BREW_LAYERS_EXTERNAL_TD

include "dialects/Brew/BrewLayer.td"

def Brew_SeedOp : Brew_Op<"seed"> {
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

#endif // BREW_LAYERS_EXTERNAL_TD
