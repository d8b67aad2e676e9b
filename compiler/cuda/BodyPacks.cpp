//===- BodyPacks.cpp - Packs in nest bodies -------------------------------===//
#include "compiler/cuda/BodyEmitter.h"

using namespace mlir;

namespace brew::compiler::cuda {

std::pair<unsigned, std::vector<int64_t>>
BodyEmitter::packKey(unsigned argument, const LinearExpr &address) {
  std::vector<int64_t> key(address.coefs.begin(), address.coefs.end());
  key.push_back(address.constant);
  return {argument, key};
}

std::string BodyEmitter::packType(Type element, unsigned pack) {
  return "BREW_VECTOR(" + storageType(element) + ", " + std::to_string(pack) +
         ")";
}

Code BodyEmitter::packElement(unsigned argument, const Code &pack) const {
  return text.arguments[argument].isBits()
             ? Code::group(pack + " >> k & 1")
             : Code::element(pack, Code::word("k"));
}

void BodyEmitter::declarePack(Code &pack, unsigned argument, unsigned size,
                              const Code &address) {
  const KernelArgument &buffer = text.arguments[argument];
  pack = text.derived(buffer.name, "_pack");
  if (buffer.isBits()) {
    text.lines.line(
        "const unsigned " + pack + " = " + byteOfBit(buffer.name, address) +
        (size == 8 ? Code(";") : " >> " + Code::group(address) + " % 8;"));
    return;
  }
  const std::string type = packType(buffer.element, size);
  text.lines.line("const " + type + " " + pack + " = " +
                  Code::call("BREW_LOAD", {type, buffer.name, address}) + ";");
}

void BodyEmitter::emitIndices(const Nest &nest, Operation *extract,
                              ArrayRef<Code> loops) {
  SmallVector<Value> indices;
  const Extract &access = nest.extracts.find(extract)->second;
  // Plain loop indices are part of the address, and may be the packed loop.
  for (auto [stride, index] :
       llvm::zip(access.strides, cast<tensor::ExtractOp>(extract).getIndices()))
    if (stride != 0)
      indices.push_back(index);
  emitOperands(nest, indices, loops);
}

void BodyEmitter::emitOperands(const Nest &nest, SmallVector<Value> worklist,
                               ArrayRef<Code> loops) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      const unsigned number = argument.getArgNumber();
      // An index loaded from a tensor may depend on the kernel's arguments.
      if (argument.getOwner() == nest.body() && !operands.count(argument) &&
          nest.inputs[number])
        operands[argument] =
            assignIfLong(argument, load(*nest.inputs[number], loops), true);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (op->getBlock() == nest.body() && needed.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  for (Operation &op : nest.body()->without_terminator())
    if (needed.contains(&op))
      emitOperation(nest, op, loops);
}

void BodyEmitter::loadPacks(const Nest &nest, const NestSchedule &inner,
                            ArrayRef<Code> loops) {
  operands = commonOperands;
  auto declareIfPacked = [&](const Access &access) {
    if (!text.packs.covers(access, inner))
      return;
    const auto key = packKey(access.source.argument, access.address);
    auto [entry, isNew] = values.packs.try_emplace(key);
    if (auto hoisted = values.hoistedPacks.find(key);
        hoisted != values.hoistedPacks.end())
      entry->second = hoisted->second;
    else if (isNew)
      declarePack(entry->second, access.source.argument, inner.pack,
                  address(access.address, loops));
  };
  for (const std::optional<Access> &input : nest.inputs)
    if (input)
      declareIfPacked(*input);
  for (const Output &output : nest.outputs)
    if (output.initial && nest.reductions() == 0)
      declareIfPacked(*output.initial);
  // Visits extracts in program order, so that the text is reproducible.
  for (Operation &op : nest.body()->without_terminator()) {
    auto found = nest.extracts.find(&op);
    if (found == nest.extracts.end() ||
        !text.packs.covers(nest, &op, found->second, inner))
      continue;
    emitIndices(nest, &op, loops);
    declarePack(
        values.extracts[&op], found->second.source.argument, inner.pack,
        offsetsOf(cast<tensor::ExtractOp>(op), found->second, loops).first);
  }
  if (inner.pack % 4 == 0)
    keepEqual(nest, inner, loops);
  commonOperands = operands;
}

bool BodyEmitter::isInvariant(const Access &access,
                              const NestSchedule &inner) const {
  if (!text.packs.covers(access, inner))
    return false;
  for (auto [loop, coef] : llvm::enumerate(access.address.coefs))
    if (loop != inner.packed && coef != 0)
      return false;
  const unsigned argument = access.source.argument;
  return !text.arguments[argument].aliased &&
         llvm::none_of(subKernel.nests, [&](const Nest &nest) {
           return llvm::any_of(nest.outputs, [&](const Output &output) {
             return llvm::is_contained(output.arguments, argument);
           });
         });
}

void BodyEmitter::hoistPacks(const Nest &nest, const NestSchedule &inner,
                             ArrayRef<Code> loops, int64_t &bytes) {
  for (const std::optional<Access> &input : nest.inputs) {
    if (!input || !isInvariant(*input, inner))
      continue;
    const unsigned argument = input->source.argument;
    const int64_t size =
        inner.pack * elementBytes(text.arguments[argument].element);
    auto [entry, isNew] =
        values.hoistedPacks.try_emplace(packKey(argument, input->address));
    if (!isNew || size > bytes) {
      if (isNew)
        values.hoistedPacks.erase(entry);
      continue;
    }
    bytes -= size;
    declarePack(entry->second, argument, inner.pack,
                address(input->address, loops));
  }
}

void BodyEmitter::declareStorePacks(const Nest &nest,
                                    const NestSchedule &inner) {
  for (const Output &store : nest.perIterationStores)
    for (unsigned argument : store.arguments)
      if (text.packs.coversStore(argument, store, inner)) {
        const KernelArgument &buffer = text.arguments[argument];
        Code name = text.derived(buffer.name, "_result");
        text.lines.line(packType(buffer.element, inner.pack) + " " + name +
                        ";");
        values.perIterationStores[argument] = name;
      }
}

void BodyEmitter::flushStorePacks(const Nest &nest, const NestSchedule &inner,
                                  ArrayRef<Code> loops) {
  for (const Output &store : nest.perIterationStores)
    for (unsigned argument : store.arguments)
      if (auto pack = values.perIterationStores.find(argument);
          pack != values.perIterationStores.end()) {
        const KernelArgument &buffer = text.arguments[argument];
        text.lines.line(
            Code::call("BREW_STORE",
                       {packType(buffer.element, inner.pack), buffer.name,
                        address(store.address, loops), pack->second}) +
            ";");
      }
  values.perIterationStores.clear();
}

void BodyEmitter::forgetPacks() {
  values.packs.clear();
  values.extracts.clear();
  values.kept.clear();
  values.unused.clear();
  commonOperands.clear();
}

} // namespace brew::compiler::cuda
