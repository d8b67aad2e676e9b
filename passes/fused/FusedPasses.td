//===- FusedPasses.td - Passes of phase fused --------------*- tablegen -*-===//
#ifndef BREW_PASSES_FUSEDPASSES_TD
#define BREW_PASSES_FUSEDPASSES_TD

include "passes/PassOptions.td"

def AttachTarget : Pass<"brew-attach-target", "::mlir::ModuleOp"> {
  let summary = "Attach the target machine's description to the module";
  let description = [{
    Sets the module's attribute `target.machine`, from which all later passes read the
    machine's properties: a CPU, unless GPU architectures are listed. The first
    architecture determines the numbers; the vendor library must support its calls on all
    of them.

    Output, with `gpu-arch=sm_90`:

        module attributes {target.machine = #target.gpu<arch = "sm_90",
            multiprocessors = 132, ...>}
  }];
  let options = [
    ListOption<"gpuArchs", "gpu-arch", "std::string", "GPU architectures, such as sm_90, or sim">,
    Option<"vectorBits", "vector-bits", "int64_t",
      "::brew::dialects::target::kDefaultVectorBits",
      "Vector width of the CPU">,
    Option<"bf16", "bf16", "bool", "::brew::dialects::target::kDefaultBf16",
      "Whether the CPU's library multiplies faster in bf16">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def FuseSiblingConvolutions : Pass<"brew-fuse-sibling-convolutions", "::mlir::ModuleOp"> {
  let summary = "Fuse convolutions that read the same blob";
  let description = [{
    Convolutions with the same windows over the same blob, and the same ReLU or none,
    become one with concatenated weights. Their tops are slices of its top; one call
    computes the sum of their data gradients, another one all weight gradients. Applied if
    the memory traffic and calls saved exceed the cost of the copies: of slices, for calls
    that do not support strides, and of weights. On CPUs, the pass applies only to the
    program `deploy`, whose weights `prepare` concatenates.

    Input:

        %a = brew.convolution "a"(%x, %wa)
        %b = brew.convolution "b"(%x, %wb)

    Output:

        %w = brew.concat_view "a+b"(%wa, %wb) {axis = 0}
        %ab = brew.convolution "a+b"(%x, %w)
        %a = brew.subview "a"(%ab) {offsets = [0, 0, 0, 0]}
        %b = brew.subview "b"(%ab) {offsets = [0, 64, 0, 0]}
  }];
  let options = [
    ListOption<"noLibrary", "no-library", "std::string",
      "Groups of vendor calls not to use (conv, ip), or `all`">];
  let dependentDialects = ["::brew::dialects::BrewDialect",
    "::brew::dialects::target::TargetDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseEpilogue : Pass<"brew-fuse-epilogue", "::brew::dialects::ProgramOp"> {
  let summary = "Fuse ReLUs and sums into the vendor call before them";
  let description = [{
    Applied if nothing else reads the value before the ReLU. A ReLU with a slope after an
    inner product requires support by the target's library. On CPUs also fuses the sum of
    two blobs at inference, on GPUs the sum of two gradients of a blob.

    Input:

        %c = brew.convolution "conv"(%x, %w)
        %r = brew.relu "relu"(%c) {negative_slope = 0.125}

    Output:

        %r = brew.convolution "conv+relu"(%x, %w) {relu = 0.125}
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def LowerPrecision : Pass<"brew-lower-precision", "::brew::dialects::ProgramOp"> {
  let summary = "Store activations and their gradients in 16 bits";
  let description = [{
    Casts every activation, and the gradient of one, to `type` after its producer; users
    read it through a cast back to f32 and compute as before. Data, labels, losses,
    probabilities, statistics, parameters, their gradients and solver state stay f32, as do
    programs without layers. Products round all operands. If the target's library is faster
    in `type`, products take operands and return results in `type`, except that weight gradients of
    inner products are f32.

    Input:

        %y = brew.convolution "conv"(%x, %w) : (tensor<...xf32>, ...) -> tensor<...xf32>
        %r = brew.sigmoid "s"(%y)

    Output, with a library that multiplies bf16:

        %xn = brew.cast "conv"(%x) : (tensor<...xf32>) -> tensor<...xbf16>
        %wn = brew.cast "conv"(%w) : (tensor<...xf32>) -> tensor<...xbf16>
        %y = brew.convolution "conv"(%xn, %wn) : (...) -> tensor<...xbf16>
        %yw = brew.cast "conv"(%y) : (tensor<...xbf16>) -> tensor<...xf32>
        %r = brew.sigmoid "s"(%yw)
        %rn = brew.cast "s"(%r) : (tensor<...xf32>) -> tensor<...xbf16>
  }];
  let options = [
    Option<"type", "type", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::BF16", "bf16 or f16",
      valuesOf<["BF16", "F16"], "Precision">.text>];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PadChannels : Pass<"brew-pad-channels", "::brew::dialects::ProgramOp"> {
  let summary = "Pad the channels of images for tensor cores";
  let description = [{
    Pads images of fewer than 8 channels, and the weights for them, with channels of zeros
    for 16-bit calls on a GPU, and slices the weight gradient. Not applied if the image has
    a gradient, or if the convolution's output channels are not a multiple of 8.

    Input:

        %xn = brew.cast "conv"(%x) : (tensor<4x3x8x8xf32>) -> tensor<4x3x8x8xbf16>
        %y = brew.convolution "conv"(%xn, %wn)
            : (tensor<4x3x8x8xbf16>, tensor<16x3x3x3xbf16>) -> ...

    Output:

        %x8 = brew.zero_pad "conv"(%x) : (tensor<4x3x8x8xf32>) -> tensor<4x8x8x8xf32>
        %xn = brew.cast "conv"(%x8) : (tensor<4x8x8x8xf32>) -> tensor<4x8x8x8xbf16>
        %y = brew.convolution "conv"(%xn, %wn8) {brew.unpadded_channels = 3}
            : (tensor<4x8x8x8xbf16>, tensor<16x8x3x3xbf16>) -> ...
  }];
  let options = [
    ListOption<"noLibrary", "no-library", "std::string",
      "Groups of vendor calls not to use (conv, ip), or `all`">];
}

def PackConvolutionOperands
    : Pass<"brew-pack-convolution-operands", "::brew::dialects::ProgramOp"> {
  let summary = "Pad and reorder the operands of generated convolutions";
  let description = [{
    On a CPU, gives convolutions of images that no vendor call computes operands for which
    their loops have constant bounds and read vectors: bottoms with the padding in memory,
    weights with the outputs innermost (the channels innermost for the gradient of the
    bottom), in blocks if there are more than 64. The gradient of a bottom with a stride
    keeps its bounds, and depthwise convolutions keep their operands.

    Input:

        %y = brew.convolution "conv"(%x, %w) {pad = array<i64: 1, 1>}
            : (tensor<4x16x8x8xf32>, tensor<32x16x3x3xf32>) -> tensor<4x32x8x8xf32>

    Output:

        %p = brew.zero_pad "conv"(%x) {offsets = array<i64: 0, 0, 1, 1>}
            : (tensor<4x16x8x8xf32>) -> tensor<4x16x10x10xf32>
        %o = linalg.generic {...} ins(%w : tensor<32x16x3x3xf32>)
            -> tensor<32x16x3x3xf32, #brew.layout<2, 3, 1, 0>>
        %y = brew.convolution "conv"(%p, %o) {pad = array<i64: 0, 0>}
            : (tensor<4x16x10x10xf32>, tensor<32x16x3x3xf32, #brew.layout<2, 3, 1, 0>>)
            -> tensor<4x32x8x8xf32>
  }];
  let options = [
    ListOption<"noLibrary", "no-library", "std::string",
      "Groups of vendor calls not to use (conv, ip), or `all`">];
}

def FoldInputConversions : Pass<"brew-fold-input-conversions", "::brew::dialects::ProgramOp"> {
  let summary = "Fold conversions of images into their data layers";
  let description = [{
    Applied on a GPU, where a kernel converts pixels to images: that kernel then also
    rounds to 16 bits and adds the padding of brew-pad-channels, if all readers use the
    same converted image.

    Input:

        %x = brew.data_input "in" "Data" : tensor<4x3x6x6xf32>
        %p = brew.zero_pad "conv"(%x) : (tensor<4x3x6x6xf32>) -> tensor<4x8x6x6xf32>
        %a = brew.cast "conv"(%p) : (tensor<4x8x6x6xf32>) -> tensor<4x8x6x6xbf16>

    Output:

        %a = brew.data_input "in" "Data" {channels = 3} : tensor<4x8x6x6xbf16>
  }];
}

def AssignLayout : Pass<"brew-assign-layout", "::mlir::ModuleOp"> {
  let summary = "Assign memory layouts to activations and weights";
  let description = [{
    Makes one choice for the entire net: channels-last if the net has vendor convolutions
    and the target's library is faster with it in that precision, otherwise Caffe's layout. Every
    consumer reads through strides, so no transposes are needed. The weights of an inner
    product after a channels-last blob are split into that blob's dimensions, in the same
    order; without `order-weights`, that blob is row-major instead and the weights keep
    Caffe's layout. With tf32, whose products read parameters directly, weights of
    convolutions are channels-last, too. On a CPU, weights of at most four channels have
    the outputs innermost, as vectors of generated code require, unless `order-weights` is
    off.

    Input:

        %c = brew.convolution "conv"(%x, %w) : (...) -> tensor<2x4x2x2xf32>
        %i = brew.inner_product "ip"(%c, %v) : (..., tensor<5x16xf32>) -> ...

    Output:

        %c = brew.convolution "conv"(%x, %w)
            : (...) -> tensor<2x4x2x2xf32, #brew.layout<0, 2, 3, 1>>
        %i = brew.inner_product "ip"(%c, %v)
            : (..., tensor<5x4x2x2xf32, #brew.layout<0, 2, 3, 1>>) -> ...
  }];
  let options = [Option<"layout", "layout", "::brew::dialects::target::BlobLayout",
      "::brew::dialects::target::BlobLayout::Auto", "auto, nchw or nhwc",
      valuesOf<["Auto", "NCHW", "NHWC"], "BlobLayout">.text>,
    Option<"precision", "precision", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::F32", "Precision of products",
      valuesOf<["F32", "TF32", "BF16", "F16"], "Precision">.text>,
    Option<"orderWeights", "order-weights", "bool", "true",
      "Order weights of inner products like their channels-last bottoms">,
    ListOption<"noLibrary", "no-library", "std::string",
      "Groups of vendor calls not to use (conv, ip), or `all`">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def BuildGradientPrograms : Pass<"brew-build-gradient-programs", "::mlir::ModuleOp"> {
  let summary = "Build the programs that accumulate and clip gradients";
  let description = [{
    `accumulate` adds the gradients of a batch to sums, which follow the solver's state and
    are initially zero. `collect` adds the sums to the gradients and clears them
    (iter_size). `clip` computes the sum of squares of all gradients as its output
    `sum_of_squares` (clip_gradients), in two stages to use the entire device, always in the
    same order. The programs treat the gradient arena as one vector, whose gaps are zeros.

    Output, for `accumulate`:

        brew.program @accumulate train {
          %s = brew.all_gradients accumulated : tensor<3088xf32>
          %g = brew.all_gradients : tensor<3088xf32>
          %n = linalg.generic ins(%s, %g) {arith.addf}
          brew.store_all_gradients %n accumulated : tensor<3088xf32>
        }
  }];
  let options = [
    Option<"accumulate", "accumulate", "bool", "false",
      "The solver accumulates gradients (iter_size)">,
    Option<"clip", "clip", "bool", "false",
      "The solver reads the norm of the gradients (clip_gradients)">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def LowerToNests : Pass<"brew-lower-to-nests", "::brew::dialects::ProgramOp"> {
  let summary = "Lower layers that are not vendor calls to loop nests";
  let description = [{
    Replaces layers by their generic form, `linalg.generic` operations. Products in f64,
    and those excluded by `no-library`, are not vendor calls.

    Input:

        %y = brew.power "p"(%x) {scale = 2.0}

    Output:

        %y = linalg.generic ins(%x) outs(%empty) attrs = {brew.layer = "p"} {
        ^bb0(%in: f32, %out: f32):
          %0 = arith.mulf %in, %two : f32
          linalg.yield %0 : f32
        }
  }];
  let options = [ListOption<"noLibrary", "no-library", "std::string",
    "Groups of vendor calls not to use (conv, ip), or `all`">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def FoldCasts : Pass<"brew-fold-casts", "::brew::dialects::ProgramOp"> {
  let summary = "Fold casts into the nests that read or write their values";
  let description = [{
    A nest widens its inputs; a nest without reductions rounds its results. Other casts
    become separate nests.

    Input:

        %w = brew.cast "a"(%x) : (tensor<2x4xbf16>) -> tensor<2x4xf32>
        %y = linalg.generic ins(%w) {
          %s = arith.addf %in, %in : f32
          linalg.yield %s : f32
        }
        %n = brew.cast "b"(%y) : (tensor<2x4xf32>) -> tensor<2x4xbf16>

    Output:

        %n = linalg.generic ins(%x) {
          %a = arith.extf %in : bf16 to f32
          %s = arith.addf %a, %a : f32
          %r = arith.truncf %s : f32 to bf16
          linalg.yield %r : bf16
        }
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PrepareWeights : Pass<"brew-prepare-weights", "::mlir::ModuleOp"> {
  let summary = "Convert weights once in `prepare` instead of in every run";
  let description = [{
    Moves computations of the program `deploy` that depend on parameters only, such as the
    rounding of weights to 16 bits, to `prepare`. Their results become derived parameters
    (`brew.derived`: weight files do not contain them).

    Input:

        brew.program @deploy {
          %w = brew.param_value @ip.0 : tensor<4x8xf32>
          %r = linalg.generic ins(%w) {arith.truncf}
          %y = brew.inner_product "ip"(%x, %r)

    Output:

        brew.program @prepare {
          %w = brew.param_value @ip.0 : tensor<4x8xf32>
          %r = linalg.generic ins(%w) {arith.truncf}
          brew.store_param %r, @ip.0.prepared
        }
        brew.program @deploy {
          %r = brew.param_value @ip.0.prepared : tensor<4x8xbf16>
          %y = brew.inner_product "ip"(%x, %r)
  }];
}

def RematerializeProducers : Pass<"brew-rematerialize-producers", "::brew::dialects::ProgramOp"> {
  let summary = "Rematerialize cheap producers into their consumers";
  let description = [{
    The result of a nest with a few operations per element is not stored; each nest that
    reads it recomputes it instead. Applied if that moves fewer bytes: the inputs instead
    of the value for each reader, minus the store, if nothing else needs it stored.
    Operations count as the bytes that the machine moves in the same time. Producers of
    inputs are rematerialized recursively: a ReLU's gradient recomputes its mask from the
    bottom of the normalization before it. If something else needs the value stored, one of
    its readers may store it, which saves the nest of the producer.

    On GPUs, nests that gather single elements for a reduction are inlined into it.

    Input:

        %xhat = linalg.generic ins(%x, %mean) {arith.subf}
        %y = linalg.generic ins(%xhat, %gamma) {arith.mulf}
        %s = linalg.generic ins(%xhat) outs(%zeros) {arith.addf}

    Output:

        %y = linalg.generic ins(%x, %mean, %gamma) {arith.subf, arith.mulf}
        %s = linalg.generic ins(%x, %mean) outs(%zeros) {arith.subf, arith.addf}
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::affine::AffineDialect",
    "::mlir::linalg::LinalgDialect"];
}

def FuseDepthwise : Pass<"brew-fuse-depthwise", "::brew::dialects::ProgramOp"> {
  let summary = "Rematerialize bottoms into depthwise convolutions";
  let description = [{
    Applied to an elementwise value that only depthwise convolutions and their weight
    gradients read, in channels-last layout. The calls become nests that recompute the
    value where they read it, and it is not stored. Applied if the nests take less time by
    the machine's roofline model than the producer and the calls.

    Input:

        %y = linalg.generic ins(%x, %scale) {arith.mulf}
        %z = brew.convolution "dw"(%y, %w) {group = 32}

    Output:

        %z = linalg.generic ins(%w) {
          %in = tensor.extract %x[...]
          %s = tensor.extract %scale[...]
          %y = arith.mulf %in, %s
          ...
  }];
  let options = [
    Option<"precision", "precision", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::F32", "Precision of products",
      valuesOf<["F32", "TF32", "BF16", "F16"], "Precision">.text>];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def PackSignMasks : Pass<"brew-pack-sign-masks", "::brew::dialects::ProgramOp"> {
  let summary = "Store masks of the backward pass as packed sign bits";
  let description = [{
    If the backward pass only compares a result of the forward pass with zero (the mask of
    a ReLU after a sum), the producer also stores one bit per element, and the backward
    pass reads the bits. Applied on GPUs, except to small values.

    Input:

        %y = linalg.generic ins(%x) {arith.maximumf} -> tensor<16x4x64xbf16>
        %dx = linalg.generic ins(%dy, %y) {arith.cmpf ogt, arith.select} {brew.backward}

    Output:

        %y:2 = linalg.generic ins(%x) {arith.maximumf, arith.cmpf ogt}
            -> (tensor<16x4x64xbf16>, tensor<16x4x64xi1>)
        %dx = linalg.generic ins(%dy, %y#1) {arith.select} {brew.backward}
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def FusePoolingBackward : Pass<"brew-fuse-pooling-backward", "::brew::dialects::ProgramOp"> {
  let summary = "Fuse pooling backward into its consumers";
  let description = [{
    The bottom gradient of a pooling whose windows overlap little, and over which
    reductions run, is not stored: each nest that reads it adds up the gradients of the
    windows that cover an element. Applied if that takes less time; operations count as the
    bytes that the machine moves in the same time. Applied on GPUs, in channels-last layout.

    Input, for windows that overlap by one:

        %dx = linalg.generic iterator_types = ["parallel", ..., "reduction"] {
          tensor.extract %dy[...]
          ...
        }
        %s = linalg.generic ins(%x, %dx) {reduction}
        %d = linalg.generic ins(%x, %s, %dx) {parallel}

    Output:

        %s = linalg.generic ins(%x) {
          tensor.extract %dy[...]
          tensor.extract %dy[...]
          ...
        }
        %d = linalg.generic ins(%x, %s) {
          tensor.extract %dy[...]
          tensor.extract %dy[...]
          ...
        }
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ElideRoundings : Pass<"brew-elide-roundings", "::brew::dialects::ProgramOp"> {
  let summary = "Elide bf16 roundings of values that are not stored";
  let description = [{
    A nest that rounds a value to bf16 only to widen it again, as nests fused by
    brew-rematerialize-producers do, continues with the value itself. If the nest stores
    the rounded value, it also reads it rounded, like other readers of the tensor, except
    to compare it with zero.

    Input:

        %1 = arith.truncf %0 : f32 to bf16
        %2 = arith.extf %1 : bf16 to f32
        %3 = arith.addf %2, %x : f32

    Output:

        %3 = arith.addf %0, %x : f32
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FuseSiblingReductions : Pass<"brew-fuse-sibling-reductions", "::brew::dialects::ProgramOp"> {
  let summary = "Fuse reductions over the same elements into one nest";
  let description = [{
    Reductions with the same loops and a common input (the gradients of a scale and its
    bias, and the reductions of the normalization before it) become results of one nest,
    which reads the input once. Applied to reorderable reductions that start at zero and do
    not depend on each other. Reductions that differ in factors independent of the
    reduction loops (the sum of gamma * dy and the sum of dy) are computed once.

    Input:

        %a = linalg.generic ins(%x, %y) outs(%zeros) {arith.mulf, arith.addf}
        %b = linalg.generic ins(%y) outs(%zeros) {arith.addf}

    Output:

        %ab:2 = linalg.generic ins(%x, %y) outs(%zeros, %zeros)
            {arith.mulf, arith.addf, arith.addf}
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductions : Pass<"brew-split-reductions", "::brew::dialects::ProgramOp"> {
  let summary = "Split long reductions with few results into two stages";
  let description = [{
    Some reduction loops, outermost first, get one partial sum per iteration; a second nest
    adds them. If full loops yield too few partial sums, such as the single loop over a flat
    blob, a loop is split into two. On GPUs, at most one block computes a result; if
    adjacent elements belong to different results (sums per channel, channels-last), several
    threads share a result. On CPUs, the pass splits two kinds of reductions: those of
    adjacent elements to different results, if the results are few, so that threads read
    full rows; and those for several taps of a window, so that their common input stays in
    a core's cache. All split reductions are reorderable. The new order is as deterministic
    as the old one.

    Input:

        %s = linalg.generic iterator_types = ["parallel", "reduction", "reduction", "reduction"]
            ins(%x : tensor<16x4x64x64xf32>) outs(%zeros) -> tensor<4xf32>

    Output:

        %p = linalg.generic iterator_types = ["parallel", "parallel", "parallel", "reduction"]
            ins(%x : tensor<16x4x64x64xf32>) outs(%zeros) -> tensor<16x64x4xf32>
        %s = linalg.generic iterator_types = ["parallel", "reduction", "reduction"]
            ins(%p : tensor<16x64x4xf32>) outs(%zeros) -> tensor<4xf32>
  }];
  let options = [
    Option<"minWork", "min-work", "int64_t", "0",
      "Minimal iterations for which a second stage pays off; 0: the target's">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def FuseReductions : Pass<"brew-fuse-reductions", "::brew::dialects::ProgramOp"> {
  let summary = "Fuse reductions into the nests that compute their input";
  let description = [{
    On a GPU, an elementwise nest and the only reduction over its result, such as the
    gradient of a bias, become one nest, whose last result is the elementwise value.

    Input:

        %y = linalg.generic ins(%x) {arith.maximumf} -> tensor<128x256x64xf32>
        %s = linalg.generic ins(%y) outs(%zeros) {arith.addf} -> tensor<64xf32>

    Output:

        %s, %y = linalg.generic ins(%x) outs(%zeros, %empty) {arith.maximumf, arith.addf}
            -> (tensor<64xf32>, tensor<128x256x64xf32>)
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FoldCoefficients : Pass<"brew-fold-coefficients", "::brew::dialects::ProgramOp"> {
  let summary = "Compute the coefficients of channels once";
  let description = [{
    A nest that normalizes reads several numbers per channel for each element. Where its
    values are sums of elements times numbers per channel, a nest over the channels computes
    the coefficients of these sums, after the reductions that yield the statistics; nests
    that need the same coefficients share them. Applied on a GPU, if a nest then reads fewer
    numbers per channel. Not applied to elements in f32: their mean may be much larger than
    their deviation, and must be subtracted first.

    Input:

        %y = linalg.generic ins(%x, %mean, %deviation, %gamma, %beta) {
          %0 = arith.extf %x : bf16 to f32
          %1 = arith.subf %0, %mean
          %2 = arith.mulf %1, %deviation
          %3 = arith.mulf %2, %gamma
          %4 = arith.addf %3, %beta
          ...

    Output:

        %a, %b = linalg.generic ins(%mean, %deviation, %gamma, %beta) {...}
        %y = linalg.generic ins(%x, %a, %b) {
          %0 = arith.extf %x : bf16 to f32
          %1 = arith.mulf %0, %a
          %2 = arith.addf %1, %b
          ...
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def Rematerialize : Pass<"brew-rematerialize", "::brew::dialects::ProgramOp"> {
  let summary = "Rematerialize saved values in the backward pass";
  let description = [{
    Chooses values that the backward pass recomputes, until no step needs more than
    `bytes`, as far as can be estimated before kernels are formed. Values that are cheap,
    by the machine's roofline model, for the memory they free come first. With negative
    `bytes`, only rematerializes at next to no cost, if that lowers the peak.

    Input:

        %b = linalg.generic ins(%a) {brew.layer = "b"}
        %c = linalg.generic ins(%b) {brew.layer = "c"}
        %dc = linalg.generic ins(%c) {brew.backward, brew.layer = "c"}
        %db = linalg.generic ins(%b, %dc) {brew.backward, brew.layer = "b"}

    Output:

        %b = linalg.generic ins(%a) {brew.layer = "b"}
        %c = linalg.generic ins(%b) {brew.layer = "c"}
        %dc = linalg.generic ins(%c) {brew.backward, brew.layer = "c"}
        %again = linalg.generic ins(%a) {brew.backward, brew.layer = "b", brew.rematerialized}
        %db = linalg.generic ins(%again, %dc) {brew.backward, brew.layer = "b"}
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "0", "Memory limit of a step; negative: none">,
    Option<"precision", "precision", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::F32", "Precision of products",
      valuesOf<["F32", "TF32", "BF16", "F16"], "Precision">.text>];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def AliasSubviews : Pass<"brew-alias-subviews", "::brew::dialects::ProgramOp"> {
  let summary = "Alias slices and concatenation operands with the full tensor";
  let description = [{
    Slices, and operands of concatenations, get the strides of the full tensor, so that
    they share its memory. Copies are inserted only for users that do not support strides
    (vendor calls, data layers, views of another shape). On GPUs, convolutions support
    slices of channels-last blobs whose pixels are aligned for the widest access; on CPUs,
    1x1 convolutions in f32 and Winograd algorithms write such slices.

    Input:

        %a = linalg.generic ... -> tensor<2x3xf32>
        %b = linalg.generic ... -> tensor<2x3xf32>
        %y = brew.concat_view "c"(%a, %b) {axis = 1} : (...) -> tensor<2x6xf32>

    Output:

        %a = linalg.generic ... -> tensor<2x3xf32, {strides = array<i64: 6, 1>}>
        %b = linalg.generic ... -> tensor<2x3xf32, {strides = array<i64: 6, 1>}>
        %y = brew.concat_view "c"(%a, %b) {axis = 1} : (...) -> tensor<2x6xf32>
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def BuildLoops : Pass<"brew-build-loops", "::brew::dialects::ProgramOp"> {
  let summary = "Build `brew.loop` for operations that repeat library calls";
  let description = [{
    The time steps of recurrent layers become the iterations of a loop, whose body contains
    library calls and one kernel for each nest between them. Nests around the loop compute its
    initial values. They are formed to kernels by brew-form-kernels.

    Input:

        %y, ... = brew.rnn_steps "l"(%x, %cont, %h0, %wh)

    Output:

        %next = linalg.generic ...  // cont of the next step
        %first = linalg.generic ... // cont[0] h0
        %y, %last, %hidden = brew.loop "l" 20 sequences(%x, %next) invariants(%wh)
            initial(%first) {
        ^bb0(%xt, %nextt, %w, %hm):
          %p = brew.inner_product "l"(%hm, %w)
          %k:2 = brew.kernel "l"(%p, %xt, %nextt) {...}
          brew.yield %k#0, %k#1, %p
        }
  }];
  let options = [ListOption<"noLibrary", "no-library", "std::string",
    "Groups of library calls to replace by nests">];
}

def FormKernels : Pass<"brew-form-kernels", "::brew::dialects::ProgramOp"> {
  let summary = "Group loop nests into `brew.kernel` regions";
  let description = [{
    Adds a nest to the kernel of its producers or siblings if their leading parallel loops
    agree and it reads values of the kernel at the grid point at which they were written;
    small work is gathered into one sequential kernel. Independent flat kernels (solver
    updates) become sub-kernels of one. On a GPU, no kernel is formed in which blocks of
    threads would have too much work each.

    Input:

        %a = linalg.generic ins(%x) {brew.layer = "a"}
        %b = linalg.generic ins(%a) {brew.layer = "b"}

    Output:

        %k = brew.kernel "a_b"(%x) {layers = ["a", "b"]} {
        ^bb0(%arg0: tensor<64x100xf32>):
          %a = linalg.generic ins(%arg0) {brew.grid_loops = 2, brew.sub_kernel = 0}
          %b = linalg.generic ins(%a) {brew.grid_loops = 2, brew.sub_kernel = 0}
          brew.yield %b
        }
  }];
  let options = [
    // Each may have half a dozen arguments; a GPU's kernel takes 4095
    // (plan/Contract.h).
    Option<"maxSubKernels", "max-sub-kernels", "int64_t", "512",
      "Maximal number of independent flat kernels that become one">,
    Option<"shareUpdates", "share-updates", "bool", "false",
      "Keep the updates of parameters separate, so that ranks can share them">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::affine::AffineDialect"];
}

def FuseFinalReduction : Pass<"brew-fuse-final-reduction", "::brew::dialects::ProgramOp"> {
  let summary = "Fuse the final reduction into the kernel of partial sums";
  let description = [{
    Fuses a kernel of partial sums (see brew-split-reductions) with the second kernel, which
    alone reads them. The second kernel becomes a sub-kernel that the last block to finish
    executes or, if blocks compute adjacent sums, the last block of each tile of them. Not
    applied if the last blocks would take longer than a second launch. Applied on GPUs
    only.

    Input:

        %p = brew.kernel "part"(%x) { ... }
        %m = brew.kernel "sum"(%p, %y) { ... }

    Output:

        %p, %m = brew.kernel "sum"(%x, %y) {
          %p = linalg.generic ... {brew.grid_loops = 2, brew.sub_kernel = 0}
          %s = linalg.generic ins(%p) {brew.grid_loops = 1, brew.last_block, brew.sub_kernel = 1}
          ...
          brew.yield %p, %m
        }
  }];
  let options = [
    Option<"maxCycles", "max-cycles", "int64_t", "0",
      "Maximal cycles of a last block; 0: the target's">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def VerifyFused : Pass<"brew-verify-fused", "::brew::dialects::ProgramOp"> {
  let summary = "Verify phase fused: only vendor calls, kernels, views and sinks";
  let description = [{
    Checks that sinks come last, that subviews have the strides of the full tensor, and
    that kernels contain only nests (`linalg.generic`) and their initial values: filled or
    empty tensors and constants.
  }];
}

#endif // BREW_PASSES_FUSEDPASSES_TD
