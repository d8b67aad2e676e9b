//===- SubKernelPacks.cpp - Sub-kernels with packs ------------------------===//
#include "compiler/cuda/SubKernelEmitter.h"

using namespace mlir;

namespace brew::compiler::cuda {

/// Maximum size of a thread's packs that are loaded before the loop over turns:
/// half of its registers.
static constexpr int64_t kMaxHoistedBytes = 128;

/// Returns the current neighbour's element of an array.
static Code neighbourElement(const Code &array) {
  return Code::element(array, Code::word("k"));
}

void SubKernelEmitter::openNeighbours(const NestSchedule &inner,
                                      SmallVectorImpl<Code> &indices) {
  lines.line("#pragma unroll");
  lines.open("for (int k = 0; k < " + std::to_string(inner.pack) + "; ++k)");
  indices[inner.packed] += " + k";
}

SmallVector<Code> SubKernelEmitter::declarePackedAccumulators(unsigned n) {
  SmallVector<Code> names;
  for (const Output &output : subKernel.nests[n].outputs) {
    Code array = text.numbered("a");
    lines.line(text.scalars.type(output.element) + " " +
               Code::element(array, std::to_string(schedule.nests[n].pack)) +
               ";");
    names.push_back(neighbourElement(array));
  }
  return names;
}

void SubKernelEmitter::startPackedAccumulators(unsigned n,
                                               SmallVector<Code> indices,
                                               ArrayRef<Code> names) {
  const Nest &nest = subKernel.nests[n];
  openNeighbours(schedule.nests[n], indices);
  for (auto [name, value] : llvm::zip(names, initials(nest, indices)))
    lines.line(name + " = " + value + ";");
  lines.close();
}

void SubKernelEmitter::iteratePack(unsigned n, SmallVector<Code> indices,
                                   ArrayRef<Code> names) {
  const Nest &nest = subKernel.nests[n];
  const SmallVector<Code> firstIndices = indices;
  body.loadPacks(nest, schedule.nests[n], indices);
  body.declareStorePacks(nest, schedule.nests[n]);
  openNeighbours(schedule.nests[n], indices);
  assign(names, body.iterate(nest, indices, names));
  lines.close();
  body.flushStorePacks(nest, schedule.nests[n], firstIndices);
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

void SubKernelEmitter::storePacks(unsigned n, ArrayRef<Code> indices,
                                  const ResultPacks &packs) {
  for (auto [output, names] : llvm::zip(subKernel.nests[n].outputs, packs))
    for (auto [argument, name] : llvm::zip(output.arguments, names)) {
      const KernelArgument &buffer = text.arguments[argument];
      const Code address = body.address(output.address, indices);
      if (buffer.isBits()) {
        lines.line(BodyEmitter::byteOfBit(buffer.name, address) +
                   " = (unsigned char)" + name + ";");
        continue;
      }
      lines.line(Code::call("BREW_STORE",
                            {BodyEmitter::packType(buffer.element,
                                                   schedule.nests[n].pack),
                             buffer.name, address, name}) +
                 ";");
    }
}

void SubKernelEmitter::chooseArrays() {
  // Consecutive nests without reductions share a loop over the neighbours.
  SmallVector<unsigned> runNumbers;
  for (auto [n, inner] : llvm::enumerate(schedule.nests)) {
    const bool continuesRun = n > 0 && inner.reductions.empty() &&
                              schedule.nests[n - 1].reductions.empty();
    runNumbers.push_back(n == 0 ? 0 : runNumbers.back() + !continuesRun);
  }
  for (auto [n, nest] : llvm::enumerate(subKernel.nests))
    forEachSource(nest, [&, n = n](const Source &source) {
      if (source.kind == Source::Kind::Result &&
          runNumbers[source.nest] != runNumbers[n])
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
                   startIndices(subKernel.nests[n]));
  for (unsigned n = begin; n < end; ++n)
    results.push_back(declareResultPacks(n));
  SmallVector<Code> points = gridIndices;
  openNeighbours(schedule.nests[begin], gridIndices);
  for (unsigned n = begin; n < end; ++n) {
    const Nest &nest = subKernel.nests[n];
    emitOriginComment(nest);
    SmallVector<Code> indices = startIndices(nest);
    store(n, indices, body.iterate(nest, indices, initials(nest, indices)),
          &results[n]);
  }
  lines.close();
  gridIndices = points;
  body.forgetPacks();
}

void SubKernelEmitter::emitPackedReduction(unsigned n, ResultPacks &results) {
  const Nest &nest = subKernel.nests[n];
  emitOriginComment(nest);
  SmallVector<Code> indices = startIndices(nest);
  SmallVector<Code> names = declarePackedAccumulators(n);
  startPackedAccumulators(n, indices, names);
  SmallVector<Code> innerIndices = indices;
  unsigned opened =
      openLoops(schedule.nests[n].reductions, nest, innerIndices, "r");
  iteratePack(n, innerIndices, names);
  closeLoops(opened);
  results = declareResultPacks(n);
  openNeighbours(schedule.nests[n], indices);
  store(n, indices, names, &results);
  lines.close();
}

bool SubKernelEmitter::sharePacks() const {
  if (schedule.pack == 1 || schedule.team > 1 || schedule.columns > 1 ||
      subKernel.grid < 2 || text.threads % packsPerRow() != 0)
    return false;
  // Windows need the registers for themselves.
  if (llvm::any_of(subKernel.nests, [](const Nest &nest) {
        return nest.reductions() > 0 || !nest.extracts.empty();
      }))
    return false;
  for (auto [nest, inner] : llvm::zip(subKernel.nests, schedule.nests))
    for (const std::optional<Access> &input : nest.inputs)
      if (input && body.isInvariant(*input, inner))
        return true;
  return false;
}

void SubKernelEmitter::hoistPacks() {
  packBegin = text.numbered("i");
  lines.line("const " + text.index() + " " + packBegin + " = threadIdx.x % " +
             text.count(packsPerRow()) + " * " + text.count(schedule.pack) +
             ";");
  gridIndices.resize(subKernel.grid);
  gridIndices.back() = packBegin;
  int64_t bytes = kMaxHoistedBytes;
  for (auto [nest, inner] : llvm::zip(subKernel.nests, schedule.nests))
    body.hoistPacks(nest, inner, startIndices(nest), bytes);
}

void SubKernelEmitter::emitPack() {
  chooseArrays();
  std::vector<ResultPacks> results;
  auto isReduction = [&](unsigned n) {
    return !schedule.nests[n].reductions.empty();
  };
  for (unsigned n = 0; n < subKernel.nests.size();) {
    unsigned end = n + 1;
    if (isReduction(n)) {
      emitPackedReduction(n, results.emplace_back());
    } else {
      while (end < subKernel.nests.size() && !isReduction(end))
        ++end;
      emitPackedRun(n, end, results);
    }
    n = end;
  }
  // Stores come last, since an argument may share memory with one that is read.
  for (unsigned n = 0; n < subKernel.nests.size(); ++n)
    storePacks(n, startIndices(subKernel.nests[n]), results[n]);
}

void SubKernelEmitter::emitPackedValues(unsigned n, SmallVector<Code> indices) {
  const Nest &nest = subKernel.nests[n];
  const NestSchedule &inner = schedule.nests[n];
  SmallVector<Code> firstIndices = indices, names;
  if (inner.reductions.empty()) {
    body.loadPacks(nest, inner, indices);
  } else {
    names = declarePackedAccumulators(n);
    startPackedAccumulators(n, indices, names);
    SmallVector<Code> innerIndices = indices;
    unsigned opened = openLoops(inner.reductions, nest, innerIndices, "r");
    iteratePack(n, innerIndices, names);
    closeLoops(opened);
  }
  ResultPacks packs = declareResultPacks(n);
  openNeighbours(inner, indices);
  store(n, indices,
        inner.reductions.empty()
            ? body.iterate(nest, indices, initials(nest, indices))
            : names,
        &packs);
  lines.close();
  body.forgetPacks();
  storePacks(n, firstIndices, packs);
}

} // namespace brew::compiler::cuda
