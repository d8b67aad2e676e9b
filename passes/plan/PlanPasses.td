//===- PlanPasses.td - Passes of phase plan ----------------*- tablegen -*-===//
#ifndef BREW_PASSES_PLANPASSES_TD
#define BREW_PASSES_PLANPASSES_TD

include "passes/PassOptions.td"

def OrderForwardFirst : Pass<"brew-order-forward-first", "::brew::dialects::ProgramOp"> {
  let summary = "Order the forward pass before the backward pass";
  let description = [{
    Callers may run the forward pass alone. All steps that compute its values, including
    kernels that fuse them with gradients, move before the steps that compute gradients
    only. Otherwise steps keep their order.
  }];
}

def OrderSteps : Pass<"brew-order-steps", "::brew::dialects::ProgramOp"> {
  let summary = "Reorder steps to lower the peak memory";
  let description = [{
    Keeps the order of the prototxt except for moves that lower the peak: sinks steps below
    the peak if only later steps need their results, and hoists steps above it if they free
    more memory than they allocate. No step moves between the forward and the backward pass.
    Programs whose caller writes output gradients keep their order.

    Input, where %tall needs the most memory:

        %wide = brew.inner_product "wide"(%x, ...)
        %tall = brew.inner_product "tall"(%x, ...)
        %low = brew.inner_product "low"(%tall, ...)

    Output:

        %tall = brew.inner_product "tall"(%x, ...)
        %low = brew.inner_product "low"(%tall, ...)
        %wide = brew.inner_product "wide"(%x, ...)
  }];
}

def FuseLaunches : Pass<"brew-fuse-launches", "::mlir::ModuleOp"> {
  let summary = "Fuse consecutive kernels into stages of one launch";
  let description = [{
    On a GPU, kernels with no other step between them become stages of one kernel,
    separated by grid barriers, which take less time than a second launch. Calls between two
    kernels move before the first one if they do not depend on it and it reads few bytes.
    Does not fuse two kernels that together need more memory than the program's peak, or
    have more than four stages.

    Input:

        %s = brew.kernel "sum"(%x) { ... }
        %y = brew.kernel "apply"(%x, %s) { ... }

    Output:

        %s, %y = brew.kernel "apply"(%x) {
          %s = linalg.generic ... {brew.grid_loops = 1, brew.sub_kernel = 0}
          %y = linalg.generic ins(..., %s)
              {brew.grid_loops = 2, brew.stage = 1, brew.sub_kernel = 1}
          brew.yield %s, %y
        }
  }];
  let options = [
    Option<"hasMemoryLimit", "has-memory-limit", "bool", "false",
      "Never exceed the peak; otherwise the arena may grow by 1/256">];
  let dependentDialects = ["::brew::dialects::target::TargetDialect"];
}

def InsertAllReduces : Pass<"brew-insert-all-reduces", "::mlir::ModuleOp"> {
  let summary = "Insert all-reduces of gradients for data-parallel runs";
  let description = [{
    Divides gradients into buckets in the order in which the steps of forward_backward
    complete them. A bucket is full with `bucket-bytes`: its all-reduce starts after the
    step that fills it, and is awaited before gradients are stored. A gradient of several
    parameters, and the gradient of a shared one, are each reduced once. The default bucket size
    minimizes the time that no step hides: a latency of a seconds for each bucket, and the
    transfer of the last one at w bytes per second. For G bytes of gradients the size is
    n = sqrt(G * a * w), with a and w from dialects/Target/Interconnect.h.

    The program `reduce` reduces all gradients at once, for iterations that accumulate
    several batches. The number of ranks is not known at compile time; with one rank, the
    sums equal the addends.

    Input:

        %c = brew.kernel "c"(...)
        %a = brew.kernel "a"(...)
        brew.store_gradient %a, @a.0
        brew.store_gradient %c, @c.0

    Output:

        %c = brew.kernel "c"(...)
        %cs = brew.all_reduce_start 0(%c)
        %a = brew.kernel "a"(...)
        %as = brew.all_reduce_start 1(%a)
        %cr = brew.all_reduce_wait 0(%cs)
        %ar = brew.all_reduce_wait 1(%as)
        brew.store_gradient %ar, @a.0
        brew.store_gradient %cr, @c.0
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "0",
      "Minimal size of a full bucket, in bytes; 0: computed by the cost model">,
    Option<"reduceInBf16", "reduce-in-bf16", "bool", "false",
      "Send gradients as bf16 (--reduce-precision)">];
}

def GenerateAlternatives : Pass<"brew-generate-alternatives", "::mlir::ModuleOp"> {
  let summary = "Generate alternative kernels to library calls";
  let description = [{
    Adds an alternative kernel with the same buffers to convolutions with few channels (first
    layers, depthwise convolutions) or few pixels; on GPUs, only to convolutions in groups of
    few channels. The alternative must be a single kernel without memory of its own. The
    runtime selects the faster one by measurement: `brew-run tune`, and every session on a
    GPU.

    Input:

        %y = brew.convolution "dw"(%x, %w, %b) {group = 32}

    Output:

        plan.kernel @dw_generated { ... }
        ...
        %y = brew.convolution "dw"(%x, %w, %b) {group = 32,
            brew.generated = #plan.generated<@dw_generated(w, x, b, y)>}
  }];
  let dependentDialects = ["::brew::dialects::plan::PlanDialect",
    "::brew::dialects::target::TargetDialect",
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def PlanMemory : Pass<"brew-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Assign memory to all values and emit the plan";
  let description = [{
    Lowers brew programs to the plan dialect. Views share the memory of their source,
    kernels work in place where every access allows it, and values are computed in the buffers
    that they are stored to. Offsets come from the best of several greedy orders.

    Input:

        %a = brew.kernel "first"(%x) { ... }
        %i = brew.inner_product "ip"(%a, %w)

    Output:

        %a = plan.buffer "first.0" transient[448] live [0, 1] : memref<10x10xf32>
        plan.launch @first(%x, %a)
        %w = plan.buffer "w" parameters[0] : memref<10x10xf32>
        %i = plan.buffer "i" transient[0] live [1, 2] : memref<10x10xf32>
        plan.inner_product forward x %a w %w y %i
  }];
  let dependentDialects = ["::brew::dialects::plan::PlanDialect"];
}

def BuildInputKernels : Pass<"brew-build-input-kernels", "::mlir::ModuleOp"> {
  let summary = "Build the kernels that convert the pixels of data layers";
  let description = [{
    Adds one kernel per data layer with images: it crops and mirrors as the CPU has decided
    for each image, subtracts the mean, and scales. The kernel is not a step of the program
    but belongs to the data layer. A mean image has the size of its file; if the file is
    missing, there is no kernel, and the CPU converts the pixels. Records have the size of the
    mean image or of the database's first record; if that size is unknown, or more than twice
    the size of the crop, the CPU crops.

    Input:

        plan.data_input "in" "Data"(%data) {config = "..."}

    Output:

        plan.kernel @in_pixels attributes {argument_names = ["pixels", "crop_and_mirror", "data"]} {
        ^bb0(%pixels: tensor<2x3x4x5xi8>, %crop_and_mirror: tensor<2x3xi32>):
          ...
        }
        plan.data_input "in" "Data"(%data) {config = "...", pixel_kernel = @in_pixels}
  }];
  let dependentDialects = ["::brew::dialects::BrewDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def VerifyPlan : Pass<"brew-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Verify phase plan: no step reads overwritten memory";
  let description = [{
    Replays the steps: a write to a buffer ends the value of every other buffer that shares
    a byte with it, and a step may only read a live value. Checks that buffers are inside
    their arenas, and aligned.
  }];
}

#endif // BREW_PASSES_PLANPASSES_TD
