//===- FunctionDeduplicator.cpp - Deduplication of equivalent functions ---===//

#include "compiler/cpu/FunctionDeduplicator.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace brew::compiler::cpu {

static size_t hashOf(func::FuncOp function) {
  llvm::hash_code hash = hash_value(function.getFunctionType());
  function.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

static bool areEquivalent(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

func::FuncOp FunctionDeduplicator::canonical(func::FuncOp function) {
  auto &candidates = functionsByHash[hashOf(function)];
  for (func::FuncOp candidate : candidates)
    if (areEquivalent(candidate, function))
      return candidate;
  candidates.push_back(function);
  return function;
}

} // namespace brew::compiler::cpu
