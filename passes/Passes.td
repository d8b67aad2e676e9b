//===- Passes.td - The transformations between phases ------*- tablegen -*-===//
#ifndef BREW_PASSES_TD
#define BREW_PASSES_TD

include "mlir/Pass/PassBase.td"

// The values that an option of an enumeration of dialects/Target/TargetEnums.td has,
// under the names that the enumeration gives them.
class valuesOf<list<string> cases, string enumeration> {
  string text = "::llvm::cl::values(" # !interleave(!foreach(each, cases,
    "clEnumValN(::brew::dialects::target::" # enumeration # "::" # each #
    ", ::brew::dialects::target::stringify" # enumeration # "(::brew::dialects::target::" #
    enumeration # "::" # each # "), \"\")"), ", ") # ")";
}

//===----------------------------------------------------------------------===//
// Phase graph
//===----------------------------------------------------------------------===//

def InferDataShapes : Pass<"brew-infer-data-shapes", "::mlir::ModuleOp"> {
  let summary = "Gives the tops of data layers their shapes";
  let description = [{
    From the layer's own settings, or the first record of its source. A source that
    is not there is an error unless `input-shape` gives the top's shape; then the
    leading dimension is still the layer's batch size. Shapes that are given of a host
    layer's tops are noted on it. Errors carry how the tool should end (dialects/Brew/DiagnosticMetadata.h).
  }];
  let options = [
    ListOption<"inputShapes", "input-shape", "std::string",
      "Shapes as BLOB=d,d,...">,
    Option<"batch", "batch", "int64_t", "0",
      "Leading dimension of every feed; 0: as the layer says">];
}

def InferShapes : Pass<"brew-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "Gives every blob and parameter its static shape";
  let description = [{
    Walks each program in order and asks every layer for the shapes of its tops
    and parameters. Feeds must have theirs already. Checks that layers sharing a parameter
    agree on its shape. Records blob shapes and Caffe's memory on the program.
  }];
}

def TrackItemCounts : Pass<"brew-track-item-counts", "::mlir::ModuleOp"> {
  let summary = "Follows blobs whose number of items is only known at run time";
  let description = [{
    Such a blob has the shape of the most items there can be, and an i32 count
    (dialects/Brew/ItemCounts.h). Layers that combine items get `brew.mask_items` and
    `brew.average_items` around them; one that does not accept such a bottom is an
    error. A `brew.pin count` goes with every output and pinned blob.
  }];
}

def PropagateStoredParams : Pass<"brew-propagate-stored-params", "::mlir::ModuleOp"> {
  let summary = "Lets layers read what earlier layers stored to a parameter";
  let description = [{
    A `brew.param_value` reads what the parameter was before the program. In Caffe layers
    that share a parameter share its memory, so a layer reads what an earlier one stored
    (running statistics of BatchNorm). Each `brew.param_value` after a `brew.store_param` of
    its parameter becomes the value stored last, and of several stores the last one stays.

    Before:

        %next = brew.batch_norm "a"(%x, %mean) ...
        brew.store_param %next, @mean
        %mean2 = brew.param_value @mean
        %next2 = brew.batch_norm "b"(%z, %mean2) ...
        brew.store_param %next2, @mean

    After:

        %next = brew.batch_norm "a"(%x, %mean) ...
        %next2 = brew.batch_norm "b"(%z, %next) ...
        brew.store_param %next2, @mean
  }];
}

def UnrollRecurrent : Pass<"brew-unroll-recurrent", "::mlir::ModuleOp"> {
  let summary = "Replaces recurrent layers by one copy of their cell per time step";
  let description = [{
    The state before the first step is a bottom (`expose_hidden`) or what the program's
    previous run left: then it is a `brew.param` with `brew.persistent`, which starts as
    zeros and which weight files and solvers do not know.

    Caffe's layer shares the data of exposed states with its unrolled net, and not their
    gradients: none gets from a hidden top into the layer, nor from the layer into a
    hidden bottom. Splits marked `brew.no_gradient` say so; brew-differentiate warns
    where one keeps a gradient from something that learns.
  }];
  let options = [Option<"exactHiddenGradients", "exact-hidden-gradients", "bool", "false",
    "Gradients of exposed states are propagated, which Caffe does not do">];
}

def PinBlobs : Pass<"brew-pin-blobs", "::mlir::ModuleOp"> {
  let summary = "Pins blobs so that they can be read after a run";
  let description = [{
    Adds a `brew.pin` for the last version of each named blob. `all` names every one, and
    marks programs with `brew.repeatable_backward` (RepeatableBackward.h).
    The gradients of the same blobs are pinned by brew-differentiate. Programs that
    learn also keep the blobs of `seeds` and the bottoms of `brew.memory_loss`, so that
    a caller can look at what it gives the gradient of.
  }];
  let options = [ListOption<"blobs", "blobs", "std::string", "Names, or `all`">,
    ListOption<"seeds", "seeds", "std::string",
      "Blobs whose gradient the caller writes">];
}

def Differentiate : Pass<"brew-differentiate", "::mlir::ModuleOp"> {
  let summary = "Appends the backward pass to programs marked `differentiate`";
  let description = [{
    Reverse-mode, over whole layers: gradients start at tops with a loss weight, flow where
    Caffe would propagate them (towards parameters with lr_mult != 0, unless
    propagate_down says no), are summed over users, and are stored per parameter. A
    `brew.param_value` marked `brew.gradient` gets its gradient at lr_mult 0 too.
    Behind a propagate_down that says no, gradients are built as in Caffe, for who
    wants to see them; what nobody keeps is dropped as dead code.
    Each of `seeds`, which brew-pin-blobs has pinned, adds the `brew.output_gradient` that the
    caller writes to its gradient. A `brew.memory_loss` has such a seed for each bottom
    that learns, which it scales.
  }];
  let options = [ListOption<"keep", "keep", "std::string",
    "Blobs whose gradients stay readable, or `all`">,
    ListOption<"seeds", "seeds", "std::string",
      "Blobs whose gradient the caller writes">,
    Option<"lossScale", "loss-scale", "double", "0",
      "Multiplies losses, for narrow gradients: at first by this power of two. What is "
      "stored or kept is divided again. 0: not at all">];
}

def FoldFlatten : Pass<"brew-fold-flatten", "::mlir::ModuleOp"> {
  let summary = "Lets inner products read what a flatten or reshape views";
  let description = "Where nothing else reads the view.";
}

def SinkReluBelowMaxPool : Pass<"brew-sink-relu-below-max-pool", "::mlir::ModuleOp"> {
  let summary = "Moves ReLUs behind the max poolings that read them";
  let description = [{
    Where nothing else reads what is clipped, be it joined of several blobs or not. The
    backward pass then needs the signs of the smaller blob.
  }];
}

def FoldSplits : Pass<"brew-fold-splits", "::mlir::ModuleOp"> {
  let summary = "Replaces the tops of Split layers by their bottom";
  let description = "After differentiation a split is only a name for its bottom; "
    "Silence layers have nothing left to do either.";
}

def FoldNormalization : Pass<"brew-fold-normalization", "::mlir::ModuleOp"> {
  let summary = "Folds BatchNorm, Scale and Bias into weights at inference";
  let description = [{
    In the program `deploy`, such layers behind a convolution or inner product go
    into its weights and bias, where nothing else reads what lies between; other
    chains that have a BatchNorm in them become one Scale. A program `prepare`
    computes the parameters that this needs (`brew.derived`: no weight file has
    them).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def BuildUpdate : Pass<"brew-build-update", "::mlir::ModuleOp"> {
  let summary = "Adds the `update` program of the solver";
  let description = [{
    One update operation per parameter that has a gradient. With `keep-update` what
    it subtracts takes the gradient's place, as Caffe leaves it: snapshots with
    snapshot_diff hold it.
  }];
  let options = [
    Option<"solverType", "type", "std::string", "\"SGD\"", "SolverParameter.type">,
    Option<"regularization", "regularization", "std::string", "\"L2\"",
      "SolverParameter.regularization_type">,
    Option<"keepUpdate", "keep-update", "bool", "false",
      "Store the update as the gradient">,
    Option<"lossScale", "loss-scale", "double", "0",
      "As of brew-differentiate: updates whose gradients are not finite are left out">,
    Option<"lossScaleWindow", "loss-scale-window", "int64_t", "2000",
      "Good iterations after which the scale is doubled; 0: it stays as it is">];
}

//===----------------------------------------------------------------------===//
// Phase fused
//===----------------------------------------------------------------------===//

def AttachTarget : Pass<"brew-attach-target", "::mlir::ModuleOp"> {
  let summary = "Names the machine that the module is for";
  let description = [{
    Sets the module's attribute `target.machine`, which all that follows asks for
    the machine's numbers: a CPU, unless there are architectures of GPUs. Of these the
    first decides; what is asked of the vendor library must suit all of them.
  }];
  let options = [
    ListOption<"gpuArchs", "gpu-arch", "std::string", "sm_90 and the like, or sim">,
    Option<"vectorBits", "vector-bits", "int64_t",
      "::brew::dialects::target::kDefaultVectorBits",
      "Of the CPU: width of its vectors">,
    Option<"bf16", "bf16", "bool", "::brew::dialects::target::kDefaultBf16",
      "Of the CPU: its library gains by multiplying bf16">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def FuseSiblingConvolutions : Pass<"brew-fuse-sibling-convolutions", "::mlir::ModuleOp"> {
  let summary = "Makes one call of convolutions that read the same blob";
  let description = [{
    Convolutions of the same windows over the same blob, with the same ReLU behind
    them or none, become one whose weights lie one after another. Their tops are parts
    of its top, the sum of their gradients by the blob is one call, and so are
    those by their weights. Where what calls read no longer, write no longer and add no longer
    is more than copies of parts (for calls, which follow no strides) and of weights
    move. On CPUs in the program `deploy` alone, whose joined weights `prepare` makes.
  }];
  let options = [
    ListOption<"noLibrary", "no-library", "std::string",
      "Groups of vendor calls not to use (conv, ip), or `all`">];
  let dependentDialects = ["::brew::dialects::BrewDialect",
    "::brew::dialects::target::TargetDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseEpilogue : Pass<"brew-fuse-epilogue", "::mlir::ModuleOp"> {
  let summary = "Moves a ReLU into the convolution or inner product before it";
  let description = [{
    Only where nothing else reads the value before the ReLU, and one with a slope
    behind an inner product only where the target's library has such a product.
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def LowerPrecision : Pass<"brew-lower-precision", "::mlir::ModuleOp"> {
  let summary = "Keeps activations and their gradients in 16 bits";
  let description = [{
    Behind what computes an activation, or the gradient of one, it is cast to `type`,
    and its users read it through a cast back to f32: they compute as before. Feeds,
    labels, losses, probabilities, statistics, parameters, their gradients and solver
    state stay f32, as do programs without layers. Products round all their
    operands; where the target's library gains by it they take them in `type` and give
    such results, except that those of inner products by weights are f32.
  }];
  let options = [
    Option<"type", "type", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::BF16", "bf16 or f16",
      valuesOf<["BF16", "F16"], "Precision">.text>];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PadChannels : Pass<"brew-pad-channels", "::mlir::ModuleOp"> {
  let summary = "Gives first convolutions as many channels as tensor cores want";
  let description = [{
    On a GPU a call in 16 bits reads an image of fewer than 8 channels, and weights for
    them, with channels of zeros behind them; its gradient by the weights is cut. Not
    where the image has a gradient, or the convolution's own channels are no multiple
    of 8.
  }];
  let options = [
    ListOption<"noLibrary", "no-library", "std::string",
      "Operation groups that must not become vendor calls, or `all`">];
}

def FoldInputConversions : Pass<"brew-fold-input-conversions", "::mlir::ModuleOp"> {
  let summary = "Lets data layers deliver images as their readers want them";
  let description = [{
    On a GPU, where a kernel makes images of pixels: rounded to 16 bits, and with the
    channels of zeros that brew-pad-channels adds, if nothing reads them otherwise.
  }];
}

def AssignLayout : Pass<"brew-assign-layout", "::mlir::ModuleOp"> {
  let summary = "Chooses the memory layout of activations and weights";
  let description = [{
    One decision for the whole net: channels-last when vendor convolutions are
    to run and the target's library is good at it in that precision, else Caffe's own
    layout. Every consumer reads through strides, so there are
    no transposes; the weights of an inner product behind a channels-last blob
    are split into that blob's dimensions and laid out alike; or, without `order-weights`,
    that blob is row-major and the weights stay as Caffe has them. With tf32, whose products
    read parameters themselves, convolutions' weights are channels-last too. On a CPU
    those of at most four channels have their outputs side by side, unless
    `order-weights` is off, as vectors of generated code want them.
  }];
  let options = [Option<"layout", "layout", "::brew::dialects::target::BlobLayout",
      "::brew::dialects::target::BlobLayout::Auto", "auto, nchw or nhwc",
      valuesOf<["Auto", "NCHW", "NHWC"], "BlobLayout">.text>,
    Option<"precision", "precision", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::F32", "What products compute in",
      valuesOf<["F32", "TF32", "BF16", "F16"], "Precision">.text>,
    Option<"orderWeights", "order-weights", "bool", "true",
      "Inner products' weights take the order of channels-last bottoms">,
    ListOption<"noLibrary", "no-library", "std::string",
      "Groups of vendor calls not to use, or `all`">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def BuildGradientPrograms : Pass<"brew-build-gradient-programs", "::mlir::ModuleOp"> {
  let summary = "Adds what a solver does with gradients before its update";
  let description = [{
    `accumulate` adds the gradients of a batch to sums that lie behind the solver's
    state and start as zeros; `collect` adds the sums to the gradients and clears them
    (iter_size). `clip` has the sum of the squares of all gradients as its output
    `sum_of_squares` (clip_gradients), added in two stages so that it can use all of
    the device, always in the same order. They treat the arena of gradients as one
    vector. The gaps in it are zeros.
  }];
  let options = [
    Option<"accumulate", "accumulate", "bool", "false",
      "The solver adds up gradients (iter_size)">,
    Option<"clip", "clip", "bool", "false",
      "The solver looks at the gradients' norm (clip_gradients)">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def SyncBatchNorm : Pass<"brew-sync-batch-norm", "::mlir::ModuleOp"> {
  let summary = "Makes the batch of normalization layers that of all ranks";
  let description = [{
    In training programs every `brew.batch_norm` computes its statistics over the
    batches of all ranks of a data-parallel run. Before gradients are built, which
    follow.
  }];
}

def LowerToNests : Pass<"brew-lower-to-nests", "::mlir::ModuleOp"> {
  let summary = "Replaces layers that are no vendor call by their generic form";
  let options = [ListOption<"noLibrary", "no-library", "std::string",
    "Groups of vendor calls not to use (conv, ip), or `all`">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def FoldCasts : Pass<"brew-fold-casts", "::mlir::ModuleOp"> {
  let summary = "Makes casts part of the nests that read or write their values";
  let description = [{
    A nest widens what it reads; one without reductions rounds what it writes. The
    other casts become nests of their own.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PrepareWeights : Pass<"brew-prepare-weights", "::mlir::ModuleOp"> {
  let summary = "Makes weights what calls want once, not in every run";
  let description = [{
    What the program `deploy` computes of parameters alone, such as weights rounded
    to 16 bits, becomes a parameter (`brew.derived`: no weight file has it) that
    `prepare` computes.
  }];
}

def RematerializeProducers : Pass<"brew-rematerialize-producers", "::mlir::ModuleOp"> {
  let summary = "Computes cheap values again where they are read";
  let description = [{
    The result of a nest of a few operations per element is not stored, but computed by
    each nest that reads it, where that moves fewer bytes: reading what it takes instead
    of the value, less writing it, if nothing else needs it stored. Operations count as
    the bytes that the machine moves meanwhile. What it takes may in turn be computed
    from tensors that the reader has: a ReLU's gradient finds its mask from the bottom
    of the normalization before it. A value that something else needs stored is stored
    by one of the nests that read it, where that saves the nest that only made it.

    On GPUs nests that read single elements for a sum to begin with become part of it.
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::affine::AffineDialect",
    "::mlir::linalg::LinalgDialect"];
}

def FuseDepthwise : Pass<"brew-fuse-depthwise", "::mlir::ModuleOp"> {
  let summary = "Lets depthwise convolutions compute their bottom themselves";
  let description = [{
    A blob that a nest makes element by element, and that nothing but depthwise
    convolutions and their gradients by the weights read, is not stored: these become nests
    that compute it where they read it. Where blobs are channels-last, and that takes less
    time by the machine's roofline than making it and the calls do.
  }];
  let options = [
    Option<"precision", "precision", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::F32", "What products compute in",
      valuesOf<["F32", "TF32", "BF16", "F16"], "Precision">.text>];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def PackSignMasks : Pass<"brew-pack-sign-masks", "::mlir::ModuleOp"> {
  let summary = "Stores signs as bits where nothing else of a value is read";
  let description = [{
    A nest of the forward pass whose result the backward pass only compares with zero
    (the mask of a ReLU behind a sum) gives a second result, a bit for each element, and the
    backward pass reads that. On GPUs, for all but small values.
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def FusePoolingBackward : Pass<"brew-fuse-pooling-backward", "::mlir::ModuleOp"> {
  let summary = "Lets each pass over a pooling's gradient gather it";
  let description = [{
    The gradient of a pooling whose windows overlap by a few at most, and which sums over
    images read, is not stored: each nest that reads it adds up the windows of the top's
    gradient that cover the element, where that takes less time. Operations count as the
    bytes that the machine moves meanwhile. On GPUs, where channels lie side by side.
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseWeightGradients : Pass<"brew-fuse-weight-gradients", "::mlir::ModuleOp"> {
  let summary = "Computes gradients of shared weights by one product";
  let description = [{
    A sum of gradients of inner products by the weights that they share (one for
    each time step of an LSTM) becomes one such gradient of the bottoms and of their
    tops' gradients, put one below the other; where copying all of these would move less
    than the sum does.
  }];
  let dependentDialects = ["::brew::dialects::BrewDialect"];
}

def ElideRoundings : Pass<"brew-elide-roundings", "::mlir::ModuleOp"> {
  let summary = "Leaves out roundings of values that are not stored";
  let description = [{
    A nest that rounds a value to bf16 only to widen it again, as what
    rematerialize-producers puts together does, goes on with the value itself. What the nest stores
    is rounded for its own readers too.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def FuseSiblingReductions : Pass<"brew-fuse-sibling-reductions", "::mlir::ModuleOp"> {
  let summary = "Makes one nest of sums that run over the same elements";
  let description = [{
    Sums over the same loops that read a tensor in common (the gradients of a scale and
    of its bias, and those of the normalization before it) become results of one nest, which reads it
    once. Only sums that begin with zero, in any order, of which none needs another.
    Sums that differ in factors which all their terms share (the sum of gamma * dy and
    that of dy) are added up once.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductions : Pass<"brew-split-reductions", "::mlir::ModuleOp"> {
  let summary = "Gives long sums with few results to many threads";
  let description = [{
    Some of a nest's reduction loops, outermost first, get a partial sum for each of
    their iterations; a second nest adds these. Where whole loops make too few partial
    sums, as the one loop over a flat blob does, a loop is made two of. On GPUs a block is
    the most that works on one result; and where neighbours in memory belong to different
    results (sums per channel, channels last), some threads of one. On CPUs only the latter
    are split, where the neighbours are few: threads then read whole rows; and sums for
    several taps of a window, so that what all of them read stays in a core's cache. Only
    sums whose order is free; the new order is as fixed as the old one.
  }];
  let options = [
    Option<"minWork", "min-work", "int64_t", "0",
      "Iterations from which on a second stage pays; 0: as for the target">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def FuseReductions : Pass<"brew-fuse-reductions", "::mlir::ModuleOp"> {
  let summary = "Adds up values where they are computed";
  let description = [{
    On a GPU: a nest that makes a value element by element and the one sum over it, such
    as the gradient of a bias, become one nest, whose last result is the value.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def Rematerialize : Pass<"brew-rematerialize", "::mlir::ModuleOp"> {
  let summary = "Computes saved values again where memory is short, or for free";
  let description = [{
    Chooses what the backward pass computes again, until no step needs more than
    `bytes`, as far as that can be told before kernels are formed. What is cheapest by
    the machine's roofline for the memory it frees comes first. With fewer bytes than
    none, only what costs next to nothing, where that lowers the peak.
  }];
  let options = [
    Option<"bytes", "bytes", "int64_t", "0", "Of what programs need at a time">,
    Option<"precision", "precision", "::brew::dialects::target::Precision",
      "::brew::dialects::target::Precision::F32", "What products compute in",
      valuesOf<["F32", "TF32", "BF16", "F16"], "Precision">.text>];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def AliasSubviews : Pass<"brew-alias-subviews", "::mlir::ModuleOp"> {
  let summary = "Lets joined and cut tensors share memory with the whole";
  let description = [{
    Subviews get the strides of the whole. Only what cannot follow strides (vendor calls,
    data layers, views of another shape) is copied. On GPUs convolutions follow those of
    parts of channels-last blobs whose pixels are aligned for the widest access; on CPUs
    those of 1x1 in f32, and those that Winograd's algorithms compute, write such parts.
  }];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FormKernels : Pass<"brew-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Groups loop nests into `brew.kernel` regions";
  let description = [{
    A nest joins the kernel of its producers or siblings when their leading
    parallel loops agree and what it reads from the kernel was written at the
    same grid point; small work is gathered into one sequential kernel. Independent
    flat kernels (solver updates) become parts of one. On a GPU there is no kernel in
    which blocks of threads would have too much each.
  }];
  let options = [
    // Each may have half a dozen arguments; a GPU's kernel takes 4095
    // (plan/Contract.h).
    Option<"maxSubKernels", "max-sub-kernels", "int64_t", "512",
      "Independent flat kernels that become one">,
    Option<"shareUpdates", "share-updates", "bool", "false",
      "Keep the updates of parameters apart, so that ranks can share them">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect",
    "::mlir::affine::AffineDialect"];
}

def FuseFinalReduction : Pass<"brew-fuse-final-reduction", "::mlir::ModuleOp"> {
  let summary = "Lets the last block of a kernel do the little that follows it";
  let description = [{
    A kernel whose results only a second one reads (the partial sums of
    brew-split-reductions) is joined with that one, which becomes a part that is done by
    the block that ends last, or where blocks take neighbouring sums together, by the
    last one of each tile of these. Not where the last blocks would take longer than
    another launch that waits for the first. For GPUs alone.
  }];
  let options = [
    Option<"maxCycles", "max-cycles", "int64_t", "0",
      "Cycles of a last block that are worth a launch; 0: as for the target">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

//===----------------------------------------------------------------------===//
// Phase plan
//===----------------------------------------------------------------------===//

def OrderForwardFirst : Pass<"brew-order-forward-first", "::mlir::ModuleOp"> {
  let summary = "Orders the forward pass before the backward pass";
  let description = [{
    Callers may run the forward pass alone. All steps that compute values of it, kernels
    that fuse them with gradients included, go before the steps that compute gradients
    only. Otherwise steps keep their order.
  }];
}

def OrderSteps : Pass<"brew-order-steps", "::mlir::ModuleOp"> {
  let summary = "Puts steps in an order that needs less memory";
  let description = [{
    Programs keep the order of the prototxt but for steps that lower the peak elsewhere:
    behind the step that needs the most memory, what is not needed yet; before it, what
    frees more than it takes. No step leaves its pass. Programs whose caller
    writes gradients keep their order.
  }];
}

def FuseLaunches : Pass<"brew-fuse-launches", "::mlir::ModuleOp"> {
  let summary = "Lets kernels that follow one another wait within one launch";
  let description = [{
    On a GPU, kernels with no other step between them become stages of one, which begin
    when all blocks have ended the stage before: that takes less than to wait for
    another launch. Calls between them come first if they do not need the first one, and
    it reads little. Not where what the two read and write together is more than the
    program needs at its peak; nor beyond four stages.
  }];
  let options = [
    Option<"isLimited", "limited", "bool", "false",
      "Memory is to be no more by a byte; else by a little">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def InsertAllReduces : Pass<"brew-insert-all-reduces", "::mlir::ModuleOp"> {
  let summary = "Adds gradients up over the ranks of a data-parallel run";
  let description = [{
    Gradients go into buckets in the order in which the steps of forward_backward finish
    them. A bucket that has `bucket-bytes` is full: its sum over all ranks is started
    behind the step that fills it, and awaited before gradients are stored. A gradient
    that several parameters have, and that of a shared one, is added up once. By default
    a bucket has the bytes for which the time that no step hides is least: each of
    the buckets takes a time to begin (a), and the last one its transfer (at w bytes per
    second), so for G bytes of gradients n = sqrt(G * a * w), with a and w of
    dialects/Target/Interconnect.h.

    A program `reduce` adds all gradients up at once, for iterations in which those of
    several batches are accumulated before. How many ranks there are is not known here;
    with one, the sums are what is added.
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "0",
      "Bytes from which on a bucket is full; 0: by the cost model">,
    Option<"halfWire", "half-wire", "bool", "false",
      "Gradients travel as bf16 (--reduce-precision)">];
}

def GenerateAlternatives : Pass<"brew-generate-alternatives", "::mlir::ModuleOp"> {
  let summary = "Generates code beside calls that libraries may be slow at";
  let description = [{
    A convolution of few channels (a first layer, a depthwise one) or of few pixels, on GPUs
    one of groups of few channels, gets a kernel that does the same on the same buffers, if
    all of it is one kernel that needs no memory of its own. Measuring chooses between the
    two: `brew-run tune`, and every session on a GPU.
  }];
  let dependentDialects = ["::brew::dialects::plan::PlanDialect",
    "::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def PlanMemory : Pass<"brew-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Orders the steps and gives every value a place in an arena";
  let description = [{
    Lowers brew programs to the plan dialect. Views share their
    source's place, kernels write in place where every access allows it, stored
    values are produced where they are stored. Offsets come from the best of several
    greedy orders.
  }];
  let dependentDialects = ["::brew::dialects::plan::PlanDialect"];
}

def BuildInputKernels : Pass<"brew-build-input-kernels", "::mlir::ModuleOp"> {
  let summary = "Adds kernels that convert the pixels of Data layers";
  let description = [{
    One for each Data layer: crop and mirror as the host has decided for each image,
    subtract the mean, scale. It is no step of the program but belongs to
    the feed. The size of a mean image is that of its file; without it there is no
    kernel, and the host converts. The size of records is that of the mean image or of
    the database's first; where it is not known, or more than twice that of the crop,
    the host crops.
  }];
  let dependentDialects = ["::brew::dialects::BrewDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// Verifiers between phases
//===----------------------------------------------------------------------===//

def VerifyImport : Pass<"brew-verify-import", "::mlir::ModuleOp"> {
  let summary = "Phase import holds only layers, parameters and sinks";
  let description = "Shapes are unknown, every operation has a place in a prototxt, no "
    "gradient is there, and every parameter that is read exists.";
}
def VerifyGraph : Pass<"brew-verify-graph", "::mlir::ModuleOp"> {
  let summary = "Phase graph: every tensor has a static shape";
  let description = "Splits and recurrent layers have been replaced. Where a program "
    "learns, what it reads and learns has a gradient, and an update if there is one.";
}
def VerifyFused : Pass<"brew-verify-fused", "::mlir::ModuleOp"> {
  let summary = "Phase fused: programs hold only vendor calls, kernels, views and sinks";
  let description = "Sinks stand at the end; subviews of joined blobs have the strides of "
    "the whole; kernels hold nests (`linalg.generic`) and what these start from: filled or "
    "empty tensors and constants.";
}
def VerifyPlan : Pass<"brew-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Phase plan: no step reads bytes that another value has overwritten";
  let description = [{
    Replays the steps: a write to a buffer ends the value of every
    other buffer that shares a byte with it, and a step may only read a live value.
    Checks that buffers lie inside their arenas, aligned.
  }];
}

#endif // BREW_PASSES_TD
