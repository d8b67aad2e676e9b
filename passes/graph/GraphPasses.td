//===- GraphPasses.td - Passes of phase graph --------------*- tablegen -*-===//
#ifndef BREW_PASSES_GRAPHPASSES_TD
#define BREW_PASSES_GRAPHPASSES_TD

include "passes/PassOptions.td"

def VerifyImport : Pass<"brew-verify-import", "::mlir::ModuleOp"> {
  let summary = "Verify phase import: only layers, parameters and sinks";
  let description = [{
    Checks that shapes are unknown, that every operation has a location in a prototxt, that
    there are no gradients, and that every parameter that is read exists.
  }];
}

def InferShapes : Pass<"brew-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "Infer the static shapes of all blobs and parameters";
  let description = [{
    Walks each program in order and calls every layer's shape function. The tops of data
    layers must have static shapes. Checks that layers sharing a parameter agree on its
    shape. Sets the program's attributes `blobs`, `params` and `caffe_bytes`.

    Input:

        %c = brew.convolution "conv"(%x, %w) {num_output = 4, kernel = [3, 3], ...}
            : (tensor<1x3x7x7xf32>, tensor<*xf32>) -> tensor<*xf32>

    Output:

        %c = brew.convolution "conv"(%x, %w) {num_output = 4, kernel = [3, 3], ...}
            : (tensor<1x3x7x7xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  }];
}

def OutlineLayers : Pass<"brew-outline-layers", "::mlir::ModuleOp"> {
  let summary = "Replace each program by a program for each of its layers";
  let description = [{
    The programs of layers are for callers that run the layers of a net one by one and own its
    blobs (--stepwise). The bottoms of a layer become inputs of its program; layers of type
    Input need no program. A bottom that gets a gradient in Caffe, because it depends on a
    learnable parameter or by the layer's propagate_down, is marked with `brew.gradient`.
    Losses lose their weights, because the caller writes the gradients of all tops.

    The new programs have no `blobs` and `params`, which another brew-infer-shapes sets.

    Input:

        brew.program @main train differentiate {
          %x = brew.data_input "x" "Input" {...} : tensor<2x3xf32>
          %w = brew.param_value @ip.0 : tensor<5x3xf32>
          %y = brew.inner_product "ip"(%x, %w) {tops = ["ip"]}
          %z = brew.relu "relu"(%y) {tops = ["ip"]}
        }

    Output:

        brew.program @"layer:ip" train differentiate {
          %x = brew.data_input "x" "Input" {...} : tensor<2x3xf32>
          %w = brew.param_value @ip.0 : tensor<5x3xf32>
          %y = brew.inner_product "ip"(%x, %w) {tops = ["ip"]}
        }
        brew.program @"layer:relu" train differentiate {
          %y = brew.data_input "ip" "Input" {brew.gradient, ...} : tensor<2x5xf32>
          %z = brew.relu "relu"(%y) {tops = ["ip"]}
        }
  }];
}

def TrackItemCounts : Pass<"brew-track-item-counts", "::brew::dialects::ProgramOp"> {
  let summary = "Propagate item counts that are known only at run time";
  let description = [{
    A blob with a dynamic number of items has a static shape with room for the maximal
    number, and an i32 count (dialects/Brew/ItemCounts.h). Inserts `brew.mask_items` and
    `brew.average_items` around layers that combine items, `brew.scale_item_count` for views,
    and `brew.pack_items` after concatenations of items; a layer that does not support such a
    bottom is an error. Pins the count of every output and pinned blob.

    Input, where `brew.filter` returns the items of %y and their count:

        %y, %count = brew.filter "f"(%x, %selector)
        %mean = brew.reduction "mean"(%y) {kind = mean}

    Output:

        %y, %count = brew.filter "f"(%x, %selector)
        %masked = brew.mask_items "mean"(%y, %count) {fill = 0.0}
        %sum = brew.reduction "mean"(%masked) {kind = mean}
        %mean = brew.average_items "mean"(%sum, %count) {items = 4}
  }];
}

def PropagateStoredParams : Pass<"brew-propagate-stored-params", "::brew::dialects::ProgramOp"> {
  let summary = "Forward stored parameters to later reads";
  let description = [{
    A `brew.param_value` reads the parameter's value from before the program. In Caffe,
    layers that share a parameter share its memory, so a layer reads what an earlier one
    stored (running statistics of BatchNorm). Replaces each `brew.param_value` after a
    `brew.store_param` of the same parameter by the stored value, and keeps only the last
    store.

    Input:

        %next = brew.batch_norm "a"(%x, %mean) ...
        brew.store_param %next, @mean
        %mean2 = brew.param_value @mean
        %next2 = brew.batch_norm "b"(%z, %mean2) ...
        brew.store_param %next2, @mean

    Output:

        %next = brew.batch_norm "a"(%x, %mean) ...
        %next2 = brew.batch_norm "b"(%z, %next) ...
        brew.store_param %next2, @mean
  }];
}

def LowerRecurrent : Pass<"brew-lower-recurrent", "::brew::dialects::ProgramOp"> {
  let summary = "Lower recurrent layers to products and their time steps";
  let description = [{
    The state before the first step is a bottom (`expose_hidden`), or it persists from the
    program's previous run: then it is a `brew.param` with `brew.persistent`, initially
    zero, which weight files and solvers do not see.

    In Caffe's layer, exposed states share the data with the unrolled net, but not the
    gradients: no gradient passes from a hidden top into the layer, or from the layer to a
    hidden bottom. Splits with `brew.no_gradient` block them; brew-differentiate warns if
    a split blocks a gradient that a learnable parameter would receive.

    The number of previous runs, `brew.run_count`, is such a `brew.param` too.

    The time steps of `brew.conv_lstm`, whose states have their true gradients, and the iterations
    of `brew.mean_field` become operations of their own.

    Input:

        %y = brew.lstm "l"(%x, %cont, %w, %b, %wh)

    Output:

        %h0 = brew.param_value @l.state0.p
        %c0 = brew.param_value @l.state1.p
        %xw = brew.inner_product "l"(%x, %w, %b)
        %y, %h, %c, ... = brew.lstm_steps "l"(%xw, %cont, %h0, %c0, %wh)
        brew.store_param %h, @l.state0.p
        brew.store_param %c, @l.state1.p
  }];
  let options = [Option<"exactHiddenGradients", "exact-hidden-gradients", "bool", "false",
    "Propagate gradients of exposed states, which Caffe does not">];
}

def PinBlobs : Pass<"brew-pin-blobs", "::mlir::ModuleOp"> {
  let summary = "Pin blobs so that they can be read after a run";
  let description = [{
    Adds a `brew.pin` for the last version of each blob in `blobs`. `all` pins every
    blob, and marks programs with `brew.repeatable_backward` (RepeatableBackward.h).
    brew-differentiate pins the gradients of the same blobs. In training programs, also
    pins the blobs of `output-gradients` and the bottoms of `brew.memory_loss`, so that the
    caller can read the blobs for which it writes gradients.

    Input, with `blobs=conv`:

        %c = brew.convolution "conv"(%x, %w) {tops = ["conv"]}
        %r = brew.relu "relu"(%c) {tops = ["conv"]}

    Output:

        %c = brew.convolution "conv"(%x, %w) {tops = ["conv"]}
        %r = brew.relu "relu"(%c) {tops = ["conv"]}
        brew.pin data "conv", %r
  }];
  let options = [ListOption<"blobs", "blobs", "std::string", "Names, or `all`">,
    ListOption<"outputGradients", "output-gradients", "std::string",
      "Blobs whose gradient the caller writes">];
}

def Differentiate : Pass<"brew-differentiate", "::mlir::ModuleOp"> {
  let summary = "Append the backward pass to programs marked `differentiate`";
  let description = [{
    Reverse-mode differentiation of layers. Gradients start at tops with a loss weight and
    flow as in Caffe: towards parameters with lr_mult != 0, unless propagate_down blocks
    them. They are summed over the users of a value and stored per parameter. A
    `brew.param_value` with `brew.gradient` gets a gradient at lr_mult 0 too. Beyond a
    propagate_down that blocks the gradient, gradients exist as in Caffe, so that they can
    be pinned; others are erased as dead code.

    Each blob in `output-gradients`, which brew-pin-blobs has pinned, adds a `brew.output_gradient`,
    written by the caller, to its gradient. A `brew.memory_loss` has one for each bottom
    that learns, and scales it.

    In a program without a loss and output gradients, the gradients of the outputs are zero.
    Gradients of layers that are not differentiable are then omitted.

    Input:

        %c = brew.convolution "conv"(%x, %w)
        %loss = brew.reduction "loss"(%c) {loss_weights = [0.5]}

    Output:

        %c = brew.convolution "conv"(%x, %w)
        %loss = brew.reduction "loss"(%c) {loss_weights = [0.5]}
        %dloss = brew.fill 0.5 {brew.backward, brew.layer = "loss"}
        %dc = linalg.generic ins(%dloss, ...) {brew.backward, brew.layer = "loss"}
        %dw = brew.convolution_backward_weights "conv"(%x, %dc) {brew.backward}
        brew.store_gradient %dw, @conv.0
  }];
  let options = [ListOption<"pin", "pin", "std::string",
    "Blobs whose gradients can be read after a run, or `all`">,
    ListOption<"outputGradients", "output-gradients", "std::string",
      "Blobs whose gradient the caller writes">,
    Option<"lossScale", "loss-scale", "double", "0",
      "Initial factor of losses, a power of two, for narrow gradients. Stored and pinned "
      "gradients are divided by it. 0: no loss scaling">];
}

def FoldFlatten : Pass<"brew-fold-flatten", "::brew::dialects::ProgramOp"> {
  let summary = "Fold flattening views into inner products";
  let description = [{
    Applied if the inner product is the only user of the flatten, reshape or squeeze.

    Input:

        %f = brew.flatten "f"(%x) : (tensor<2x3x4x2xf32>) -> tensor<2x24xf32>
        %y = brew.inner_product "i"(%f, %w) : (tensor<2x24xf32>, tensor<4x24xf32>) -> ...

    Output:

        %y = brew.inner_product "i"(%x, %w) : (tensor<2x3x4x2xf32>, tensor<4x24xf32>) -> ...
  }];
}

def SinkReluBelowMaxPool : Pass<"brew-sink-relu-below-max-pool", "::brew::dialects::ProgramOp"> {
  let summary = "Sink ReLUs below max poolings";
  let description = [{
    Applied if the pooling is the only user of the ReLU, directly or through a Concat of
    ReLUs. The backward pass then needs the signs of the smaller blob.

    Input:

        %r = brew.relu "relu"(%x)
        %p, %argmax = brew.max_pooling "pool"(%r)

    Output:

        %m, %argmax = brew.max_pooling "pool"(%x)
        %p = brew.relu "relu"(%m)
  }];
}

def FoldNormalization : Pass<"brew-fold-normalization", "::mlir::ModuleOp"> {
  let summary = "Fold BatchNorm, Scale and Bias into weights at inference";
  let description = [{
    In the program `deploy`, folds such layers after a convolution or inner product into
    its weights and bias, if nothing else reads the values in between. Other chains that
    contain a BatchNorm become one Scale. The program `prepare` computes the folded
    parameters (`brew.derived`: weight files do not contain them).

    Input:

        brew.program @deploy {
          %c = brew.convolution "c"(%x, %w)
          %n = brew.batch_norm_global "n"(%c, %mean, %variance, %factor)
          %z = brew.scale "s"(%n, %gamma, %beta)

    Output:

        brew.program @prepare {
          ...
          brew.store_param %scaled, @c.0.folded
          brew.store_param %shift, @c.1.folded
        }
        brew.program @deploy {
          %fw = brew.param_value @c.0.folded
          %fb = brew.param_value @c.1.folded
          %z = brew.convolution "c+n+s"(%x, %fw, %fb)
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
}

def BuildUpdate : Pass<"brew-build-update", "::mlir::ModuleOp"> {
  let summary = "Build the solver's `update` program";
  let description = [{
    Adds one update operation per parameter that has a gradient. With `keep-update` the
    update replaces the stored gradient, as in Caffe: snapshots with snapshot_diff contain
    it.

    Output, for the parameter @conv.0 and SGD:

        brew.program @update train role update {
          %rate = brew.solver_scalar learning_rate
          %decay = brew.solver_scalar weight_decay
          %scale = brew.solver_scalar gradient_scale
          %momentum = brew.solver_scalar momentum
          %w = brew.param_value @conv.0
          %g = brew.param_gradient @conv.0
          %h = brew.param_state @conv.0[0]
          %nw, %nh, %update = brew.sgd_update(%w, %g, %h, %rate, %decay, %scale, %momentum)
          brew.store_param %nw, @conv.0
          brew.store_state %nh, @conv.0[0]
        }
  }];
  let options = [
    Option<"solverType", "type", "std::string", "\"SGD\"", "SolverParameter.type">,
    Option<"regularization", "regularization", "std::string", "\"L2\"",
      "SolverParameter.regularization_type">,
    Option<"localRate", "local-rate", "std::string", "\"\"",
      "Rates of single parameters: lars, larc_scale or larc_clip (empty: none)">,
    Option<"localFactor", "local-factor", "double", "0.001",
      "Their factor: local_gw_ratio or larc_eta">,
    Option<"keepUpdate", "keep-update", "bool", "false",
      "Store the update as the gradient">,
    Option<"lossScale", "loss-scale", "double", "0",
      "Like brew-differentiate's; updates with non-finite gradients are skipped">,
    Option<"lossScaleWindow", "loss-scale-window", "int64_t", "2000",
      "Good iterations after which the scale is doubled; 0: never">];
}

def FuseWeightGradients : Pass<"brew-fuse-weight-gradients", "::brew::dialects::ProgramOp"> {
  let summary = "Fuse the gradients of shared weights into one product";
  let description = [{
    A sum of gradients of inner products with shared weights becomes one gradient of the
    concatenated bottoms and top gradients. Applied if copying all operands would move less
    memory than the sum.

    Input:

        %g0 = brew.inner_product_backward_weights "r"(%x0, %dy0)
        %g1 = brew.inner_product_backward_weights "r"(%x1, %dy1)
        %g = linalg.generic ins(%g0, %g1) {arith.addf}

    Output:

        %x = brew.concat_view "r"(%x0, %x1) {axis = 0}
        %dy = brew.concat_view "r"(%dy0, %dy1) {axis = 0}
        %g = brew.inner_product_backward_weights "r"(%x, %dy)
  }];
  let dependentDialects = ["::brew::dialects::BrewDialect"];
}

def SyncBatchNorm : Pass<"brew-sync-batch-norm", "::brew::dialects::ProgramOp"> {
  let summary = "Compute batch statistics over all ranks";
  let description = [{
    Lets every `brew.batch_norm` of training programs compute its statistics over the
    batches of all ranks of a data-parallel run. Runs before brew-differentiate, so that
    gradients follow.

    Input:

        %y, ... = brew.batch_norm "n"(%x)

    Output:

        %y, ... = brew.batch_norm "n"(%x) {synchronized}
  }];
}

def VerifyGraph : Pass<"brew-verify-graph", "::mlir::ModuleOp"> {
  let summary = "Verify phase graph: every tensor has a static shape";
  let description = [{
    Checks that Split and recurrent layers have been replaced, that every learnable
    parameter that a training program reads has a gradient and, if there is an update
    program, an update.
  }];
}

#endif // BREW_PASSES_GRAPHPASSES_TD
