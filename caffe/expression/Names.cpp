//===- Names.cpp - Names and functions of formulas ------------------------===//

#include "caffe/expression/Parser.h"
#include "support/Suggest.h"

#include <cmath>

namespace brew::caffe::expression {

namespace {

struct Function {
  const char *name;
  Kind kind;
};

constexpr Function functions[] = {
    {"abs", Kind::Abs},           {"ceil", Kind::Ceil},
    {"cos", Kind::Cos},           {"erf", Kind::Erf},
    {"exp", Kind::Exp},           {"expm1", Kind::Expm1},
    {"floor", Kind::Floor},       {"log", Kind::Log},
    {"log1p", Kind::Log1p},       {"max", Kind::Max},
    {"min", Kind::Min},           {"pow", Kind::Power},
    {"relu", Kind::Relu},         {"rsqrt", Kind::Rsqrt},
    {"select", Kind::Select},     {"sigmoid", Kind::Sigmoid},
    {"sign", Kind::Sign},         {"sin", Kind::Sin},
    {"softplus", Kind::Softplus}, {"sqrt", Kind::Sqrt},
    {"tanh", Kind::Tanh},
};

const Function *findFunction(const std::string &name) {
  for (const Function &function : functions)
    if (name == function.name)
      return &function;
  return nullptr;
}

} // namespace

NodePointer Parser::name() {
  const Token word = take();
  if (word.kind == TokenKind::Name && token().is("("))
    return call(word);
  for (size_t i = 0; i < bottoms.size(); ++i)
    if (bottoms[i] == word.text) {
      formula.usedBottoms[i] = true;
      NodePointer node = make(Kind::Bottom, word.offset);
      node->index = static_cast<int>(i);
      return node;
    }
  NodePointer node = make(Kind::Number, word.offset);
  if (word.kind == TokenKind::Name && word.text == "pi") {
    node->number = std::acos(-1.0);
    return node;
  }
  std::string text = "'" + word.text + "' is no bottom of this layer";
  if (findFunction(word.text) && word.kind == TokenKind::Name)
    text += "; the function needs its argument in parentheses";
  else
    text += didYouMean(word.text, bottoms);
  report(word.offset, text);
  return node;
}

/// Parses `param(i)` and `bottom(i)`.
NodePointer Parser::read(const Token &name,
                         const std::vector<NodePointer> &arguments, Kind kind,
                         std::vector<bool> &used, const char *what) {
  NodePointer node = make(Kind::Number, name.offset);
  if (arguments.size() != 1 || arguments[0]->kind != Kind::Number ||
      arguments[0]->number != std::floor(arguments[0]->number) ||
      arguments[0]->number < 0) {
    report(arguments.empty() ? name.offset : arguments[0]->offset,
           name.text + " takes one whole number, such as " + name.text + "(0)");
    return node;
  }
  const double index = arguments[0]->number;
  if (index >= static_cast<double>(used.size())) {
    report(arguments[0]->offset, "the layer has " + counted(used.size(), what) +
                                     (used.empty() ? "" : ", counted from 0"));
    return node;
  }
  node->kind = kind;
  node->index = static_cast<int>(index);
  used[node->index] = true;
  return node;
}

NodePointer Parser::chain(NodePointer node) {
  while (node->operands.size() > 2) {
    NodePointer pair =
        make(node->kind, node->offset, std::move(node->operands[0]),
             std::move(node->operands[1]));
    node->operands.erase(node->operands.begin());
    node->operands[0] = std::move(pair);
  }
  return node;
}

NodePointer Parser::call(const Token &name) {
  const size_t open = take().offset;
  std::vector<NodePointer> arguments;
  while (!token().is(")")) {
    if (token().kind == TokenKind::End)
      fail(open, "this '(' is never closed");
    if (!arguments.empty())
      expect(",", "or ')' after an argument of " + name.text);
    arguments.push_back(choice());
  }
  lexer.advance();
  if (name.text == "param")
    return read(name, arguments, Kind::Param, formula.usedParams,
                "param block");
  if (name.text == "bottom")
    return read(name, arguments, Kind::Bottom, formula.usedBottoms, "bottom");

  const Function *function = findFunction(name.text);
  if (!function) {
    std::vector<std::string> names = {"param", "bottom"};
    for (const Function &each : functions)
      names.push_back(each.name);
    report(name.offset, "unknown function '" + name.text + "'" +
                            didYouMean(name.text, names));
    return make(Kind::Number, name.offset);
  }
  const Kind kind = function->kind;
  const bool isChain = kind == Kind::Max || kind == Kind::Min;
  const size_t wanted = kind == Kind::Select             ? 3
                        : isChain || kind == Kind::Power ? 2
                                                         : 1;
  if (isChain ? arguments.size() < wanted : arguments.size() != wanted) {
    report(name.offset, name.text + " takes " + (isChain ? "at least " : "") +
                            counted(wanted, "argument") + ", found " +
                            std::to_string(arguments.size()));
    return make(Kind::Number, name.offset);
  }
  if (kind == Kind::Select)
    return select(name.offset, std::move(arguments[0]), std::move(arguments[1]),
                  std::move(arguments[2]));
  NodePointer node = make(kind, name.offset);
  for (NodePointer &argument : arguments)
    node->operands.push_back(asNumber(std::move(argument)));
  return chain(std::move(node));
}

} // namespace brew::caffe::expression
