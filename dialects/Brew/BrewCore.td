//===- BrewCore.td - Layers that passes know by name -------*- tablegen -*-===//
//
// Every other layer lives in a group of its own under layers/, which nothing
// but its .cpp includes: adding one there recompiles little.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_CORE_TD
#define BREW_CORE_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Plan/PlanBase.td"

def Brew_DataInputOp : Brew_Op<"data_input"> {
  let summary = "A layer that brings data in";
  let description = [{
    `kind` is the layer's type (caffe/DataLayerKinds.h), `config` the whole
    LayerParameter, `folder` where its prototxt lies.
    The runtime's readers fill the results before the program runs. With `channels`
    the first top has so many, and the first result zeros in those beyond.
  }];
  let arguments = (ins StrAttr:$layer, StrArrayAttr:$tops, StrAttr:$kind,
    Plan_DataInputConfigAttr:$config, StrAttr:$folder, OptionalAttr<I64Attr>:$channels);
  let results = (outs Variadic<AnyTensor>:$values);
  let assemblyFormat = "$layer $kind custom<DataInputDict>(attr-dict) `:` type($values)";
}

def Brew_ReLUOp : Brew_Elementwise<"relu", [ScalarInPlace]> {
  let summary = "x where x > 0, negative_slope * x elsewhere";
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins F32Attr:$negative_slope));
}

def Brew_SplitOp : Brew_LayerOp<"split", [Pure, Gradient]> {
  let summary = "The same blob under several names";
  let arguments = !con((ins AnyTensor:$x), layerAttributes);
  let results = (outs Variadic<AnyTensor>:$ys);
}

def Brew_SilenceOp : Brew_LayerOp<"silence", [Pure]> {
  let summary = "Consumes blobs so that they are no outputs of the net";
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes);
}

#endif // BREW_CORE_TD
