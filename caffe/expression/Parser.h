//===- Parser.h - The parser of formulas ------------------------*- C++ -*-===//
#pragma once

#include "caffe/expression/Lexer.h"

namespace brew::caffe::expression {

using NodePointer = std::unique_ptr<Node>;

/// Returns "1 bottom", "2 bottoms".
inline std::string counted(size_t count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

class Parser {
public:
  Parser(const std::string &text, const std::vector<std::string> &bottoms,
         int params)
      : bottoms(bottoms), lexer(text) {
    formula.usedBottoms.assign(bottoms.size(), false);
    formula.usedParams.assign(params, false);
  }

  Formula run();

private:
  // The grammar (Parser.cpp).
  NodePointer choice();
  NodePointer disjunction();
  NodePointer conjunction();
  NodePointer comparison();
  NodePointer sum();
  NodePointer product();
  NodePointer unary();
  NodePointer power();
  NodePointer primary();

  // Names and function calls (Names.cpp).
  NodePointer name();
  NodePointer call(const Token &name);
  NodePointer read(const Token &name, const std::vector<NodePointer> &arguments,
                   Kind kind, std::vector<bool> &used, const char *what);
  /// Reduces max and min of any number of arguments to nodes of two operands.
  NodePointer chain(NodePointer node);

  const Token &token() const { return lexer.current(); }
  Token take() {
    Token taken = token();
    lexer.advance();
    return taken;
  }
  [[noreturn]] void fail(size_t offset, const std::string &text) const {
    throw SyntaxError{{offset, text}};
  }
  void report(size_t offset, const std::string &text) {
    formula.problems.push_back({offset, text});
  }
  void expect(const char *sign, const std::string &why);

  NodePointer make(Kind kind, size_t offset, NodePointer first = {},
                   NodePointer second = {}, NodePointer third = {});
  /// Converts a boolean to 1 or 0; returns a number as it is.
  NodePointer asNumber(NodePointer node);
  /// Returns a boolean, or fails if `node` is a number.
  NodePointer asBoolean(NodePointer node);
  NodePointer select(size_t offset, NodePointer condition, NodePointer first,
                     NodePointer second);

  struct Depth {
    explicit Depth(Parser &parser) : parser(parser) {
      // The limit keeps hostile formulas from exhausting the stack.
      constexpr int deepest = 200;
      if (++parser.depth > deepest)
        parser.fail(parser.token().offset, "the expression nests too deeply");
    }
    ~Depth() { --parser.depth; }
    Parser &parser;
  };

  const std::vector<std::string> &bottoms;
  Formula formula;
  Lexer lexer;
  int depth = 0;
  int nodes = 0;
};

} // namespace brew::caffe::expression
