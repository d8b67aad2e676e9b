//===- Names.cpp - Names and functions of formulas ------------------------===//

#include "caffe/expression/Parser.h"
#include "support/NumberText.h"
#include "support/Suggest.h"

#include <cmath>

namespace brew::caffe::expression {

namespace {

struct Function {
  const char *name;
  Kind kind;
};

constexpr Function functions[] = {
    {"abs", Kind::Abs},           {"acos", Kind::Acos},
    {"asin", Kind::Asin},         {"atan", Kind::Atan},
    {"ceil", Kind::Ceil},         {"cos", Kind::Cos},
    {"cosh", Kind::Cosh},         {"erf", Kind::Erf},
    {"exp", Kind::Exp},           {"expm1", Kind::Expm1},
    {"floor", Kind::Floor},       {"log", Kind::Log},
    {"log1p", Kind::Log1p},       {"max", Kind::Max},
    {"min", Kind::Min},           {"pow", Kind::Power},
    {"relu", Kind::Relu},         {"round", Kind::Round},
    {"rsqrt", Kind::Rsqrt},       {"select", Kind::Select},
    {"sigmoid", Kind::Sigmoid},   {"sign", Kind::Sign},
    {"sin", Kind::Sin},           {"sinh", Kind::Sinh},
    {"softplus", Kind::Softplus}, {"sqrt", Kind::Sqrt},
    {"tan", Kind::Tan},           {"tanh", Kind::Tanh},
};

const Function *findFunction(const std::string &name) {
  for (const Function &function : functions)
    if (name == function.name)
      return &function;
  return nullptr;
}

} // namespace

NodePointer Parser::parseName() {
  const Token word = takeToken();
  if (word.kind == TokenKind::Name && token().is("("))
    return parseCall(word);
  for (size_t i = 0; i < bottoms.size(); ++i)
    if (bottoms[i] == word.text) {
      formula.usedBottoms[i] = true;
      NodePointer node = makeNode(Kind::Bottom, word.offset);
      node->index = static_cast<int>(i);
      return node;
    }
  NodePointer node = makeNode(Kind::Number, word.offset);
  if (word.kind == TokenKind::Name && word.text == "pi") {
    node->number = std::acos(-1.0);
    return node;
  }
  std::string text = "'" + word.text + "' is not a bottom of this layer";
  if (findFunction(word.text) && word.kind == TokenKind::Name)
    text += "; the function needs its argument in parentheses";
  else
    text += didYouMean(word.text, bottoms);
  report(word.offset, text);
  return node;
}

/// Creates the node for `param(i)` or `bottom(i)`, and sets `used[i]`. `noun`
/// is the noun for messages.
NodePointer Parser::parseIndexed(const Token &name,
                                 const std::vector<NodePointer> &arguments,
                                 Kind kind, std::vector<bool> &used,
                                 const char *noun) {
  NodePointer node = makeNode(Kind::Number, name.offset);
  if (arguments.size() != 1 || arguments[0]->kind != Kind::Number ||
      arguments[0]->number != std::floor(arguments[0]->number) ||
      arguments[0]->number < 0) {
    report(arguments.empty() ? name.offset : arguments[0]->offset,
           name.text + " takes one whole number, such as " + name.text + "(0)");
    return node;
  }
  const double index = arguments[0]->number;
  if (index >= static_cast<double>(used.size())) {
    report(arguments[0]->offset, "the layer has " +
                                     countWithNoun(used.size(), noun) +
                                     (used.empty() ? "" : ", counted from 0"));
    return node;
  }
  node->kind = kind;
  node->index = static_cast<int>(index);
  used[node->index] = true;
  return node;
}

NodePointer Parser::toBinaryNodes(NodePointer node) {
  while (node->operands.size() > 2) {
    NodePointer pair =
        makeNode(node->kind, node->offset, std::move(node->operands[0]),
                 std::move(node->operands[1]));
    node->operands.erase(node->operands.begin());
    node->operands[0] = std::move(pair);
  }
  return node;
}

NodePointer Parser::parseCall(const Token &name) {
  const size_t open = takeToken().offset;
  std::vector<NodePointer> arguments;
  while (!token().is(")")) {
    if (token().kind == TokenKind::End)
      fail(open, "this '(' is never closed");
    if (!arguments.empty())
      expect(",", "or ')' after an argument of " + name.text);
    arguments.push_back(parseChoice());
  }
  lexer.advance();
  if (name.text == "param")
    return parseIndexed(name, arguments, Kind::Param, formula.usedParams,
                        "param block");
  if (name.text == "bottom")
    return parseIndexed(name, arguments, Kind::Bottom, formula.usedBottoms,
                        "bottom");

  const Function *function = findFunction(name.text);
  if (!function) {
    std::vector<std::string> names = {"param", "bottom"};
    for (const Function &candidate : functions)
      names.push_back(candidate.name);
    report(name.offset, "unknown function '" + name.text + "'" +
                            didYouMean(name.text, names));
    return makeNode(Kind::Number, name.offset);
  }
  const Kind kind = function->kind;
  const bool isVariadic = kind == Kind::Max || kind == Kind::Min;
  const size_t argumentCount = kind == Kind::Select                ? 3
                               : isVariadic || kind == Kind::Power ? 2
                                                                   : 1;
  if (isVariadic ? arguments.size() < argumentCount
                 : arguments.size() != argumentCount) {
    report(name.offset, name.text + " takes " +
                            (isVariadic ? "at least " : "") +
                            countWithNoun(argumentCount, "argument") +
                            ", found " + std::to_string(arguments.size()));
    return makeNode(Kind::Number, name.offset);
  }
  if (kind == Kind::Select)
    return makeSelect(name.offset, std::move(arguments[0]),
                      std::move(arguments[1]), std::move(arguments[2]));
  NodePointer node = makeNode(kind, name.offset);
  for (NodePointer &argument : arguments)
    node->operands.push_back(asNumber(std::move(argument)));
  return toBinaryNodes(std::move(node));
}

} // namespace brew::caffe::expression
