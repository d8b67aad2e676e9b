//===- KernelAnalysis.cpp - Accesses of the nests of a kernel -------------===//
#include "dialects/Brew/KernelAnalysis.h"
#include "dialects/Brew/Origin.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace brew::dialects;

/// Returns, for each result of `map`, the loop whose index it is, or -1 for
/// other expressions.
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
                                                 unsigned resultNumber) {
  return loopsOf(
      nest.getMatchingIndexingMap(nest.getDpsInitOperand(resultNumber)));
}

bool brew::dialects::isStoredPerIteration(linalg::GenericOp nest,
                                          unsigned resultNumber) {
  const AffineMap map =
      nest.getMatchingIndexingMap(nest.getDpsInitOperand(resultNumber));
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
  const NestGrid writerGrid = *NestGrid::of(writer);
  unsigned resultNumber = cast<OpResult>(yielded).getResultNumber();
  if (isStoredPerIteration(writer, resultNumber))
    return false; // threads may compute an element twice
  SmallVector<int64_t> writtenLoops = resultLoops(writer, resultNumber);
  bool reduces = llvm::is_contained(writer.getIteratorTypesArray(),
                                    utils::IteratorType::reduction);
  for (auto nest : body.getOps<linalg::GenericOp>()) {
    SmallVector<SmallVector<int64_t>> accesses = accessLoops(nest, argument);
    if (accesses.empty())
      continue;
    const NestGrid readerGrid = *NestGrid::of(nest);
    if (readerGrid.stage < writerGrid.stage)
      continue; // finished when the writer's stage starts
    if (readerGrid.subKernel != writerGrid.subKernel ||
        writer->isBeforeInBlock(nest))
      return false;
    for (ArrayRef<int64_t> access : accesses) {
      if (nest == writer) {
        if (reduces || access != ArrayRef(writtenLoops))
          return false;
        continue;
      }
      // An earlier nest must stay within the grid point: its grid loops must
      // index the same dimensions as the writer's.
      if (access.size() != writtenLoops.size())
        return false;
      for (int64_t loop = 0; loop < writerGrid.gridLoops; ++loop) {
        auto dim = llvm::find(writtenLoops, loop);
        if (dim == writtenLoops.end() ||
            access[dim - writtenLoops.begin()] != loop)
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
