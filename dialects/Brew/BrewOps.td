//===- BrewOps.td - Programs, parameters, sinks, kernels ---*- tablegen -*-===//
#ifndef BREW_OPS_TD
#define BREW_OPS_TD

include "dialects/Brew/BrewEnums.td"
include "dialects/Brew/BrewInterfaces.td"
include "dialects/Plan/PlanBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Brew_ProgramOp : Brew_Op<"program",
    [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "A step list the runtime can execute";
  let description = [{
    What it is for is its `role`. Any but `main`, the program of a bare net, gives it
    its name (programName). `blobs` records name and shape of every blob of the net, `params` the shapes of
    each layer's parameters, and `caffe_bytes` the size of the blobs' data and
    gradients; shape inference sets them.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Brew_NetPhaseAttr:$net_phase,
    DefaultValuedAttr<Brew_ProgramRoleAttr, "ProgramRole::Main">:$role,
    OptionalAttr<DictionaryAttr>:$blobs, OptionalAttr<DictionaryAttr>:$params,
    OptionalAttr<I64Attr>:$caffe_bytes, UnitAttr:$differentiate);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat =
    "$sym_name $net_phase (`role` $role^)? (`differentiate` $differentiate^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Brew_ParamOp : Brew_Op<"param", [Symbol]> {
  let summary = "A learnable parameter blob";
  let description = [{
    `type` is the shape and layout in memory; `file_dims`, set by shape inference,
    the shape in weight files, whose row-major order is that of `type`'s logical
    dimensions. `sharers` lists further users of the blob. Weight files record `layer_type`,
    the layer's Caffe type.
    A parameter with lr_mult 0 has no gradient. One without `filler` starts as Caffe's
    default one makes it, or from what programs store.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
    StrAttr:$layer, I64Attr:$index,
    OptionalAttr<DenseI64ArrayAttr>:$file_dims, OptionalAttr<Plan_FillerAttr>:$filler,
    DefaultValuedAttr<F32Attr, "1.0f">:$lr_mult,
    DefaultValuedAttr<F32Attr, "1.0f">:$decay_mult,
    OptionalAttr<StrAttr>:$shared_name, OptionalAttr<Plan_SharerArrayAttr>:$sharers,
    UnitAttr:$permissive,
    DefaultValuedStrAttr<StrAttr, "">:$layer_type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

class Brew_ParamRead<string mnemonic> : Brew_Op<mnemonic, [Pure, Brew_PersistentRead]> {
  let results = (outs AnyTensor:$result);
}

def Brew_ParamValueOp : Brew_ParamRead<"param_value"> {
  let summary = "The parameter's present value";
  let arguments = (ins FlatSymbolRefAttr:$param);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}
def Brew_ParamGradientOp : Brew_ParamRead<"param_gradient"> {
  let summary = "The gradient that forward_backward stored";
  let arguments = (ins FlatSymbolRefAttr:$param);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}
def Brew_ParamStateOp : Brew_ParamRead<"param_state"> {
  let summary = "Solver history of a parameter";
  let arguments = (ins FlatSymbolRefAttr:$param, I64Attr:$slot);
  let assemblyFormat = "$param `[` $slot `]` attr-dict `:` type($result)";
}
def Brew_SolverScalarOp : Brew_Op<"solver_scalar", [Pure, Brew_PersistentRead]> {
  let summary = "A scalar the host sets before every update";
  let arguments = (ins Brew_SolverScalarAttr:$scalar);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($result)";
}

def Brew_StoreParamOp : Brew_Op<"store_param", [Store]> {
  let summary = "Makes a value the parameter's present one";
  let arguments = (ins AnyTensor:$value, FlatSymbolRefAttr:$param);
  let assemblyFormat = "$value `,` $param attr-dict `:` type($value)";
}
def Brew_StoreGradientOp : Brew_Op<"store_gradient", [Store]> {
  let summary = "Keeps a parameter's gradient for the update";
  let arguments = (ins AnyTensor:$value, FlatSymbolRefAttr:$param);
  let assemblyFormat = "$value `,` $param attr-dict `:` type($value)";
}
def Brew_StoreStateOp : Brew_Op<"store_state", [Store]> {
  let summary = "Makes a value the parameter's solver history";
  let arguments = (ins AnyTensor:$value, FlatSymbolRefAttr:$param, I64Attr:$slot);
  let assemblyFormat = "$value `,` $param `[` $slot `]` attr-dict `:` type($value)";
}

def Brew_OutputOp : Brew_Op<"output", [Brew_Sink, Brew_AcceptsSubviews]> {
  let summary = "A top the solver reports, or one that counts for the loss";
  let description = [{
    `inner` marks a top with a loss weight that a later layer consumes: it counts
    for the total loss but Caffe does not list it among the net's outputs.
  }];
  let arguments = (ins AnyTensor:$value, StrAttr:$blob, F32Attr:$loss_weight,
    UnitAttr:$unreported);
  let assemblyFormat = "$value $blob `loss_weight` $loss_weight (`unreported` $unreported^)? attr-dict `:` type($value)";
}

def Brew_PinOp : Brew_Op<"pin", [Brew_Sink, Brew_AcceptsSubviews]> {
  let summary = "Pins what a blob holds so that it can be read after the run";
  let arguments = (ins AnyTensor:$value, Plan_BlobValueAttr:$what, StrAttr:$blob);
  let assemblyFormat = "$what $blob `,` $value attr-dict `:` type($value)";
}

def Brew_PinLayerValueOp : Brew_Op<"pin_layer_value", [Brew_Sink, Brew_AcceptsSubviews]> {
  let summary = "Pins what debug_info shows of a layer";
  let description = [{
    `layer` is the layer's position in the net's record, `index` that of the top or
    bottom in the layer.
  }];
  let arguments = (ins AnyTensor:$value, Plan_LayerValueAttr:$what, I64Attr:$layer,
    I64Attr:$index);
  let assemblyFormat = "$what $layer `[` $index `]` `,` $value attr-dict `:` type($value)";
}

def Brew_CheckLabelsOp : Brew_Op<"check_labels", [Brew_Sink]> {
  let summary = "Ends the run with an error when `status` is not 0";
  let description = [{
    `status` is 1 + the position of the first element of `labels` outside
    [0, limit), or 0.
  }];
  let arguments = (ins AnyTensor:$status, AnyTensor:$labels, I64Attr:$limit,
    StrAttr:$layer, StrAttr:$blob);
  let assemblyFormat = "$status `,` $labels `limit` $limit `layer` $layer `blob` $blob attr-dict `:` type($status) `,` type($labels)";
}

def Brew_FillOp : Brew_Op<"fill", [Pure]> {
  let summary = "A tensor of one constant";
  let arguments = (ins F64Attr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Brew_ReinterpretOp : Brew_Op<"reinterpret", [Pure, Brew_View]> {
  let summary = "The same elements, in row-major order, under another shape";
  let description = "A view: it never moves data. Both types are row-major, or "
    "differ only in dimensions that the layouts keep together.";
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Brew_KernelOp : Brew_Op<"kernel",
    [IsolatedFromAbove, SingleBlock, Pure, Brew_AcceptsSubviews]> {
  let summary = "Loop nests that become one generated kernel";
  let description = [{
    The body holds `linalg.generic` nests (with the `tensor.empty` and `linalg.fill`
    that initialise them) over the block arguments, which stand for `inputs`, and ends
    in `brew.yield`. The nests are grouped into consecutive *parts*: every nest
    carries `brew.sub_kernel`, its part's number, and `brew.grid_loops`, how many of its
    leading, parallel loops are the part's grid. All nests of a part have the
    same grid extents; at a grid point they run in order, and read what earlier
    nests of the part wrote at that very point. Parts are independent of each
    other. Grid points of all parts, laid end to end, are the kernel's
    domain, which the runtime (or the GPU's grid) divides.

    On a GPU the nests of the last part may be marked with `brew.last_block`: that part
    stands outside of the domain and reads any element of what the parts before it
    yield. Blocks of threads that end last do it.

    There too, parts may be grouped into *stages* with `brew.stage`, counted from 0, each
    of which begins when all blocks have ended the one before: its parts read any
    element of what earlier stages yield. What is said of the last part then holds in
    each stage.
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs, StrAttr:$name,
    OptionalAttr<StrArrayAttr>:$layers, UnitAttr:$backward);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat =
    "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
}

def Brew_YieldOp : Brew_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Names the values that leave a kernel";
  let arguments = (ins Variadic<AnyTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // BREW_OPS_TD
