//===- SubKernelTeam.cpp - Nests run by teams -----------------------------===//
#include "compiler/cuda/SubKernelEmitter.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace brew::compiler::cuda {

Code SubKernelEmitter::neutralElement(const Output &output, Combine combine,
                                      const Code &initial) {
  if (combine == Combine::Maximum || combine == Combine::SelectMaximum)
    return initial; // the maximum is idempotent
  return isa<FloatType>(output.element)
             ? text.scalars.literal(output.element, 0)
             : Code::word("0");
}

Code SubKernelEmitter::combined(const Output &output, Combine combine,
                                const Code &a, const Code &b) {
  switch (combine) {
  case Combine::Maximum:
    return text.scalars.maximum(output.element, a, b);
  case Combine::SelectMaximum:
    return text.scalars.loaded(output.element, b) + " > " +
           text.scalars.loaded(output.element, a) + " ? " + b + " : " + a;
  case Combine::First:
    text.prelude.helpers.insert("brewFirstPosition");
    return Code::call("brewFirstPosition", {a, b});
  case Combine::Sum:
  case Combine::None:
    break;
  }
  return text.scalars.sum(output.element, a, b);
}

void SubKernelEmitter::combineLanes(const Output &output, Combine combine,
                                    const Code &name, unsigned lanes,
                                    bool repeats) {
  std::string type = text.scalars.type(output.element);
  unsigned lanesInWarp = std::min(lanes, kWarp);
  lines.line("#pragma unroll");
  lines.open("for (unsigned offset = " + std::to_string(lanesInWarp / 2) +
             "u; offset > 0u; offset /= 2u)");
  Code otherPartial = text.numbered("v");
  lines.line("const " + type + " " + otherPartial + " = " +
             Code::call("BREW_SHUFFLE_XOR", {name, "offset"}) + ";");
  lines.line(name + " = " + combined(output, combine, name, otherPartial) +
             ";");
  lines.close();
  if (lanes <= kWarp)
    return;
  unsigned warps = text.threads / kWarp, warpsPerGroup = lanes / kWarp;
  Code shared = text.share("partial", "partial", output.element, warps);
  lines.open("if (lane % 32u == 0u)");
  lines.line(Code::element(shared, "lane / 32u") + " = " + name + ";");
  lines.close();
  lines.line("BREW_SYNC();");
  std::string firstWarp = warpsPerGroup == warps
                              ? "0u"
                              : "lane / " + std::to_string(lanes) + "u * " +
                                    std::to_string(warpsPerGroup) + "u";
  lines.line(name + " = " + Code::element(shared, firstWarp) + ";");
  lines.open("for (unsigned offset = 1u; offset < " +
             std::to_string(warpsPerGroup) + "u; ++offset)");
  otherPartial = text.numbered("v");
  lines.line(
      "const " + type + " " + otherPartial + " = " +
      Code::element(shared, (firstWarp == "0u" ? "" : firstWarp + " + ") +
                                std::string("offset")) +
      ";");
  lines.line(name + " = " + combined(output, combine, name, otherPartial) +
             ";");
  lines.close();
  // The next round overwrites values that slower lanes may still read.
  if (repeats)
    lines.line("BREW_SYNC();");
}

void SubKernelEmitter::emitTeamNest(unsigned n) {
  const NestSchedule &inner = schedule.nests[n];
  if (inner.lanes > 1)
    return emitSharedReduction(n);
  const Nest &nest = subKernel.nests[n];
  SmallVector<Code> indices = startIndices(nest);
  bool isSerial = inner.iterations > 1;
  if (inner.values == 1) {
    if (!isSerial) {
      // Every lane has the value, but only one lane stores it.
      return storeOnce(n, indices,
                       body.iterate(nest, indices, initials(nest, indices)));
    }
    lines.open("if (lane == 0u)");
    store(n, indices, reduceInOrder(nest, inner.reductions, indices));
    lines.close();
    return;
  }
  Code position = text.numbered("p");
  openLoop(position, text.counter(), Code::word("lane"),
           text.count(inner.values / inner.pack), schedule.team);
  if (inner.pack > 1) {
    unravel(position, inner.parallel, nest, indices, "j",
            nest.loops[inner.packed].extent / inner.pack, inner.pack);
    emitPackedValues(n, indices);
    lines.close();
    return;
  }
  unravel(position, inner.parallel, nest, indices, "j");
  store(n, indices,
        isSerial ? reduceInOrder(nest, inner.reductions, indices)
                 : body.iterate(nest, indices, initials(nest, indices)));
  lines.close();
}

void SubKernelEmitter::storeOnce(unsigned n, ArrayRef<Code> indices,
                                 SmallVector<Code> results) {
  const Nest &nest = subKernel.nests[n];
  const NestSchedule &inner = schedule.nests[n];
  bool hasStores = false;
  for (auto [r, output] : llvm::enumerate(nest.outputs)) {
    bool isVariable = inner.storage[r] == Storage::Variable;
    hasStores |= !isVariable ||
                 (!output.arguments.empty() && !output.overwritesLiveInput);
    Code name = isVariable ? values.names[n][r] : text.numbered("v");
    if (results[r].isName(name))
      continue;
    lines.line("const " + text.scalars.type(output.element) + " " + name +
               " = " + results[r] + ";");
    results[r] = name;
  }
  if (!hasStores)
    return;
  // Other lanes may still read what the result overwrites.
  bool overwrites = false;
  forEachSource(nest, [&](const Source &source) {
    for (const Output &output : nest.outputs)
      overwrites |= source.kind == Source::Kind::Argument &&
                    llvm::is_contained(output.arguments, source.argument);
  });
  if (overwrites)
    sync();
  lines.open("if (lane == 0u)");
  for (auto [r, output] : llvm::enumerate(nest.outputs)) {
    if (inner.storage[r] == Storage::Shared ||
        inner.storage[r] == Storage::Array)
      lines.line(body.localValue(n, r, body.address(output.local, indices)) +
                 " = " + results[r] + ";");
    if (!output.overwritesLiveInput)
      body.storeToBuffers(output, indices, results[r]);
  }
  lines.close();
}

void SubKernelEmitter::emitSharedReduction(unsigned n) {
  const Nest &nest = subKernel.nests[n];
  const NestSchedule &inner = schedule.nests[n];
  SmallVector<Code> indices = startIndices(nest);
  unsigned groups = schedule.team / inner.lanes;
  bool repeats = inner.values > groups, isPartial = inner.values % groups != 0;
  Code position;
  if (repeats) {
    Code round = text.numbered("p");
    openLoop(round, text.counter(), text.count(0), text.count(inner.values),
             groups);
    position = round + " + ";
  }
  std::string lanes = std::to_string(inner.lanes) + "u";
  bool isSingleGroup = groups == 1;
  Code lane = isSingleGroup ? "lane" : "lane % " + lanes;
  Code value;
  if (inner.values > 1) {
    value = text.numbered("p");
    lines.line("const " + text.counter() + " " + value + " = " + position +
               (isSingleGroup ? "0u" : "lane / " + lanes) + ";");
    if (isPartial) {
      // Lanes without a value of their own repeat the last one.
      Code clamped = text.numbered("p");
      Code limit = text.count(inner.values - 1);
      lines.line("const " + text.counter() + " " + clamped + " = " + value +
                 " < " + limit + " ? " + value + " : " + limit + ";");
      unravel(clamped, inner.parallel, nest, indices, "j");
    } else {
      unravel(value, inner.parallel, nest, indices, "j");
    }
  }
  SmallVector<Code> initial = initials(nest, indices), start;
  for (auto [r, output] : llvm::enumerate(nest.outputs))
    start.push_back(neutralElement(output, inner.combine[r], initial[r]));
  SmallVector<Code> names = declareAccumulators(nest, start);
  Code reduction = text.numbered("r");
  openLoop(reduction, text.counter(), lane,
           text.count(inner.iterations / inner.pack), inner.lanes);
  if (inner.pack > 1) {
    unravel(reduction, inner.reductions, nest, indices, "r",
            nest.loops[inner.packed].extent / inner.pack, inner.pack);
    iteratePack(n, indices, names);
  } else {
    unravel(reduction, inner.reductions, nest, indices, "r");
    assign(names, body.iterate(nest, indices, names));
  }
  lines.close();
  for (auto [r, output] : llvm::enumerate(nest.outputs)) {
    combineLanes(output, inner.combine[r], names[r], inner.lanes, repeats);
    addInitial(output, inner.combine[r], initial[r], names[r]);
  }
  if (inner.values == 1 && isSingleGroup)
    return storeOnce(n, indices, names);
  Code condition = isSingleGroup ? "lane == 0u" : lane + " == 0u";
  if (inner.values == 1)
    condition = "lane == 0u";
  else if (isPartial)
    condition += " && " + value + " < " + text.count(inner.values);
  lines.open("if (" + condition + ")");
  store(n, indices, names);
  lines.close();
  if (repeats)
    lines.close();
}

void SubKernelEmitter::addInitial(const Output &output, Combine combine,
                                  const Code &initial, const Code &name) {
  bool isMaximum =
      combine == Combine::Maximum || combine == Combine::SelectMaximum;
  if (!isMaximum && !isZero(output.initial->source))
    lines.line(name + " = " + combined(output, combine, initial, name) + ";");
}

bool SubKernelEmitter::isZero(const Source &source) {
  return source.kind == Source::Kind::Constant &&
         (matchPattern(source.constant, m_AnyZeroFloat()) ||
          matchPattern(source.constant, m_Zero()));
}

} // namespace brew::compiler::cuda
