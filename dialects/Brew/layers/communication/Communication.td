//===- Communication.td - What ranks exchange --------------*- tablegen -*-===//
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
  let summary = "Begins to add tensors up over all ranks";
  let description = [{
    The results are on their way: only the `brew.all_reduce_wait` of the same bucket
    may read them. With one rank they are the operands. Steps between the two run
    meanwhile. Every rank starts its buckets in the same order. With `statistic` they
    are sums that the program itself goes on with, and are made whenever it runs; else
    they are of gradients. `wire` is the type in which numbers travel, if not their own.
  }];
}

def Brew_AllReduceWaitOp : Brew_AllReduce<"all_reduce_wait"> {
  let summary = "Waits for the sums over all ranks of a bucket";
  let description = [{
    Its operands are the results of the `brew.all_reduce_start` of the bucket, its
    results the sums.
  }];
  let hasVerifier = 1;
}

#endif // BREW_LAYERS_COMMUNICATION_TD
