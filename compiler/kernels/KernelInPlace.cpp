//===- KernelInPlace.cpp - Results that overwrite arguments ---------------===//

#include "compiler/kernels/KernelModel.h"

using namespace mlir;

namespace brew::compiler {

AffineMap outputMap(linalg::GenericOp nest, unsigned result) {
  return nest.getMatchingIndexingMap(nest.getDpsInitOperand(result));
}

bool isSameGridPoint(AffineMap written, unsigned dim,
                     const SubKernel &subKernel, ArrayRef<Loop> loops,
                     std::optional<unsigned> reader) {
  unsigned loop = written.getDimPosition(dim);
  return loop >= subKernel.grid || loops[loop].extent == 1 || reader == loop;
}

namespace {

/// Calls function(source, address, loop) for every read of a nest; loop(dim) is
/// the loop that alone indexes dimension `dim`, or null.
template <typename Function>
void forEachRead(const Nest &nest, const Function &function) {
  linalg::GenericOp op = nest.op;
  auto visitRead = [&](const std::optional<Access> &access, AffineMap map) {
    if (access)
      function(access->source, access->address,
               [&](unsigned dim) -> std::optional<unsigned> {
                 if (dim < map.getNumResults())
                   if (auto dimExpr =
                           dyn_cast<AffineDimExpr>(map.getResult(dim)))
                     return dimExpr.getPosition();
                 return std::nullopt;
               });
  };
  for (auto [input, operand] : llvm::zip(nest.inputs, op.getDpsInputOperands()))
    visitRead(input, op.getMatchingIndexingMap(operand));
  for (auto [i, output] : llvm::enumerate(nest.outputs))
    visitRead(output.initial, outputMap(op, i));
  for (const auto &entry : nest.extracts) {
    auto extract = cast<tensor::ExtractOp>(entry.first);
    function(
        entry.second.source, entry.second.address,
        [&](unsigned dim) -> std::optional<unsigned> {
          if (dim < extract.getIndices().size())
            if (auto indexOp =
                    extract.getIndices()[dim].getDefiningOp<linalg::IndexOp>())
              return indexOp.getDim();
          return std::nullopt;
        });
  }
}

} // namespace

bool checkInPlaceResult(const Kernel &kernel, unsigned argument,
                        unsigned writingSubKernel, unsigned writer,
                        unsigned result) {
  bool isReadLate = false;
  const Nest &writing = kernel.subKernels[writingSubKernel].nests[writer];
  AffineMap writeMap = outputMap(writing.op, result);
  for (auto [p, subKernel] : llvm::enumerate(kernel.subKernels))
    for (auto [n, nest] : llvm::enumerate(subKernel.nests))
      forEachRead(nest, [&, p = p, n = n, &subKernel = subKernel](
                            const Source &source, const LinearExpr &address,
                            auto loopAt) {
        if (source.kind != Source::Kind::Argument ||
            source.argument != argument)
          return;
        // Later sub-kernels read the new values; earlier stages have finished.
        if ((source.writtenBefore && p > writingSubKernel) ||
            subKernel.stage < kernel.subKernels[writingSubKernel].stage)
          return;
        bool isSamePoint = p == writingSubKernel;
        for (unsigned dim = 0; isSamePoint && dim < writeMap.getNumResults();
             ++dim)
          isSamePoint = isSameGridPoint(writeMap, dim, subKernel, writing.loops,
                                        loopAt(dim));
        if (!isSamePoint)
          throwCannotEmit(kernel.op,
                          "argument " + std::to_string(argument) +
                              " is overwritten while it is still read");
        isReadLate |=
            n > writer ||
            (n == writer && (writing.reductions() > 0 ||
                             !(address == writing.outputs[result].address)));
      });
  return isReadLate;
}

} // namespace brew::compiler
