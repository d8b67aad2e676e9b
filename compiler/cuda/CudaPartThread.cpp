//===- CudaPartThread.cpp - A nest that one thread runs alone -------------===//
#include "compiler/cuda/CudaPart.h"

using namespace mlir;

namespace brew::compiler {

SmallVector<std::string> PartEmitter::initials(const Nest &nest,
                                               ArrayRef<std::string> at) {
  SmallVector<std::string> texts;
  for (const Output &output : nest.outputs)
    texts.push_back(output.initial ? body.load(*output.initial, at) : "");
  return texts;
}

void PartEmitter::openLoop(const std::string &name, const std::string &type,
                           const std::string &begin, const std::string &end,
                           const std::string &step) {
  std::string next = step == "1" || step == "1u" || step == "1ull"
                         ? "++" + name
                         : name + " += " + step;
  lines.open("for (" + type + " " + name + " = " + begin + "; " + name + " < " +
             end + "; " + next + ")");
}

unsigned PartEmitter::openLoops(ArrayRef<unsigned> which, const Nest &nest,
                                SmallVectorImpl<std::string> &at,
                                StringRef prefix) {
  for (unsigned loop : which) {
    at[loop] = text.names.numbered(prefix);
    openLoop(at[loop], text.index(), "0",
             std::to_string(nest.loops[loop].extent), "1");
  }
  return which.size();
}

void PartEmitter::closeLoops(unsigned count) {
  while (count--)
    lines.close();
}

SmallVector<std::string>
PartEmitter::declareAccumulators(const Nest &nest,
                                 ArrayRef<std::string> start) {
  SmallVector<std::string> names;
  for (auto [output, value] : llvm::zip(nest.outputs, start)) {
    names.push_back(text.names.numbered("a"));
    lines.line(text.scalars.type(output.element) + " " + names.back() + " = " +
               value + ";");
  }
  return names;
}

void PartEmitter::assign(ArrayRef<std::string> names,
                         ArrayRef<std::string> texts) {
  for (auto [name, value] : llvm::zip(names, texts))
    if (name != value)
      lines.line(name + " = " + value + ";");
}

SmallVector<std::string>
PartEmitter::reduceInOrder(const Nest &nest, ArrayRef<unsigned> reductions,
                           SmallVectorImpl<std::string> &at) {
  SmallVector<std::string> names =
      declareAccumulators(nest, initials(nest, at));
  unsigned opened = openLoops(reductions, nest, at, "r");
  assign(names, body.iterate(nest, at, names));
  closeLoops(opened);
  return names;
}

void PartEmitter::store(unsigned n, ArrayRef<std::string> at,
                        SmallVector<std::string> texts, bool declareVariables) {
  const Nest &nest = part.nests[n];
  // A result must not read what storing another one has overwritten.
  if (texts.size() > 1)
    for (auto [output, value] : llvm::zip(nest.outputs, texts))
      if (value.find('[') != std::string::npos) {
        std::string name = text.names.numbered("v");
        lines.line("const " + text.scalars.type(output.element) + " " + name +
                   " = " + value + ";");
        value = name;
      }
  for (auto [r, output] : llvm::enumerate(nest.outputs)) {
    std::string value = texts[r];
    if (schedule.nests[n].places[r] != Place::Buffer) {
      std::string target = body.kept(n, r, body.address(output.local, at));
      bool variable = schedule.nests[n].places[r] == Place::Variable;
      lines.line((variable && declareVariables
                      ? "const " + text.scalars.type(output.element) + " "
                      : "") +
                 target + " = " + value + ";");
      value = target;
    }
    if (!output.overwritesRead)
      body.storeToBuffers(output, at, value);
  }
}

void PartEmitter::emitThreadNest(unsigned n) {
  const Nest &nest = part.nests[n];
  const NestSchedule &inner = schedule.nests[n];
  for (auto [r, output] : llvm::enumerate(nest.outputs))
    if (inner.places[r] == Place::Array)
      lines.line(text.scalars.type(output.element) + " " + values.names[n][r] +
                 "[" + std::to_string(output.localSize) + "];");
  SmallVector<std::string> at = startOf(nest);
  unsigned opened = openLoops(inner.parallel, nest, at, "j");
  store(n, at,
        inner.reductions.empty() ? body.iterate(nest, at, initials(nest, at))
                                 : reduceInOrder(nest, inner.reductions, at));
  closeLoops(opened);
}

} // namespace brew::compiler
