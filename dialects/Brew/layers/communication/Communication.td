//===- Communication.td - Collective operations of ranks ---*- tablegen -*-===//
#ifndef BREW_LAYERS_COMMUNICATION_TD
#define BREW_LAYERS_COMMUNICATION_TD

include "dialects/Brew/BrewLayer.td"

class Brew_AllReduce<string mnemonic, dag attributes = (ins)>
    : Brew_Op<mnemonic, [DeclareOpInterfaceMethods<Brew_PlanStepInterface>,
        AllTypesMatch<["xs", "ys"]>]> {
  let arguments = !con((ins Variadic<AnyTensor>:$xs, I64Attr:$bucket,
    UnitAttr:$statistic), attributes);
  let results = (outs Variadic<AnyTensor>:$ys);
  let assemblyFormat = "$bucket `(` $xs `)` attr-dict `:` type($xs)";
}

def Brew_AllReduceStartOp : Brew_AllReduce<"all_reduce_start",
    (ins OptionalAttr<TypeAttr>:$transfer_type)> {
  let summary = "Starts the sum of tensors over all ranks";
  let description = [{
    The results are incomplete until the `brew.all_reduce_wait` of the same bucket, which is
    the only operation that may read them; steps between the two run meanwhile. Every rank
    starts its buckets in the same order. With one rank, the sums are the operands.

    With `statistic`, the program itself reads the sums, so that they are computed in every
    run. Without it, they are sums of gradients. `transfer_type` is the element type on the
    network, if it differs from the tensors'.

    Example:

    ```mlir
    %s = brew.all_reduce_start 0(%dw) {transfer_type = bf16} : tensor<20x1x5x5xf32>
    ...
    %sum = brew.all_reduce_wait 0(%s) : tensor<20x1x5x5xf32>
    ```
  }];
}

def Brew_AllReduceWaitOp : Brew_AllReduce<"all_reduce_wait"> {
  let summary = "Waits for the sums of a bucket over all ranks";
  let description = [{
    The operands are the results of the bucket's `brew.all_reduce_start`, the results the sums.
  }];
  let hasVerifier = 1;
}

#endif // BREW_LAYERS_COMMUNICATION_TD
