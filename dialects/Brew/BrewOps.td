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
  let summary = "A function of the net that the runtime executes";
  let description = [{
    The `role` is the program's purpose. Every role but `main` determines the program's
    name (`programName`). `main` is the role of a net compiled for one phase.

    | role | computes |
    |---|---|
    | `main` | the net in one phase; may have any name |
    | `forward_backward` | a training step's outputs and gradients |
    | `test` | a test net |
    | `deploy` | the net for inference |
    | `prepare` | parameters derived from weights, once after loading |
    | `update` | the solver's update |
    | `accumulate`, `collect` | accumulation of gradients over batches (`iter_size`) |
    | `clip` | the squared norm of all gradients (`clip_gradients`) |
    | `reduce` | the all-reduce of accumulated gradients |

    `differentiate` requests a backward pass. Shape inference sets `blobs` (name and shape
    of every blob of the net), `params` (shapes of each layer's parameters) and
    `caffe_bytes` (the size of the data and gradients of the blobs in Caffe).
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
  let summary = "A learnable parameter";
  let description = [{
    `type` is the parameter's shape and layout in memory. `file_dims`, set by shape
    inference, is its shape in weight files; the row-major order of `file_dims` is the
    row-major order of the logical dimensions of `type`.

    The parameter is blob `index` of `layer`. `layer_type` is that layer's Caffe type, which
    weight files record. `sharers` lists the other layers that use the parameter,
    `shared_name` is the name under which they share it (ParamSpec.name), `permissive` its
    share mode. With `any_file_shape`, weight files may contain as many elements in another
    shape (DeepLab's `strict_dim: false`).

    A parameter whose `lr_mult` is 0 has no gradient. A parameter without `filler` is
    initialised by Caffe's default filler, or by the programs that store it.

    Example:

    ```mlir
    brew.param @conv1.0 : tensor<20x1x5x5xf32> {layer = "conv1", index = 0 : i64,
        filler = #plan.filler<"type: 'xavier'">, layer_type = "Convolution"}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
    StrAttr:$layer, I64Attr:$index,
    OptionalAttr<DenseI64ArrayAttr>:$file_dims, OptionalAttr<Plan_FillerAttr>:$filler,
    DefaultValuedAttr<F32Attr, "1.0f">:$lr_mult,
    DefaultValuedAttr<F32Attr, "1.0f">:$decay_mult,
    OptionalAttr<StrAttr>:$shared_name, OptionalAttr<Plan_SharerArrayAttr>:$sharers,
    UnitAttr:$permissive, UnitAttr:$any_file_shape,
    DefaultValuedStrAttr<StrAttr, "">:$layer_type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

class Brew_ParamRead<string mnemonic> : Brew_Op<mnemonic, [Pure, Brew_PersistentRead]> {
  let results = (outs AnyTensor:$result);
}

def Brew_ParamValueOp : Brew_ParamRead<"param_value"> {
  let summary = "Reads the value of a parameter";
  let description = [{
    The result is the value before the program runs, whatever the program stores.
  }];
  let arguments = (ins FlatSymbolRefAttr:$param);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}
def Brew_ParamGradientOp : Brew_ParamRead<"param_gradient"> {
  let summary = "Reads the gradient that forward_backward stored";
  let arguments = (ins FlatSymbolRefAttr:$param);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}
def Brew_ParamStateOp : Brew_ParamRead<"param_state"> {
  let summary = "Reads a slot of a parameter's solver state";
  let arguments = (ins FlatSymbolRefAttr:$param, I64Attr:$slot);
  let assemblyFormat = "$param `[` $slot `]` attr-dict `:` type($result)";
}
def Brew_SolverScalarOp : Brew_Op<"solver_scalar", [Pure, Brew_PersistentRead]> {
  let summary = "Reads a scalar that the host writes before every update";
  let arguments = (ins Brew_SolverScalarAttr:$scalar);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($result)";
}

def Brew_StoreParamOp : Brew_Op<"store_param", [Store]> {
  let summary = "Stores the new value of a parameter";
  let arguments = (ins AnyTensor:$value, FlatSymbolRefAttr:$param);
  let assemblyFormat = "$value `,` $param attr-dict `:` type($value)";
}
def Brew_StoreGradientOp : Brew_Op<"store_gradient", [Store]> {
  let summary = "Stores the gradient of a parameter for the update";
  let arguments = (ins AnyTensor:$value, FlatSymbolRefAttr:$param);
  let assemblyFormat = "$value `,` $param attr-dict `:` type($value)";
}
def Brew_StoreStateOp : Brew_Op<"store_state", [Store]> {
  let summary = "Stores a slot of a parameter's solver state";
  let arguments = (ins AnyTensor:$value, FlatSymbolRefAttr:$param, I64Attr:$slot);
  let assemblyFormat = "$value `,` $param `[` $slot `]` attr-dict `:` type($value)";
}

def Brew_OutputOp : Brew_Op<"output", [Brew_Sink, Brew_AcceptsSubviews]> {
  let summary = "Marks an output of the net or a term of the loss";
  let description = [{
    The host can read the value after the run. A value with a `loss_weight` other than 0
    counts for the total loss. `unreported` marks a top with a loss weight that a later layer
    consumes: Caffe does not list such a top among the net's outputs.
  }];
  let arguments = (ins AnyTensor:$value, StrAttr:$blob, F32Attr:$loss_weight,
    UnitAttr:$unreported);
  let assemblyFormat = "$value $blob `loss_weight` $loss_weight (`unreported` $unreported^)? attr-dict `:` type($value)";
}

def Brew_PinOp : Brew_Op<"pin", [Brew_Sink, Brew_AcceptsSubviews]> {
  let summary = "Pins a value of a blob so that the host can read it after the run";
  let description = [{
    `what` is the blob's data, its gradient (`diff`) or its item count. No other value reuses
    the memory of a pinned value.

    Example:

    ```mlir
    brew.pin diff "conv1", %dconv1 : tensor<64x20x24x24xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$value, Plan_BlobValueAttr:$kind, StrAttr:$blob);
  let assemblyFormat = "$kind $blob `,` $value attr-dict `:` type($value)";
}

def Brew_PinLayerValueOp : Brew_Op<"pin_layer_value", [Brew_Sink, Brew_AcceptsSubviews]> {
  let summary = "Pins a value of a layer that debug_info reports";
  let description = [{
    `layer` is the layer's position in the net's metadata, `index` the position of the top or
    bottom in the layer.
  }];
  let arguments = (ins AnyTensor:$value, Plan_LayerValueAttr:$kind, I64Attr:$layer,
    I64Attr:$index);
  let assemblyFormat = "$kind $layer `[` $index `]` `,` $value attr-dict `:` type($value)";
}

def Brew_CheckLabelsOp : Brew_Op<"check_labels", [Brew_Sink]> {
  let summary = "Ends the run with an error if a label is out of range";
  let description = [{
    `status` is 0 if every label is in [0, limit). Otherwise it is 1 + the position of the
    first label out of range.
  }];
  let arguments = (ins AnyTensor:$status, AnyTensor:$labels, I64Attr:$limit,
    StrAttr:$layer, StrAttr:$blob);
  let assemblyFormat = "$status `,` $labels `limit` $limit `layer` $layer `blob` $blob attr-dict `:` type($status) `,` type($labels)";
}

def Brew_FillOp : Brew_Op<"fill", [Pure]> {
  let summary = "A tensor whose elements are one constant";
  let arguments = (ins F64Attr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Brew_ReinterpretOp : Brew_Op<"reinterpret", [Pure, Brew_View]> {
  let summary = "The same elements, in row-major order, under another shape";
  let description = [{
    A view, which never moves data: both types are row-major, or differ only in dimensions
    that both layouts keep together.

    ```mlir
    %y = brew.reinterpret %x : tensor<2x5xf32> -> tensor<10xf32>
    ```
  }];
  let arguments = (ins AnyTensor:$x);
  let results = (outs AnyTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Brew_KernelOp : Brew_Op<"kernel",
    [IsolatedFromAbove, SingleBlock, Pure, Brew_AcceptsSubviews]> {
  let summary = "Loop nests that form one generated kernel";
  let description = [{
    The body contains `linalg.generic` nests, with the `tensor.empty` and `linalg.fill` that
    initialise them, over the block arguments, which stand for `inputs`. It ends in
    `brew.yield`.

    The nests are grouped into consecutive *sub-kernels*. Each nest carries two attributes:
    `brew.sub_kernel`, the index of its sub-kernel, and `brew.grid_loops`, the number of its
    leading parallel loops that form the sub-kernel's grid. All nests of a sub-kernel have the
    same grid extents. At each grid point they run in order, and read from earlier nests of the
    sub-kernel only elements written at the same grid point. Sub-kernels do not depend on each
    other. The grid points of all sub-kernels, concatenated, are the kernel's domain, which the
    runtime divides among threads and a GPU among its blocks.

    Two further attributes relax this on GPUs:

    - `brew.last_block` on all nests of the last sub-kernel takes it out of the domain: the
      thread block that finishes last runs it (or the last block of each tile of neighbouring
      points), and it may read any element that earlier sub-kernels yield.
    - `brew.stage` groups sub-kernels into *stages*, numbered from 0. The
      sub-kernels of a stage may read any element that earlier stages yield. If a stage depends
      on stages since the last barrier of the grid, it starts after another one. Each stage can
      have its own sub-kernel in the last block.

    Example: one nest over a grid of two loops.

    ```mlir
    %y = brew.kernel "relu1"(%x) {layers = ["relu1"]} : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%a: tensor<8x4xf32>):
      %e = tensor.empty() : tensor<8x4xf32>
      %r = linalg.generic {...} ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>)
          attrs = {brew.grid_loops = 2 : i64, brew.sub_kernel = 0 : i64} {...}
      brew.yield %r : tensor<8x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTensor>:$inputs, StrAttr:$name,
    OptionalAttr<StrArrayAttr>:$layers, UnitAttr:$backward);
  let results = (outs Variadic<AnyTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat =
    "$name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
}

def Brew_LoopOp : Brew_Op<"loop",
    [IsolatedFromAbove, SingleBlock, Pure, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "Steps that are repeated";
  let description = [{
    Runs the library calls and kernels of its body `iterations` times. Before
    brew-build-loops forms the kernels, the body contains loop nests.

    The block arguments are, in this order:

    - one for each of `sequences`: item t, a subview with a leading dimension of 1. t counts up
      from 0, or down to 0 with `reverse`;
    - one for each of `invariants`: the tensor itself;
    - one for each of `initial`: the carried value, at first the operand and then the value of
      the last iteration.

    `brew.yield` returns each value that more than one step accesses, once:

    - items t of the results `stacked`, subviews with a leading dimension of 1;
    - the next carried values, of which the results `carried` are the last. They occupy the
      bytes of `initial`, which have no other reader. A step that computes a next value is the
      last one to read the carried value, or reads each element before it writes it;
    - values for later steps of the same iteration. The results `scratch` are their memory.

    With `last_iteration_steps`, the last iteration runs only so many steps. Carried values of the
    others then remain as they are.

    Example: y[t] = x[t] w^T + y[t - 1].

    ```mlir
    %y, %sum, %product = brew.loop "l" 20 sequences(%x : tensor<20x8x4xf32>)
        invariants(%w : tensor<4x4xf32>) initial(%zero : tensor<1x8x4xf32>)
        stacked(tensor<20x8x4xf32>) carried(tensor<1x8x4xf32>) scratch(tensor<1x8x4xf32>) {
      ...
    }
    ```
  }];
  let arguments = (ins StrAttr:$layer, I64Attr:$iterations, UnitAttr:$reverse,
    OptionalAttr<I64Attr>:$last_iteration_steps, Variadic<AnyTensor>:$sequences,
    Variadic<AnyTensor>:$invariants, Variadic<AnyTensor>:$initial);
  let results = (outs Variadic<AnyTensor>:$stacked, Variadic<AnyTensor>:$carried,
    Variadic<AnyTensor>:$scratch);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $layer $iterations (`reverse` $reverse^)? (`last_iteration_steps` $last_iteration_steps^)?
    (`sequences` `(` $sequences^ `:` type($sequences) `)`)?
    (`invariants` `(` $invariants^ `:` type($invariants) `)`)?
    (`initial` `(` $initial^ `:` type($initial) `)`)?
    (`stacked` `(` type($stacked)^ `)`)? (`carried` `(` type($carried)^ `)`)?
    (`scratch` `(` type($scratch)^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the steps of one iteration: library calls and kernels, in order.
    llvm::SmallVector<mlir::Operation *> steps();
  }];
}

def Brew_YieldOp : Brew_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Returns the results of a kernel, or the values of an iteration of a loop";
  let arguments = (ins Variadic<AnyTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // BREW_OPS_TD
