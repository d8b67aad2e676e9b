//===- Plan.td - The schedule of a compiled net ------------*- tablegen -*-===//
#ifndef PLAN_TD
#define PLAN_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Plan/PlanBase.td"
include "dialects/Plan/PlanInterfaces.td"

def Plan_Direction : Plan_I32Enum<"Direction", "computation of a library call", [
  Direction_Forward, Direction_BackwardData, Direction_BackwardWeights]>;
def Plan_DirectionAttr : Plan_EnumAttr<Plan_Direction, "direction">;

defvar Effects = DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;
// The resource that sinks write to. Without this effect, they would count as dead code.
def Plan_Host : Resource<"::brew::dialects::plan::HostResource">;
defvar ReachesHost = MemoryEffects<[MemWrite<Plan_Host>]>;

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

def Plan_ArenaOp : Plan_Op<"arena"> {
  let summary = "A block of memory";
  let description = [{
    `size` is in bytes. A module has at most one arena of each kind.

    ```mlir
    plan.arena transient size 4071808
    ```
  }];
  let arguments = (ins Plan_ArenaKindAttr:$kind, I64Attr:$size);
  let assemblyFormat = "$kind `size` $size attr-dict";
}

def Plan_ConstantOp : Plan_Op<"constant"> {
  let summary = "Values of the constant arena";
  let description = [{
    `offset` is in bytes.

    ```mlir
    plan.constant[64] dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins I64Attr:$offset, ElementsAttr:$value);
  let assemblyFormat = "`[` $offset `]` attr-dict $value";
}

def Plan_ProgramOp : Plan_Op<"program",
    [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Steps in execution order";
  let description = [{
    `arena_bytes` is the extent of the transient arena that the program uses,
    `lower_bound_bytes` the maximum over all steps of the bytes live at the step, `caffe_bytes` the
    memory that Caffe uses for the same net.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, UnitAttr:$test_phase,
    OptionalAttr<DictionaryAttr>:$blobs, OptionalAttr<DictionaryAttr>:$params,
    I64Attr:$arena_bytes,
    I64Attr:$lower_bound_bytes, I64Attr:$caffe_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Plan_BufferOp : Plan_Op<"buffer", [Pure]> {
  let summary = "A buffer at an offset of an arena";
  let description = [{
    `offset` is in bytes: a multiple of 64, or of the element size for a subview of a
    concatenated blob. `live` is the first and the last step (from 0) at which the bytes contain
    the value, absent in arenas that outlive programs. `padded` is the number of channels of a
    data input's first buffer including padding channels. These occupy the gaps that the
    buffer's strides leave, and contain zeros.

    Example:

    ```mlir
    %5 = plan.buffer "pool1" transient[2949120] live [1, 13]
        : memref<64x20x12x12xf32, strided<[2880, 1, 240, 20]>>
    ```
  }];
  let arguments = (ins StrAttr:$name, Plan_ArenaKindAttr:$arena, I64Attr:$offset,
    OptionalAttr<DenseI64ArrayAttr>:$live, UnitAttr:$pinned, OptionalAttr<I64Attr>:$padded);
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = "$name $arena `[` $offset `]` (`live` $live^)? (`pinned` $pinned^)? attr-dict `:` type($memref)";
}

class Plan_Step<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([Plan_StepInterface], traits)> {
  dag stepAttributes = (ins OptionalAttr<StrArrayAttr>:$layers, UnitAttr:$backward,
    OptionalAttr<I64Attr>:$flops, UnitAttr:$rematerialized);
}

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "A generated kernel";
  let description = [{
    The outlined body of a `brew.kernel`. A launch passes the buffers of the block arguments,
    then those of the results. `in_place[i]` is the argument whose bytes result i overwrites, or
    -1. The generated function has no separate argument for an in-place result.
    `argument_names` names the function's arguments if no launch provides the names of their
    buffers.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$in_place,
    StrArrayAttr:$layers, OptionalAttr<StrArrayAttr>:$argument_names);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Plan_LaunchOp : Plan_Step<"launch", [Effects,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel over its complete domain";
  let description = [{
    In a `plan.loop`, `strides` are the bytes by which the address of each buffer changes from one
    iteration to the next. `%4` is the buffer of the first iteration.

    ```mlir
    plan.launch @pool1(%4, %5, %6) {layers = ["pool1"]} : ...
    ```
  }];
  let arguments = !con((ins FlatSymbolRefAttr:$kernel, Variadic<AnyMemRef>:$buffers,
    OptionalAttr<DenseI64ArrayAttr>:$strides), stepAttributes);
  let assemblyFormat = "$kernel `(` $buffers `)` attr-dict `:` type($buffers)";
  let extraClassDeclaration = [{
    llvm::BitVector alignedOperands(mlir::SymbolTableCollection &symbols);
    bool canOverwriteOperand(unsigned written, unsigned other,
                    mlir::SymbolTableCollection &symbols);
    void addEffects(
        mlir::SymbolTableCollection &symbols,
        llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance> &effects);
  }];
}

def Plan_ConvolutionOp : Plan_Step<"convolution", [Effects, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Convolution by a library call; see ConvolutionCall in plan.proto";
  let description = [{
    `pad_end` is the padding after the last element, if it differs from `pad`. A forward call or
    a backward-data call adds its result to `sum`, which occupies the bytes of the result. The
    runtime may launch `generated` instead of the call.
  }];
  let arguments = !con((ins Plan_DirectionAttr:$direction, AnyMemRef:$x, AnyMemRef:$w,
    Optional<AnyMemRef>:$b, Optional<AnyMemRef>:$sum, AnyMemRef:$y,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation,
    OptionalAttr<DenseI64ArrayAttr>:$pad_end, I64Attr:$group,
    OptionalAttr<F32Attr>:$relu, OptionalAttr<Plan_GeneratedAttr>:$generated),
    stepAttributes);
  let assemblyFormat = "$direction `x` $x `w` $w (`b` $b^)? (`sum` $sum^)? `y` $y attr-dict `:` type(operands)";
  let extraClassDeclaration = [{
    /// Returns the operand, or null if the call does not have it.
    mlir::Value operandOf(CallOperand which);
    /// Returns the buffers that a launch of `generated` passes. The result's buffer stands
    /// for `sum`, which occupies the same bytes.
    llvm::SmallVector<mlir::Value> generatedBuffers();
    bool canOverwriteOperand(unsigned written, unsigned other,
                    mlir::SymbolTableCollection &symbols);
  }];
}

def Plan_InnerProductOp : Plan_Step<"inner_product", [Effects]> {
  let summary = "Matrix product by a library call; see InnerProductCall in plan.proto";
  let arguments = !con((ins Plan_DirectionAttr:$direction, AnyMemRef:$x, AnyMemRef:$w,
    Optional<AnyMemRef>:$b, AnyMemRef:$y, I64Attr:$axis, UnitAttr:$transpose,
    OptionalAttr<F32Attr>:$relu), stepAttributes);
  let assemblyFormat = "$direction `x` $x `w` $w (`b` $b^)? `y` $y attr-dict `:` type(operands)";
}

def Plan_CopyOp : Plan_Step<"copy"> {
  let summary = "Copies elements between buffers of equal dimensions";
  let arguments = !con((ins Arg<AnyMemRef, "", [MemRead]>:$source,
    Arg<AnyMemRef, "", [MemWrite]>:$target), stepAttributes);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `,` type($target)";
  let extraClassDeclaration = [{
    llvm::BitVector alignedOperands(mlir::SymbolTableCollection &) {
      return llvm::BitVector(2, false);
    }
  }];
}

def Plan_LoopOp : Plan_Step<"loop", [Effects, AttrSizedOperandSegments, NoTerminator,
    SingleBlock, NoRegionArguments]> {
  let summary = "Repeats the steps of its body; see Loop in plan.proto";
  let description = [{
    The body contains launches and library calls. They access bytes of the loop's buffers only,
    and write none of `reads`. `carried[i]` has the bytes of `initial[i]`, which contain a value
    before the loop. With `last_iteration_steps`, the last iteration runs only so many steps.
  }];
  let arguments = !con((ins I64Attr:$iterations, OptionalAttr<I64Attr>:$last_iteration_steps,
    Variadic<AnyMemRef>:$reads, Variadic<AnyMemRef>:$initial, Variadic<AnyMemRef>:$carried,
    Variadic<AnyMemRef>:$writes), stepAttributes);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $iterations (`last_iteration_steps` $last_iteration_steps^)?
    (`reads` `(` $reads^ `:` type($reads) `)`)?
    (`initial` `(` $initial^ `:` type($initial) `)`)?
    (`carried` `(` $carried^ `:` type($carried) `)`)?
    (`writes` `(` $writes^ `:` type($writes) `)`)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    bool canOverwriteOperand(unsigned written, unsigned other,
                    mlir::SymbolTableCollection &symbols);
  }];
}

def Plan_AllReduceStartOp : Plan_Step<"all_reduce_start", [Effects,
    SameVariadicOperandSize]> {
  let summary = "Starts the sum of buffers over all ranks; see AllReduceCall in plan.proto";
  let description = [{
    `targets[i]` receives the sum of `sources[i]` over all ranks; both may be the same bytes.
    Nothing may access the targets before the `plan.all_reduce_wait` of the bucket. The next
    step may already overwrite the sources. With `statistic`, the sums are not of gradients (see
    `brew.all_reduce_start`); `transfer_type` is the element type on the network.
  }];
  let arguments = !con((ins I64Attr:$bucket, Variadic<AnyMemRef>:$sources,
    Variadic<AnyMemRef>:$targets, UnitAttr:$statistic, OptionalAttr<TypeAttr>:$transfer_type),
    stepAttributes);
  let assemblyFormat = "$bucket `(` $sources `)` `to` `(` $targets `)` attr-dict `:` type($sources) `to` type($targets)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool canOverwriteOperand(unsigned written, unsigned other,
                    mlir::SymbolTableCollection &symbols);
  }];
}

def Plan_AllReduceWaitOp : Plan_Step<"all_reduce_wait", [Effects]> {
  let summary = "Waits for the sums of a bucket over all ranks";
  let description = [{
    `targets` must be the targets of the bucket's `plan.all_reduce_start`.
  }];
  let arguments = !con((ins I64Attr:$bucket, Variadic<AnyMemRef>:$targets,
    UnitAttr:$statistic), stepAttributes);
  let assemblyFormat = "$bucket `(` $targets `)` attr-dict `:` type($targets)";
}

def Plan_HostCallOp : Plan_Step<"host_call", [Effects, AttrSizedOperandSegments]> {
  let summary = "A layer that host code computes; see HostCall in plan.proto";
  let description = [{
    Forward reads `bottoms` and writes `tops`. Backward reads both and `top_gradients`, and writes
    `bottom_gradients`, the gradients of the bottoms whose indices are in `gradients_of`.
  }];
  let arguments = !con((ins Plan_DirectionAttr:$direction, StrAttr:$kind, StrAttr:$layer,
    StrAttr:$settings, StrAttr:$param_str, Variadic<AnyMemRef>:$bottoms,
    Variadic<AnyMemRef>:$tops, Variadic<AnyMemRef>:$top_gradients,
    Variadic<AnyMemRef>:$bottom_gradients, DenseI64ArrayAttr:$gradients_of),
    stepAttributes);
  let assemblyFormat = "$direction $kind $layer `(` operands `)` attr-dict `:` type(operands)";
  let extraClassDeclaration = [{
    llvm::BitVector alignedOperands(mlir::SymbolTableCollection &) {
      return llvm::BitVector(getNumOperands(), false);
    }
  }];
}

def Plan_DataInputOp : Plan_Op<"data_input"> {
  let summary = "Buffers that the data pipeline writes before the first step";
  let description = [{
    `pixel_kernel` is a kernel that computes the first buffer from bytes on the device, and
    `mean_dims` the dimensions of the mean that it subtracts; see PixelConversion in plan.proto.
    The other attributes are those of `brew.data_input`.
  }];
  let arguments = (ins StrAttr:$layer, StrAttr:$kind, Plan_DataInputConfigAttr:$config,
    StrAttr:$folder,
    Arg<Variadic<AnyMemRef>, "", [MemWrite]>:$buffers,
    OptionalAttr<DenseI64ArrayAttr>:$record_dims,
    OptionalAttr<DenseI64ArrayAttr>:$mean_file_dims,
    UnitAttr:$image_sizes_vary,
    OptionalAttr<FlatSymbolRefAttr>:$pixel_kernel,
    OptionalAttr<DenseI64ArrayAttr>:$mean_dims);
  let assemblyFormat = "$layer $kind `(` $buffers `)` custom<DataInputDict>(attr-dict) `:` type($buffers)";
}

def Plan_RandomKeyOp : Plan_Op<"random_key"> {
  let summary = "Key of a layer's random numbers, which the host writes before the first step";
  let arguments = (ins StrAttr:$layer, Arg<AnyMemRef, "", [MemWrite]>:$buffer);
  let assemblyFormat = "$layer `,` $buffer attr-dict `:` type($buffer)";
}

def Plan_OutputGradientOp : Plan_Op<"output_gradient"> {
  let summary = "A gradient that the caller writes before the following steps";
  let description = [{
    The steps before the first output gradient are the forward pass.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, StrAttr:$blob);
  let assemblyFormat = "$blob `,` $buffer attr-dict `:` type($buffer)";
}

def Plan_OutputOp : Plan_Op<"output", [ReachesHost]> {
  let summary = "An output of the net or a term of the loss; see brew.output";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, StrAttr:$blob, F32Attr:$loss_weight, UnitAttr:$unreported);
  let assemblyFormat = "$buffer $blob `loss_weight` $loss_weight (`unreported` $unreported^)? attr-dict `:` type($buffer)";
}

def Plan_PinOp : Plan_Op<"pin", [ReachesHost]> {
  let summary = "A buffer that the host can read by its blob's name after a run";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Plan_BlobValueAttr:$kind,
    StrAttr:$blob);
  let assemblyFormat = "$kind $blob `,` $buffer attr-dict `:` type($buffer)";
}

def Plan_PinLayerValueOp : Plan_Op<"pin_layer_value", [ReachesHost]> {
  let summary = "A buffer that debug_info reports; see brew.pin_layer_value";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Plan_LayerValueAttr:$kind,
    I64Attr:$layer, I64Attr:$index);
  let assemblyFormat = "$kind $layer `[` $index `]` `,` $buffer attr-dict `:` type($buffer)";
}

def Plan_CheckLabelsOp : Plan_Op<"check_labels", [ReachesHost]> {
  let summary = "Ends the run with an error if a label is out of range; see brew.check_labels";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$status,
    Arg<AnyMemRef, "", [MemRead]>:$labels, I64Attr:$limit,
    StrAttr:$layer, StrAttr:$blob);
  let assemblyFormat = "$status `,` $labels `limit` $limit `layer` $layer `blob` $blob attr-dict `:` type($status) `,` type($labels)";
}

def Plan_ParamOp : Plan_Op<"param", [Symbol]> {
  let summary = "A learnable parameter and its offset";
  let description = [{
    `offset` is the offset, in bytes, in the parameter arena, and equally in the gradient arena
    and in each of the `state_slots` slots of the state arena. The other attributes are those of
    `brew.param`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, I64Attr:$offset,
    StrAttr:$layer, I64Attr:$index, DenseI64ArrayAttr:$file_dims,
    OptionalAttr<Plan_FillerAttr>:$filler,
    F32Attr:$lr_mult, F32Attr:$decay_mult, OptionalAttr<StrAttr>:$shared_name,
    OptionalAttr<Plan_SharerArrayAttr>:$sharers,
    StrAttr:$layer_type, I64Attr:$state_slots, UnitAttr:$any_file_shape);
  let assemblyFormat = "$sym_name `[` $offset `]` `:` $type attr-dict";
}

#endif // PLAN_TD
