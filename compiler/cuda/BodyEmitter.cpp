//===- BodyEmitter.cpp - Emission of nest bodies as CUDA ------------------===//
#include "compiler/cuda/BodyEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace brew::compiler::cuda {

/// Maximum length of an expression that is inlined in its user. The limit
/// applies to canonical names, so that kernels that differ only in the names of
/// blobs stay equal.
static constexpr size_t kMaxInlinedWidth = 56;

/// Returns whether an operation's expression needs no parentheses as an
/// operand: a name, a number, or a plain conversion from 16 bits.
static bool isPrimary(Operation &op, const Code &code) {
  return code.isWord() || (isa<arith::ExtFOp>(op) && code.isCall());
}

Code BodyEmitter::address(const LinearExpr &linear, ArrayRef<Code> loops) {
  Code sum;
  for (auto [coef, loop] : llvm::zip(linear.coefs, loops)) {
    if (coef == 0)
      continue;
    Code term = loop.isWord() ? loop : Code::group(loop);
    if (coef != 1)
      term += " * " + std::to_string(coef);
    sum = sum.empty() ? term : sum + " + " + term;
  }
  if (sum.empty())
    return linear.constant < 0 ? Code(std::to_string(linear.constant))
                               : Code::word(linear.constant);
  if (linear.constant)
    sum += (linear.constant < 0 ? " - " : " + ") +
           std::to_string(std::abs(linear.constant));
  return sum;
}

Code BodyEmitter::localValue(unsigned nest, unsigned result,
                             const Code &local) {
  const Output &output = subKernel.nests[nest].outputs[result];
  const Code &name = values.names[nest][result];
  switch (schedule.nests[nest].storage[result]) {
  case Storage::Variable:
    return values.arrays.count({nest, result})
               ? Code::element(name, Code::word("k"))
               : name;
  case Storage::Array:
    return Code::element(name, local);
  case Storage::Shared: {
    bool isSingleTeam = schedule.team == text.threads;
    std::string begin =
        isSingleTeam
            ? ""
            : "team * " + std::to_string(schedule.sharedElements(output)) +
                  " + ";
    return Code::element(name, begin + local);
  }
  case Storage::Buffer:
    break;
  }
  return {};
}

Code BodyEmitter::byteOfBit(const Code &buffer, const Code &address) {
  return Code::element(
      buffer, (address.isWord() ? address : Code::group(address)) + " / 8");
}

Code BodyEmitter::load(const Source &source, const Code &address,
                       const Code &local) {
  if (source.kind == Source::Kind::Constant)
    return text.scalars.literal(source.constant);
  unsigned argument = source.argument;
  if (source.kind == Source::Kind::Result) {
    if (schedule.nests[source.nest].storage[source.result] != Storage::Buffer)
      return localValue(source.nest, source.result, local);
    argument =
        subKernel.nests[source.nest].outputs[source.result].arguments.front();
  }
  const KernelArgument &buffer = text.arguments[argument];
  if (buffer.isBits()) {
    const Code position = address.isWord() ? address : Code::group(address);
    return Code::group(byteOfBit(buffer.name, position) + " >> " + position +
                       " % 8 & 1");
  }
  if (source.writtenThisStage)
    return Code::call("BREW_LOAD_L2", {buffer.name, address});
  return Code::element(buffer.name, address);
}

Code BodyEmitter::load(const Access &access, ArrayRef<Code> loops) {
  if (access.source.kind == Source::Kind::Argument) {
    auto found =
        values.packs.find(packKey(access.source.argument, access.address));
    if (found != values.packs.end())
      return packElement(access.source.argument, found->second);
  }
  return load(access.source, address(access.address, loops),
              address(access.local, loops));
}

BodyEmitter::Operand BodyEmitter::operand(Value value) {
  auto found = operands.find(value);
  if (found != operands.end())
    return found->second;
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    throwCannotEmit(subKernel.kernel, "a body uses a value from outside");
  return {text.scalars.literal(constant.getValue()), true};
}

BodyEmitter::Operand
BodyEmitter::assignIfLong(Value value, const Code &expression, bool isPrimary) {
  // If a value is only widened, the variable contains the widened value.
  if (expression.isWord() ||
      (value.hasOneUse() &&
       (expression.width(TextStyle::Canonical) <= kMaxInlinedWidth ||
        isa<arith::ExtFOp>(*value.user_begin()))))
    return {expression, isPrimary};
  return {variable(value.getType(), expression), true};
}

Code BodyEmitter::variable(Type type, const Code &value) {
  Code name = text.numbered("v");
  text.lines.line("const " + text.scalars.type(type) + " " + name + " = " +
                  value + ";");
  return name;
}

std::pair<Code, Code> BodyEmitter::offsetsOf(tensor::ExtractOp extract,
                                             const Extract &access,
                                             ArrayRef<Code> loops) {
  Code position = address(access.address, loops),
       local = address(access.local, loops);
  auto add = [](Code &sum, int64_t stride, const Code &i) {
    if (stride == 0)
      return;
    Code term = stride == 1 ? i : i + " * " + std::to_string(stride);
    sum = sum.isZero() ? term : sum + " + " + term;
  };
  for (auto [stride, localStride, index] :
       llvm::zip(access.strides, access.localStrides, extract.getIndices())) {
    if (stride == 0 && localStride == 0)
      continue;
    Code i = operand(index).primary();
    add(position, stride, i);
    add(local, localStride, i);
  }
  return {position, local};
}

void BodyEmitter::emitOperation(const Nest &nest, Operation &inner,
                                ArrayRef<Code> loops) {
  if (isa<arith::ConstantOp>(inner))
    return;
  Value result = inner.getResult(0);
  if (operands.count(result) || values.unused.contains(&inner))
    return;
  if (auto kept = values.kept.find(&inner); kept != values.kept.end()) {
    const auto &[element, pack] = kept->second;
    const Code code = Code::element(pack, Code::word("k"));
    operands[result] = assignIfLong(
        result,
        result.getType() == element ? code : text.scalars.loaded(element, code),
        true);
    return;
  }
  if (auto indexOp = dyn_cast<linalg::IndexOp>(inner)) {
    // The index is absent if only addresses use it, which include it.
    if (const auto &linear = nest.indices[indexOp.getDim()]) {
      Code position = address(*linear, loops);
      operands[result] = assignIfLong(result, position, position.isWord());
    }
    return;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    auto pack = values.extracts.find(&inner);
    if (pack != values.extracts.end()) {
      operands[result] = assignIfLong(
          result,
          packElement(nest.extracts.find(&inner)->second.source.argument,
                      pack->second),
          true);
      return;
    }
    const Extract &access = nest.extracts.find(&inner)->second;
    auto [position, local] = offsetsOf(extract, access, loops);
    operands[result] =
        assignIfLong(result, load(access.source, position, local), true);
    return;
  }
  SmallVector<Code> codes;
  for (Value value : inner.getOperands())
    codes.push_back(operand(value).primary());
  std::optional<Code> expression = text.scalars.expression(inner, codes);
  if (!expression)
    throwCannotEmit(subKernel.kernel, "there is no CUDA code for " +
                                          inner.getName().getStringRef().str());
  operands[result] =
      assignIfLong(result, *expression, isPrimary(inner, *expression));
}

SmallVector<Code> BodyEmitter::iterate(const Nest &nest, ArrayRef<Code> loops,
                                       ArrayRef<Code> accumulated) {
  operands = commonOperands;
  linalg::GenericOp op = nest.op;
  for (auto [input, argument] : llvm::zip(nest.inputs, op.getRegionInputArgs()))
    if (input && !operands.count(argument))
      operands[argument] = assignIfLong(argument, load(*input, loops), true);
  for (auto [argument, name] : llvm::zip(op.getRegionOutputArgs(), accumulated))
    if (!name.empty())
      operands[argument] = {name, name.isWord() || name.isElement()};
  for (Operation &inner : nest.body()->without_terminator())
    emitOperation(nest, inner, loops);

  OperandRange yielded = nest.body()->getTerminator()->getOperands();
  for (auto [store, value] : llvm::zip(nest.perIterationStores,
                                       yielded.drop_front(nest.outputs.size())))
    storePerIteration(store, loops, operand(value).code);
  SmallVector<Code> results;
  for (Value value : yielded.take_front(nest.outputs.size())) {
    Code result = operand(value).code;
    // Accumulators are assigned in order. A result that reads an accumulator
    // that was already assigned needs a variable.
    bool readsEarlier = false;
    for (unsigned i = 0; i < results.size(); ++i)
      readsEarlier |= !accumulated.empty() && result.reads(accumulated[i]);
    results.push_back(readsEarlier ? variable(value.getType(), result)
                                   : result);
  }
  return results;
}

void BodyEmitter::storePerIteration(const Output &store, ArrayRef<Code> loops,
                                    const Code &value) {
  for (unsigned argument : store.arguments) {
    auto pack = values.perIterationStores.find(argument);
    const Code target = pack != values.perIterationStores.end()
                            ? Code::element(pack->second, Code::word("k"))
                            : Code::element(text.arguments[argument].name,
                                            address(store.address, loops));
    text.lines.line(target + " = " + value + ";");
  }
}

void BodyEmitter::storeToBuffers(const Output &output, ArrayRef<Code> loops,
                                 const Code &value) {
  for (unsigned argument : output.arguments) {
    const KernelArgument &buffer = text.arguments[argument];
    const Code position = address(output.address, loops);
    if (buffer.isBits()) {
      text.prelude.bits = true;
      text.lines.line(
          Code::call("BREW_SET_BIT", {buffer.name, position, value}) + ";");
      continue;
    }
    text.lines.line(Code::element(buffer.name, position) + " = " + value + ";");
  }
}

} // namespace brew::compiler::cuda
