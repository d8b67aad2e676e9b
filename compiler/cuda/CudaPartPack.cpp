//===- CudaPartPack.cpp - Neighbouring points, 16 bytes at a time ---------===//
#include "compiler/cuda/CudaPart.h"

using namespace mlir;

namespace brew::compiler {

std::string PartEmitter::packType(Type element) {
  return "BREW_VECTOR(" + storageType(element) + ", " +
         std::to_string(schedule.pack) + ")";
}

void PartEmitter::emitPack() {
  unsigned last = part.grid - 1;
  for (Nest &nest : part.nests)
    for (const std::optional<Access> &input : nest.inputs) {
      if (!input || input->source.kind != Source::Kind::Argument ||
          input->address.coefs[last] == 0)
        continue;
      auto key = CudaBody::packKey(input->source.argument, input->address);
      auto [entry, isNew] = values.packs.try_emplace(key);
      if (!isNew)
        continue;
      const CudaArgument &buffer = text.arguments[input->source.argument];
      entry->second = text.derived(buffer.name, "_pack");
      SmallVector<CudaCode> at = startOf(nest);
      at[last] = packBegin;
      lines.line(
          "const " + packType(buffer.element) + " " + entry->second + " = " +
          CudaCode::call("BREW_LOAD", {packType(buffer.element), buffer.name,
                                       body.address(input->address, at)}) +
          ";");
    }
  // [nest][result][buffer]
  std::vector<std::vector<std::vector<CudaCode>>> results;
  for (Nest &nest : part.nests) {
    results.emplace_back();
    for (Output &output : nest.outputs) {
      results.back().emplace_back();
      for (unsigned argument : output.arguments) {
        const CudaArgument &buffer = text.arguments[argument];
        CudaCode name = text.derived(buffer.name, "_result");
        lines.line(packType(buffer.element) + " " + name + ";");
        results.back().back().push_back(name);
      }
    }
  }
  lines.line("#pragma unroll");
  lines.open("for (int k = 0; k < " + std::to_string(schedule.pack) + "; ++k)");
  CudaCode index = text.numbered("i");
  lines.line("const " + text.index() + " " + index + " = " + packBegin +
             " + k;");
  gridAt[last] = index;
  for (auto [n, nest] : llvm::enumerate(part.nests)) {
    commentOn(nest);
    SmallVector<CudaCode> at = startOf(nest);
    SmallVector<CudaCode> computed = body.iterate(nest, at, initials(nest, at));
    for (auto [r, output] : llvm::enumerate(nest.outputs)) {
      CudaCode value = computed[r];
      if (schedule.nests[n].storage[r] == Storage::Variable) {
        lines.line("const " + text.scalars.type(output.element) + " " +
                   values.names[n][r] + " = " + value + ";");
        value = values.names[n][r];
      }
      for (auto [argument, name] : llvm::zip(output.arguments, results[n][r]))
        lines.line(CudaCode::element(name, CudaCode::word("k")) + " = " +
                   value + ";");
    }
  }
  lines.close();
  gridAt[last] = packBegin;
  for (auto [n, nest] : llvm::enumerate(part.nests))
    for (auto [r, output] : llvm::enumerate(nest.outputs))
      for (auto [argument, name] : llvm::zip(output.arguments, results[n][r])) {
        const CudaArgument &buffer = text.arguments[argument];
        lines.line(CudaCode::call("BREW_STORE",
                                  {packType(buffer.element), buffer.name,
                                   body.address(output.address, startOf(nest)),
                                   name}) +
                   ";");
      }
}

} // namespace brew::compiler
