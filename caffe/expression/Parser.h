//===- Parser.h - The parser of formulas ------------------------*- C++ -*-===//
#pragma once

#include "caffe/expression/Lexer.h"

namespace brew::caffe::expression {

using NodePointer = std::unique_ptr<Node>;

/// Parses a formula, reports errors and creates the tree.
class Parser {
public:
  Parser(const std::string &text, const std::vector<std::string> &bottoms,
         int params)
      : bottoms(bottoms), lexer(text) {
    formula.usedBottoms.assign(bottoms.size(), false);
    formula.usedParams.assign(params, false);
  }

  Formula parse();

private:
  // The grammar (Parser.cpp).
  NodePointer parseChoice();
  NodePointer parseDisjunction();
  NodePointer parseConjunction();
  NodePointer parseComparison();
  NodePointer parseSum();
  NodePointer parseProduct();
  NodePointer parseUnary();
  NodePointer parsePower();
  NodePointer parsePrimary();

  // Names and function calls (Names.cpp).
  NodePointer parseName();
  NodePointer parseCall(const Token &name);
  NodePointer parseIndexed(const Token &name,
                           const std::vector<NodePointer> &arguments, Kind kind,
                           std::vector<bool> &used, const char *noun);
  /// Splits max or min of any number of arguments into nodes of two operands.
  NodePointer toBinaryNodes(NodePointer node);

  const Token &token() const { return lexer.current(); }
  Token takeToken() {
    Token result = token();
    lexer.advance();
    return result;
  }
  [[noreturn]] void fail(size_t offset, const std::string &text) const {
    throw SyntaxError{{offset, text}};
  }
  void report(size_t offset, const std::string &text) {
    formula.problems.push_back({offset, text});
  }
  void expect(const char *sign, const std::string &purpose);

  NodePointer makeNode(Kind kind, size_t offset, NodePointer first = {},
                       NodePointer second = {}, NodePointer third = {});
  /// Converts a boolean to 1 or 0. Returns a number unchanged.
  NodePointer asNumber(NodePointer node);
  /// Returns `node`, and reports an error if it is a number.
  NodePointer asBoolean(NodePointer node);
  NodePointer makeSelect(size_t offset, NodePointer condition,
                         NodePointer first, NodePointer second);

  /// Counts the nested calls of a function of the grammar.
  struct DepthGuard {
    explicit DepthGuard(Parser &parser) : parser(parser) {
      // The limit keeps hostile formulas from exhausting the stack.
      constexpr int maxDepth = 200;
      if (++parser.depth > maxDepth)
        parser.fail(parser.token().offset, "the expression nests too deeply");
    }
    ~DepthGuard() { --parser.depth; }
    Parser &parser;
  };

  const std::vector<std::string> &bottoms;
  Formula formula;
  Lexer lexer;
  int depth = 0;
  int nodes = 0;
};

} // namespace brew::caffe::expression
