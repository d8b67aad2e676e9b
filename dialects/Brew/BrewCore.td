//===- BrewCore.td - Layers that passes refer to by name ---*- tablegen -*-===//
//
// Every other layer belongs to a group under layers/. Few sources include the
// code of a group, so that adding a layer there recompiles little.
//
//===----------------------------------------------------------------------===//
#ifndef BREW_CORE_TD
#define BREW_CORE_TD

include "dialects/Brew/BrewLayer.td"
include "dialects/Plan/PlanBase.td"

def Brew_DataInputOp : Brew_Op<"data_input", [Brew_Input]> {
  let summary = "Blobs of a data layer";
  let description = [{
    The data pipeline of the runtime writes the results before the program runs. `kind`
    is the layer's Caffe type (caffe/DataLayerKinds.h), `config` the complete LayerParameter,
    `folder` the folder of its prototxt, relative to which `config` names files.

    `record_dims` are the channels, rows and columns of the first record of the source before
    cropping, `mean_file_dims` those of the image in `mean_file`. They are absent if the source
    or the file does not exist at compile time.

    With `image_sizes_vary`, each batch is one image with its own size: the results have the
    largest extents of all images.

    With `channels`, the first top has that many channels; the first result has more,
    and the channels beyond contain zeros (set by input-conversion folding).

    Example:

    ```mlir
    %data, %label = brew.data_input "mnist" "Data" {config = "name: 'mnist' ...",
        folder = "/nets", tops = ["data", "label"]}
        : tensor<64x1x28x28xf32>, tensor<64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$layer, StrArrayAttr:$tops, StrAttr:$kind,
    Plan_DataInputConfigAttr:$config, StrAttr:$folder, OptionalAttr<I64Attr>:$channels,
    OptionalAttr<DenseI64ArrayAttr>:$record_dims, OptionalAttr<DenseI64ArrayAttr>:$mean_file_dims,
    UnitAttr:$image_sizes_vary);
  let results = (outs Variadic<AnyTensor>:$values);
  let assemblyFormat = "$layer $kind custom<DataInputDict>(attr-dict) `:` type($values)";
}

def Brew_RandomKeyOp : Brew_Op<"random_key", [Brew_Input]> {
  let summary = "Key of a layer's random numbers";
  let description = [{
    The host writes a new key before every run (dialects/Brew/RandomBits.h).

    ```mlir
    %key = brew.random_key "drop1" : tensor<2xi32>
    ```
  }];
  let arguments = (ins StrAttr:$layer);
  let results = (outs 1DTensorOf<[I32]>:$key);
  let assemblyFormat = "$layer attr-dict `:` type($key)";
}

def Brew_ConstantOp : Brew_Op<"constant",
    [Pure, Brew_PersistentRead, AllTypesMatch<["value", "result"]>]> {
  let summary = "Values that the plan contains";
  let description = [{
    A setting of a layer that is a tensor, such as the weights of classes. `name` is the name of
    its buffer in the plan.

    ```mlir
    %weights = brew.constant "loss" "loss class weights" dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins StrAttr:$layer, StrAttr:$name, ElementsAttr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$layer $name attr-dict $value";
}

def Brew_ReLUOp : Brew_Elementwise<"relu", [ScalarInPlace]> {
  let summary = "Rectified linear unit with slope";
  let description = [{
    y = x where x > 0, and negative_slope * x elsewhere.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes, (ins F32Attr:$negative_slope));
}

def Brew_SplitOp : Brew_LayerOp<"split", [Pure, Gradient]> {
  let summary = "One blob under several names";
  let description = [{
    Every result is x. The gradient of x is the sum of the gradients of the results.
    Canonicalization, which follows differentiation, replaces the results by x.
  }];
  let arguments = !con((ins AnyTensor:$x), layerAttributes);
  let results = (outs Variadic<AnyTensor>:$ys);
  let hasCanonicalizeMethod = 1;
}

def Brew_SilenceOp : Brew_LayerOp<"silence", [Pure]> {
  let summary = "Consumes blobs";
  let description = [{
    Caffe lists blobs that no layer consumes as outputs of the net. A Silence layer
    consumes blobs that are not outputs.
  }];
  let arguments = !con((ins Variadic<AnyTensor>:$xs), layerAttributes);
}

#endif // BREW_CORE_TD
