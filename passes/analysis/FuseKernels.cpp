//===- FuseKernels.cpp - Fusion of two kernels ----------------------------===//
#include "passes/analysis/FuseKernels.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace brew::dialects;

namespace brew::passes {

/// Clones the body of a kernel. Returns the yielded values.
static SmallVector<Value>
cloneBody(KernelOp kernel, IRMapping &outer, OpBuilder &b,
          llvm::function_ref<NestGrid(NestGrid)> reschedule) {
  Block &body = kernel.getBody().front();
  IRMapping map;
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), kernel.getInputs()))
    map.map(argument, outer.lookup(input));
  for (Operation &op : body.without_terminator()) {
    Operation *copy = b.clone(op, map);
    if (reschedule && isa<linalg::GenericOp>(copy))
      reschedule(*NestGrid::of(copy)).mark(copy);
  }
  SmallVector<Value> yielded;
  for (Value value : body.getTerminator()->getOperands())
    yielded.push_back(map.lookup(value));
  return yielded;
}

KernelOp fuseKernels(OpBuilder &b, KernelOp first, KernelOp second,
                     llvm::function_ref<NestGrid(NestGrid)> reschedule) {
  llvm::SetVector<Value> inputs;
  inputs.insert_range(first.getInputs());
  for (Value input : second.getInputs())
    if (input.getDefiningOp() != first.getOperation())
      inputs.insert(input);
  SmallVector<Type> types(first.getOutputs().getTypes());
  llvm::append_range(types, second.getOutputs().getTypes());
  llvm::SetVector<Attribute> layers;
  for (KernelOp kernel : {first, second})
    if (ArrayAttr names = kernel.getLayersAttr())
      layers.insert_range(names);
  auto fused =
      KernelOp::create(b, b.getFusedLoc({first.getLoc(), second.getLoc()}),
                       types, inputs.getArrayRef(), second.getName(),
                       b.getArrayAttr(layers.getArrayRef()),
                       first.getBackward() && second.getBackward());
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&fused.getBody());
  IRMapping map;
  for (Value input : inputs)
    map.map(input, body->addArgument(input.getType(), input.getLoc()));
  SmallVector<Value> yielded = cloneBody(first, map, b, nullptr);
  for (auto [result, value] : llvm::zip_equal(first.getOutputs(), yielded))
    map.map(result, value);
  llvm::append_range(yielded, cloneBody(second, map, b, reschedule));
  YieldOp::create(b, fused.getLoc(), yielded);
  const size_t count = first.getNumResults();
  first->replaceAllUsesWith(fused.getOutputs().take_front(count));
  second->replaceAllUsesWith(fused.getOutputs().drop_front(count));
  second->erase();
  first->erase();
  return fused;
}

bool isRematerialized(KernelOp kernel) {
  return llvm::all_of(
      kernel.getBody().getOps<linalg::GenericOp>(),
      [](linalg::GenericOp nest) { return Origin::of(nest).isRematerialized; });
}

SmallVector<SmallVector<linalg::GenericOp>> subKernelsOf(KernelOp kernel) {
  SmallVector<SmallVector<linalg::GenericOp>> subKernels;
  for (auto nest : kernel.getBody().front().getOps<linalg::GenericOp>()) {
    if (NestGrid::of(nest)->subKernel ==
        static_cast<int64_t>(subKernels.size()))
      subKernels.emplace_back();
    subKernels.back().push_back(nest);
  }
  return subKernels;
}

} // namespace brew::passes
