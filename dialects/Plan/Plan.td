//===- Plan.td - The schedule of a compiled net ------------*- tablegen -*-===//
#ifndef PLAN_TD
#define PLAN_TD

include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Plan/PlanBase.td"
include "dialects/Plan/PlanInterfaces.td"

// Numbered as brew.plan.Direction.
def Plan_Direction : Plan_I32Enum<"Direction", "Which of a call's three computations", [
  I32EnumAttrCase<"Forward", 1, "forward">,
  I32EnumAttrCase<"BackwardData", 2, "backward_data">,
  I32EnumAttrCase<"BackwardWeights", 3, "backward_weights">]>;
def Plan_DirectionAttr : Plan_EnumAttr<Plan_Direction, "direction">;

defvar Effects = DeclareOpInterfaceMethods<MemoryEffectsOpInterface>;
// What sinks hand buffers over to: without it they would have no effect.
def Plan_Host : Resource<"::brew::dialects::plan::HostResource">;
defvar ReachesHost = MemoryEffects<[MemWrite<Plan_Host>]>;

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

def Plan_ArenaOp : Plan_Op<"arena"> {
  let summary = "A slab of memory; its size in bytes";
  let description = "A module has one of each kind at most.";
  let arguments = (ins Plan_ArenaKindAttr:$kind, I64Attr:$size);
  let assemblyFormat = "$kind `size` $size attr-dict";
}

def Plan_ProgramOp : Plan_Op<"program",
    [Symbol, IsolatedFromAbove, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Steps in the order they run";
  let description = [{
    `arena_bytes` is the extent of the transient arena this program uses,
    `lower_bound_bytes` the largest sum of bytes live at one step, `caffe_bytes`
    what Caffe holds for the same net.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, UnitAttr:$test_phase,
    OptionalAttr<DictionaryAttr>:$blobs, OptionalAttr<DictionaryAttr>:$params,
    I64Attr:$arena_bytes,
    I64Attr:$lower_bound_bytes, I64Attr:$caffe_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Plan_BufferOp : Plan_Op<"buffer", [Pure]> {
  let summary = "A place in an arena";
  let description = [{
    `offset` is in bytes and a multiple of 64, or of the element for a subview of a joined
    blob. `live` is the first and last step (0-based) at which its bytes hold a value,
    absent for arenas that outlive programs. `padded` is the channels of a feed's first
    buffer with those between its strides, which hold zeros.
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
    The body of a `brew.kernel`, outlined. A launch names the buffers of its block
    arguments, then those of its results; `in_place[i]` is the argument whose bytes
    result i overwrites, or -1. Such a result is no argument of the generated function.
    `argument_names` are the function's, where no launch gives them those of buffers.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$in_place,
    StrArrayAttr:$layers, OptionalAttr<StrArrayAttr>:$argument_names);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Plan_LaunchOp : Plan_Step<"launch", [Effects,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel over its whole domain";
  let arguments = !con((ins FlatSymbolRefAttr:$kernel, Variadic<AnyMemRef>:$buffers),
    stepAttributes);
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
  let summary = "Vendor convolution; see ConvolutionCall in plan.proto";
  let description = [{
    `pad_end` is the padding behind the last element, where it is not `pad`. `sum`, in
    the bytes of the result, is what a call forward or by the data adds to. `generated`
    may be launched in its place.
  }];
  let arguments = !con((ins Plan_DirectionAttr:$direction, AnyMemRef:$x, AnyMemRef:$w,
    Optional<AnyMemRef>:$b, Optional<AnyMemRef>:$sum, AnyMemRef:$y,
    DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$pad, DenseI64ArrayAttr:$dilation,
    OptionalAttr<DenseI64ArrayAttr>:$pad_end, I64Attr:$group,
    OptionalAttr<F32Attr>:$relu, OptionalAttr<Plan_GeneratedAttr>:$generated),
    stepAttributes);
  let assemblyFormat = "$direction `x` $x `w` $w (`b` $b^)? (`sum` $sum^)? `y` $y attr-dict `:` type(operands)";
  let extraClassDeclaration = [{
    /// Null if it has no such operand.
    mlir::Value operandOf(CallOperand which);
    /// The buffers that a launch of `generated` names: that of the result in the place
    /// of `sum`, which lies there.
    llvm::SmallVector<mlir::Value> generatedBuffers();
    bool canOverwriteOperand(unsigned written, unsigned other,
                    mlir::SymbolTableCollection &symbols);
  }];
}

def Plan_InnerProductOp : Plan_Step<"inner_product", [Effects]> {
  let summary = "Vendor matrix product; see InnerProductCall in plan.proto";
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

def Plan_AllReduceStartOp : Plan_Step<"all_reduce_start", [Effects,
    SameVariadicOperandSize]> {
  let summary = "Begins to add buffers up over all ranks; see AllReduceCall in plan.proto";
  let description = [{
    The sum of `sources[i]` over all ranks comes into `targets[i]`, which may be the same
    bytes. Nothing may touch the targets before the `plan.all_reduce_wait` of the
    bucket; the sources may be written at once.
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
  let summary = "Waits for the sums over all ranks of a bucket";
  let description = "`targets` are those of the bucket's `plan.all_reduce_start`.";
  let arguments = !con((ins I64Attr:$bucket, Variadic<AnyMemRef>:$targets,
    UnitAttr:$statistic), stepAttributes);
  let assemblyFormat = "$bucket `(` $targets `)` attr-dict `:` type($targets)";
}

def Plan_HostCallOp : Plan_Step<"host_call", [Effects, AttrSizedOperandSegments]> {
  let summary = "A layer that the program computes; see HostCall in plan.proto";
  let description = [{
    Forward reads `bottoms` and writes `tops`. Backward reads both and `top_gradients`,
    and writes `bottom_gradients`, those of the bottoms that `gradients_of` numbers.
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
  let summary = "Buffers a reader fills before the first step";
  let description = [{
    `pixels` names a kernel that makes the first buffer of bytes on the device, and
    `mean_dims` the mean that it subtracts; see PixelConversion in plan.proto.
  }];
  let arguments = (ins StrAttr:$layer, StrAttr:$kind, Plan_DataInputConfigAttr:$config,
    StrAttr:$folder,
    Arg<Variadic<AnyMemRef>, "", [MemWrite]>:$buffers,
    OptionalAttr<FlatSymbolRefAttr>:$pixel_kernel,
    OptionalAttr<DenseI64ArrayAttr>:$mean_dims);
  let assemblyFormat = "$layer $kind `(` $buffers `)` custom<DataInputDict>(attr-dict) `:` type($buffers)";
}

def Plan_OutputGradientOp : Plan_Op<"output_gradient"> {
  let summary = "A gradient that the caller writes before the steps behind it";
  let description = "The steps before the first seed are the forward pass.";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, StrAttr:$blob);
  let assemblyFormat = "$blob `,` $buffer attr-dict `:` type($buffer)";
}

def Plan_OutputOp : Plan_Op<"output", [ReachesHost]> {
  let summary = "A top that is reported or counts for the loss";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, StrAttr:$blob, F32Attr:$loss_weight, UnitAttr:$unreported);
  let assemblyFormat = "$buffer $blob `loss_weight` $loss_weight (`unreported` $unreported^)? attr-dict `:` type($buffer)";
}

def Plan_PinOp : Plan_Op<"pin", [ReachesHost]> {
  let summary = "A buffer that can be read by its blob's name after a run";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Plan_BlobValueAttr:$what,
    StrAttr:$blob);
  let assemblyFormat = "$what $blob `,` $buffer attr-dict `:` type($buffer)";
}

def Plan_PinLayerValueOp : Plan_Op<"pin_layer_value", [ReachesHost]> {
  let summary = "A buffer that debug_info shows; see brew.pin_layer_value";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, Plan_LayerValueAttr:$what,
    I64Attr:$layer, I64Attr:$index);
  let assemblyFormat = "$what $layer `[` $index `]` `,` $buffer attr-dict `:` type($buffer)";
}

def Plan_CheckLabelsOp : Plan_Op<"check_labels", [ReachesHost]> {
  let summary = "Ends the run with an error when `status` is not 0";
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$status,
    Arg<AnyMemRef, "", [MemRead]>:$labels, I64Attr:$limit,
    StrAttr:$layer, StrAttr:$blob);
  let assemblyFormat = "$status `,` $labels `limit` $limit `layer` $layer `blob` $blob attr-dict `:` type($status) `,` type($labels)";
}

def Plan_ParamOp : Plan_Op<"param", [Symbol]> {
  let summary = "A learnable parameter and its places";
  let description = "Offsets are into the parameter arena; gradients and state "
    "slots lie at the same offset of theirs.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, I64Attr:$offset,
    StrAttr:$layer, I64Attr:$index, DenseI64ArrayAttr:$file_dims,
    OptionalAttr<Plan_FillerAttr>:$filler,
    F32Attr:$lr_mult, F32Attr:$decay_mult, OptionalAttr<StrAttr>:$shared_name,
    OptionalAttr<Plan_SharerArrayAttr>:$sharers,
    StrAttr:$layer_type, I64Attr:$state_slots);
  let assemblyFormat = "$sym_name `[` $offset `]` `:` $type attr-dict";
}

#endif // PLAN_TD
