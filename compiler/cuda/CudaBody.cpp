//===- CudaBody.cpp - One iteration of a nest as CUDA C++ -----------------===//
#include "compiler/cuda/CudaBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace brew::compiler {

/// Expressions up to this length stay part of the one that uses them.
static constexpr size_t kInlined = 56;

static bool isAtom(StringRef text) {
  return llvm::all_of(
      text, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
}

/// Whether an operation's expression needs no parentheses as an operand: a
/// name, a number, or nothing but a conversion from 16 bits.
static bool isPrimary(Operation &op, StringRef text) {
  return isAtom(text) || (isa<arith::ExtFOp>(op) && text.ends_with(")") &&
                          !text.starts_with("("));
}

std::string CudaBody::address(const Linear &linear,
                              ArrayRef<std::string> loops) {
  std::string sum;
  for (auto [coef, loop] : llvm::zip(linear.coefs, loops)) {
    if (coef == 0 || loop == "0")
      continue;
    std::string term = isAtom(loop) ? loop : "(" + loop + ")";
    if (coef != 1)
      term += " * " + std::to_string(coef);
    sum += (sum.empty() ? "" : " + ") + term;
  }
  if (sum.empty())
    return std::to_string(linear.constant);
  if (linear.constant)
    sum += (linear.constant < 0 ? " - " : " + ") +
           std::to_string(std::abs(linear.constant));
  return sum;
}

std::pair<unsigned, std::vector<int64_t>>
CudaBody::packKey(unsigned argument, const Linear &address) {
  std::vector<int64_t> key(address.coefs.begin(), address.coefs.end());
  key.push_back(address.constant);
  return {argument, key};
}

std::string CudaBody::kept(unsigned nest, unsigned result,
                           const std::string &local) {
  const Output &output = part.nests[nest].outputs[result];
  const std::string &name = values.names[nest][result];
  switch (schedule.nests[nest].places[result]) {
  case Place::Variable:
    return name;
  case Place::Array:
    return name + "[" + local + "]";
  case Place::Shared: {
    bool oneTeam = schedule.team == text.threads;
    std::string begin =
        oneTeam ? "" : "team * " + std::to_string(output.localSize) + " + ";
    return name + "[" + begin + local + "]";
  }
  case Place::Buffer:
    break;
  }
  return {};
}

std::string CudaBody::load(const Source &source, const std::string &address,
                           const std::string &local) {
  if (source.kind == Source::Kind::Constant)
    return text.scalars.literal(source.constant);
  unsigned argument = source.argument;
  if (source.kind == Source::Kind::Result) {
    if (schedule.nests[source.nest].places[source.result] != Place::Buffer)
      return kept(source.nest, source.result, local);
    argument = part.nests[source.nest].outputs[source.result].arguments.front();
  }
  const CudaArgument &buffer = text.arguments[argument];
  return buffer.name + "[" + address + "]";
}

std::string CudaBody::load(const Access &access, ArrayRef<std::string> loops) {
  if (access.source.kind == Source::Kind::Argument) {
    auto found =
        values.packs.find(packKey(access.source.argument, access.address));
    if (found != values.packs.end())
      return found->second + "[k]";
  }
  return load(access.source, address(access.address, loops),
              address(access.local, loops));
}

CudaBody::Operand CudaBody::operand(Value value) {
  auto found = operands.find(value);
  if (found != operands.end())
    return found->second;
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    refuse(part.kernel, "a body uses a value from outside");
  return {text.scalars.literal(constant.getValue()), true};
}

CudaBody::Operand CudaBody::named(Value value, const std::string &expression,
                                  bool atomic) {
  // What is only widened gets its name then.
  if (isAtom(expression) ||
      (value.hasOneUse() && (expression.size() <= kInlined ||
                             isa<arith::ExtFOp>(*value.user_begin()))))
    return {expression, atomic};
  std::string name = text.names.numbered("v");
  text.lines.line("const " + text.scalars.type(value.getType()) + " " + name +
                  " = " + expression + ";");
  return {name, true};
}

SmallVector<std::string> CudaBody::iterate(const Nest &nest,
                                           ArrayRef<std::string> loops,
                                           ArrayRef<std::string> accumulated) {
  operands.clear();
  linalg::GenericOp op = nest.op;
  for (auto [input, argument] : llvm::zip(nest.inputs, op.getRegionInputArgs()))
    if (input)
      operands[argument] = named(argument, load(*input, loops), true);
  for (auto [argument, name] : llvm::zip(op.getRegionOutputArgs(), accumulated))
    if (!name.empty())
      operands[argument] = {name, isAtom(name)};

  for (Operation &inner : nest.body()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner))
      continue;
    Value result = inner.getResult(0);
    if (auto position = dyn_cast<linalg::IndexOp>(inner)) {
      // Absent where only addresses, which have it already, depended on it.
      if (const auto &linear = nest.indices[position.getDim()]) {
        std::string at = address(*linear, loops);
        operands[result] = named(result, at, isAtom(at));
      }
      continue;
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      const Extract &access = nest.extracts.find(&inner)->second;
      std::string at = address(access.address, loops),
                  local = address(access.local, loops);
      auto add = [](std::string &sum, int64_t stride, const std::string &i) {
        if (stride == 0)
          return;
        sum = sum == "0" ? "" : sum + " + ";
        sum += stride == 1 ? i : i + " * " + std::to_string(stride);
      };
      for (auto [stride, localStride, index] : llvm::zip(
               access.strides, access.localStrides, extract.getIndices())) {
        if (stride == 0 && localStride == 0)
          continue;
        std::string i = operand(index).primary();
        add(at, stride, i);
        add(local, localStride, i);
      }
      operands[result] = named(result, load(access.source, at, local), true);
      continue;
    }
    SmallVector<std::string> texts;
    for (Value value : inner.getOperands())
      texts.push_back(operand(value).primary());
    std::optional<std::string> expression =
        text.scalars.expression(inner, texts);
    if (!expression)
      refuse(part.kernel, "there is no CUDA code for " +
                              inner.getName().getStringRef().str());
    operands[result] =
        named(result, *expression, isPrimary(inner, *expression));
  }

  SmallVector<std::string> results;
  for (Value value : nest.body()->getTerminator()->getOperands()) {
    Operand result = operand(value);
    // Accumulators are assigned one after the other: a result that reads one
    // that is assigned before needs a name.
    bool readsEarlier = false;
    for (unsigned i = 0; i < results.size(); ++i)
      readsEarlier |= !accumulated.empty() && !accumulated[i].empty() &&
                      result.text.find(accumulated[i]) != std::string::npos;
    if (readsEarlier) {
      std::string name = text.names.numbered("v");
      text.lines.line("const " + text.scalars.type(value.getType()) + " " +
                      name + " = " + result.text + ";");
      result.text = name;
    }
    results.push_back(result.text);
  }
  return results;
}

void CudaBody::storeToBuffers(const Output &output, ArrayRef<std::string> loops,
                              const std::string &value) {
  for (unsigned argument : output.arguments) {
    const CudaArgument &buffer = text.arguments[argument];
    text.lines.line(buffer.name + "[" + address(output.address, loops) +
                    "] = " + value + ";");
  }
}

} // namespace brew::compiler
