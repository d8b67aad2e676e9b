//===- KernelAnalysis.cpp - Accesses of the nests of a kernel -------------===//
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace brew::dialects;

static SmallVector<int64_t> loopsOf(AffineMap map) {
  SmallVector<int64_t> loops;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    loops.push_back(dim ? dim.getPosition() : -1);
  }
  return loops;
}

SmallVector<SmallVector<int64_t>>
brew::dialects::accessLoops(linalg::GenericOp nest, Value tensor) {
  SmallVector<SmallVector<int64_t>> accesses;
  for (OpOperand *operand : nest.getDpsInputOperands())
    if (operand->get() == tensor)
      accesses.push_back(loopsOf(nest.getMatchingIndexingMap(operand)));
  nest.getBody()->walk([&](tensor::ExtractOp extract) {
    if (extract.getTensor() != tensor)
      return;
    SmallVector<int64_t> loops;
    for (Value index : extract.getIndices()) {
      auto loop = index.getDefiningOp<linalg::IndexOp>();
      loops.push_back(loop ? static_cast<int64_t>(loop.getDim()) : -1);
    }
    accesses.push_back(loops);
  });
  return accesses;
}

SmallVector<int64_t> brew::dialects::resultLoops(linalg::GenericOp nest,
                                                 unsigned number) {
  return loopsOf(nest.getMatchingIndexingMap(nest.getDpsInitOperand(number)));
}

bool brew::dialects::isStoredPerIteration(linalg::GenericOp nest,
                                          unsigned number) {
  const AffineMap map =
      nest.getMatchingIndexingMap(nest.getDpsInitOperand(number));
  return llvm::any_of(llvm::enumerate(nest.getIteratorTypesArray()),
                      [&](auto loop) {
                        return loop.value() == utils::IteratorType::reduction &&
                               map.isFunctionOfDim(loop.index());
                      });
}

bool brew::dialects::mayShareBuffer(KernelOp kernel, unsigned input,
                                    unsigned output) {
  Block &body = kernel.getBody().front();
  Value argument = body.getArgument(input);
  Value yielded = body.getTerminator()->getOperand(output);
  auto writer = yielded.getDefiningOp<linalg::GenericOp>();
  auto inputType = tensorTypeOf(argument), outputType = tensorTypeOf(yielded);
  if (!writer || inputType != outputType)
    return false;
  // This analysis does not cover other results in the same buffer and parallel
  // sub-kernels.
  const NestGrid place = *NestGrid::of(writer);
  unsigned number = cast<OpResult>(yielded).getResultNumber();
  if (isStoredPerIteration(writer, number))
    return false; // threads may compute an element twice
  SmallVector<int64_t> written = resultLoops(writer, number);
  bool reduces = llvm::is_contained(writer.getIteratorTypesArray(),
                                    utils::IteratorType::reduction);
  for (auto nest : body.getOps<linalg::GenericOp>()) {
    SmallVector<SmallVector<int64_t>> accesses = accessLoops(nest, argument);
    if (accesses.empty())
      continue;
    const NestGrid readers = *NestGrid::of(nest);
    if (readers.stage < place.stage)
      continue; // finished when the writer's stage starts
    if (readers.subKernel != place.subKernel || writer->isBeforeInBlock(nest))
      return false;
    for (ArrayRef<int64_t> access : accesses) {
      if (nest == writer) {
        if (reduces || access != ArrayRef(written))
          return false;
        continue;
      }
      // An earlier nest must stay within the grid point: its grid loops must
      // index the same dimensions as the writer's.
      if (access.size() != written.size())
        return false;
      for (int64_t loop = 0; loop < place.gridLoops; ++loop) {
        auto place = llvm::find(written, loop);
        if (place == written.end() || access[place - written.begin()] != loop)
          return false;
      }
    }
  }
  return true;
}

int64_t brew::dialects::countScalarOperations(linalg::GenericOp nest) {
  int64_t operations = 0;
  for (Operation &op : nest.getBody()->without_terminator())
    operations +=
        !isa<linalg::IndexOp>(op) && !op.hasTrait<OpTrait::ConstantLike>();
  return std::max<int64_t>(operations, 1) * countOf(nest.getStaticLoopRanges());
}
