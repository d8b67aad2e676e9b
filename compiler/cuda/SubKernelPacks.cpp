//===- SubKernelPacks.cpp - Sub-kernels with packs ------------------------===//
#include "compiler/cuda/SubKernelEmitter.h"

using namespace mlir;

namespace brew::compiler::cuda {

/// Returns the current neighbour's element of an array.
static Code ofNeighbour(const Code &array) {
  return Code::element(array, Code::word("k"));
}

void SubKernelEmitter::openNeighbours(const NestSchedule &inner,
                                      SmallVectorImpl<Code> &at) {
  lines.line("#pragma unroll");
  lines.open("for (int k = 0; k < " + std::to_string(inner.pack) + "; ++k)");
  at[inner.packed] += " + k";
}

SmallVector<Code> SubKernelEmitter::declarePackedAccumulators(unsigned n) {
  SmallVector<Code> names;
  for (const Output &output : subKernel.nests[n].outputs) {
    Code array = text.numbered("a");
    lines.line(text.scalars.type(output.element) + " " +
               Code::element(array, std::to_string(schedule.nests[n].pack)) +
               ";");
    names.push_back(ofNeighbour(array));
  }
  return names;
}

void SubKernelEmitter::startPackedAccumulators(unsigned n, SmallVector<Code> at,
                                               ArrayRef<Code> names) {
  const Nest &nest = subKernel.nests[n];
  openNeighbours(schedule.nests[n], at);
  for (auto [name, value] : llvm::zip(names, initials(nest, at)))
    lines.line(name + " = " + value + ";");
  lines.close();
}

void SubKernelEmitter::iteratePack(unsigned n, SmallVector<Code> at,
                                   ArrayRef<Code> names) {
  const Nest &nest = subKernel.nests[n];
  const SmallVector<Code> first = at;
  body.loadPacks(nest, schedule.nests[n], at);
  body.declareStorePacks(nest, schedule.nests[n]);
  openNeighbours(schedule.nests[n], at);
  assign(names, body.iterate(nest, at, names));
  lines.close();
  body.flushStorePacks(nest, schedule.nests[n], first);
  body.forgetPacks();
}

SubKernelEmitter::ResultPacks SubKernelEmitter::declareResultPacks(unsigned n) {
  ResultPacks packs;
  for (const Output &output : subKernel.nests[n].outputs) {
    packs.emplace_back();
    if (output.overwritesLiveInput)
      continue;
    for (unsigned argument : output.arguments) {
      const KernelArgument &buffer = text.arguments[argument];
      Code name = text.derived(buffer.name, "_result");
      lines.line(buffer.isBits() ? "unsigned " + name + " = 0u;"
                                 : BodyEmitter::packType(
                                       buffer.element, schedule.nests[n].pack) +
                                       " " + name + ";");
      packs.back().push_back(name);
    }
  }
  return packs;
}

void SubKernelEmitter::storePacks(unsigned n, ArrayRef<Code> at,
                                  const ResultPacks &packs) {
  for (auto [output, names] : llvm::zip(subKernel.nests[n].outputs, packs))
    for (auto [argument, name] : llvm::zip(output.arguments, names)) {
      const KernelArgument &buffer = text.arguments[argument];
      const Code place = body.address(output.address, at);
      if (buffer.isBits()) {
        lines.line(BodyEmitter::byteOfBit(buffer.name, place) +
                   " = (unsigned char)" + name + ";");
        continue;
      }
      lines.line(Code::call("BREW_STORE",
                            {BodyEmitter::packType(buffer.element,
                                                   schedule.nests[n].pack),
                             buffer.name, place, name}) +
                 ";");
    }
}

void SubKernelEmitter::chooseArrays() {
  // Consecutive nests without reductions share a loop over the neighbours.
  SmallVector<unsigned> run;
  for (auto [n, inner] : llvm::enumerate(schedule.nests)) {
    const bool continuesRun = n > 0 && inner.reductions.empty() &&
                              schedule.nests[n - 1].reductions.empty();
    run.push_back(n == 0 ? 0 : run.back() + !continuesRun);
  }
  for (auto [n, nest] : llvm::enumerate(subKernel.nests))
    forEachSource(nest, [&, n = n](const Source &source) {
      if (source.kind == Source::Kind::Result && run[source.nest] != run[n])
        values.arrays.insert({source.nest, source.result});
    });
  for (auto [n, r] : values.arrays)
    lines.line(
        text.scalars.type(subKernel.nests[n].outputs[r].element) + " " +
        Code::element(values.names[n][r], std::to_string(schedule.pack)) + ";");
}

void SubKernelEmitter::emitPackedRun(unsigned begin, unsigned end,
                                     std::vector<ResultPacks> &results) {
  for (unsigned n = begin; n < end; ++n)
    body.loadPacks(subKernel.nests[n], schedule.nests[n],
                   startOf(subKernel.nests[n]));
  for (unsigned n = begin; n < end; ++n)
    results.push_back(declareResultPacks(n));
  SmallVector<Code> points = gridAt;
  openNeighbours(schedule.nests[begin], gridAt);
  for (unsigned n = begin; n < end; ++n) {
    const Nest &nest = subKernel.nests[n];
    commentOn(nest);
    SmallVector<Code> at = startOf(nest);
    store(n, at, body.iterate(nest, at, initials(nest, at)), &results[n]);
  }
  lines.close();
  gridAt = points;
  body.forgetPacks();
}

void SubKernelEmitter::emitPackedReduction(unsigned n, ResultPacks &results) {
  const Nest &nest = subKernel.nests[n];
  commentOn(nest);
  SmallVector<Code> at = startOf(nest);
  SmallVector<Code> names = declarePackedAccumulators(n);
  startPackedAccumulators(n, at, names);
  SmallVector<Code> inside = at;
  unsigned opened = openLoops(schedule.nests[n].reductions, nest, inside, "r");
  iteratePack(n, inside, names);
  closeLoops(opened);
  results = declareResultPacks(n);
  openNeighbours(schedule.nests[n], at);
  store(n, at, names, &results);
  lines.close();
}

void SubKernelEmitter::emitPack() {
  chooseArrays();
  std::vector<ResultPacks> results;
  auto isSum = [&](unsigned n) {
    return !schedule.nests[n].reductions.empty();
  };
  for (unsigned n = 0; n < subKernel.nests.size();) {
    unsigned end = n + 1;
    if (isSum(n)) {
      emitPackedReduction(n, results.emplace_back());
    } else {
      while (end < subKernel.nests.size() && !isSum(end))
        ++end;
      emitPackedRun(n, end, results);
    }
    n = end;
  }
  // Store at the end: an argument may share memory with one that is read.
  for (unsigned n = 0; n < subKernel.nests.size(); ++n)
    storePacks(n, startOf(subKernel.nests[n]), results[n]);
}

void SubKernelEmitter::emitPackedValues(unsigned n, SmallVector<Code> at) {
  const Nest &nest = subKernel.nests[n];
  const NestSchedule &inner = schedule.nests[n];
  SmallVector<Code> first = at, names;
  if (inner.reductions.empty()) {
    body.loadPacks(nest, inner, at);
  } else {
    names = declarePackedAccumulators(n);
    startPackedAccumulators(n, at, names);
    SmallVector<Code> inside = at;
    unsigned opened = openLoops(inner.reductions, nest, inside, "r");
    iteratePack(n, inside, names);
    closeLoops(opened);
  }
  ResultPacks packs = declareResultPacks(n);
  openNeighbours(inner, at);
  store(n, at,
        inner.reductions.empty() ? body.iterate(nest, at, initials(nest, at))
                                 : names,
        &packs);
  lines.close();
  body.forgetPacks();
  storePacks(n, first, packs);
}

} // namespace brew::compiler::cuda
