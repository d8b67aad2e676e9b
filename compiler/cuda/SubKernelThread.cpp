//===- SubKernelThread.cpp - Nests run by single threads ------------------===//
#include "compiler/cuda/SubKernelEmitter.h"

using namespace mlir;

namespace brew::compiler::cuda {

SmallVector<Code> SubKernelEmitter::initials(const Nest &nest,
                                             ArrayRef<Code> indices) {
  SmallVector<Code> values;
  for (const Output &output : nest.outputs)
    values.push_back(output.initial ? body.load(*output.initial, indices)
                                    : Code());
  return values;
}

void SubKernelEmitter::openLoop(const Code &name, const std::string &type,
                                const Code &begin, const Code &end,
                                int64_t step) {
  Code next = step == 1 ? "++" + name : name + " += " + text.count(step);
  lines.open("for (" + type + " " + name + " = " + begin + "; " + name + " < " +
             end + "; " + next + ")");
}

unsigned SubKernelEmitter::openLoops(ArrayRef<unsigned> loopNumbers,
                                     const Nest &nest,
                                     SmallVectorImpl<Code> &indices,
                                     StringRef prefix) {
  for (unsigned loop : loopNumbers) {
    indices[loop] = text.numbered(prefix);
    openLoop(indices[loop], text.index(), "0",
             std::to_string(nest.loops[loop].extent));
  }
  return loopNumbers.size();
}

void SubKernelEmitter::closeLoops(unsigned count) {
  while (count--)
    lines.close();
}

SmallVector<Code> SubKernelEmitter::declareAccumulators(const Nest &nest,
                                                        ArrayRef<Code> start) {
  SmallVector<Code> names;
  for (auto [output, value] : llvm::zip(nest.outputs, start)) {
    names.push_back(text.numbered("a"));
    lines.line(text.scalars.type(output.element) + " " + names.back() + " = " +
               value + ";");
  }
  return names;
}

void SubKernelEmitter::assign(ArrayRef<Code> names, ArrayRef<Code> results) {
  for (auto [name, value] : llvm::zip(names, results))
    if (!value.isName(name))
      lines.line(name + " = " + value + ";");
}

SmallVector<Code>
SubKernelEmitter::reduceInOrder(const Nest &nest, ArrayRef<unsigned> reductions,
                                SmallVectorImpl<Code> &indices) {
  SmallVector<Code> names = declareAccumulators(nest, initials(nest, indices));
  unsigned opened = openLoops(reductions, nest, indices, "r");
  assign(names, body.iterate(nest, indices, names));
  closeLoops(opened);
  return names;
}

void SubKernelEmitter::store(unsigned n, ArrayRef<Code> indices,
                             SmallVector<Code> results,
                             const ResultPacks *packs) {
  const Nest &nest = subKernel.nests[n];
  // A result must not read a buffer that the store of another result has
  // overwritten.
  if (results.size() > 1)
    for (auto [output, value] : llvm::zip(nest.outputs, results))
      if (value.readsElement())
        value = body.variable(output.element, value);
  for (auto [r, output] : llvm::enumerate(nest.outputs)) {
    Code value = results[r];
    if (schedule.nests[n].storage[r] != Storage::Buffer) {
      Code target = body.localValue(n, r, body.address(output.local, indices));
      const bool isNew = schedule.nests[n].storage[r] == Storage::Variable &&
                         !values.arrays.count({n, r});
      lines.line(
          (isNew ? "const " + text.scalars.type(output.element) + " " : "") +
          target + " = " + value + ";");
      value = target;
    }
    if (output.overwritesLiveInput)
      continue;
    if (!packs) {
      body.storeToBuffers(output, indices, value);
      continue;
    }
    for (auto [argument, pack] : llvm::zip(output.arguments, (*packs)[r]))
      lines.line(text.arguments[argument].isBits()
                     ? pack + " |= (unsigned)" + Code::group(value) + " << k;"
                     : Code::element(pack, Code::word("k")) + " = " + value +
                           ";");
  }
}

void SubKernelEmitter::emitThreadNest(unsigned n) {
  const Nest &nest = subKernel.nests[n];
  const NestSchedule &inner = schedule.nests[n];
  for (auto [r, output] : llvm::enumerate(nest.outputs))
    if (inner.storage[r] == Storage::Array)
      lines.line(
          text.scalars.type(output.element) + " " +
          Code::element(values.names[n][r], std::to_string(output.localSize)) +
          ";");
  SmallVector<Code> indices = startIndices(nest);
  unsigned opened = openLoops(inner.parallel, nest, indices, "j");
  store(n, indices,
        inner.reductions.empty()
            ? body.iterate(nest, indices, initials(nest, indices))
            : reduceInOrder(nest, inner.reductions, indices));
  closeLoops(opened);
}

} // namespace brew::compiler::cuda
