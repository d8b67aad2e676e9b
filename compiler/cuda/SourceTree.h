//===- SourceTree.h - Expressions and statements of CUDA C++ ------*- C++ -*-===//
//
// A kernel's code is a tree until it is printed, once for readers and once
// without names and comments. Operators and types are pieces of text in it;
// what code generation asks about is a node of its own: names, elements of
// arrays, calls, parentheses.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace brew::compiler::cuda {

/// An identifier of the text: what readers see, and what it is called where the
/// text is to be free of names.
struct Identifier {
  std::string name, canonical;
};

/// Whether a text is for readers, or to be compared.
enum class TextStyle { Readable, Canonical };

/// An expression, or a part of one; cheap to copy. `a + " + " + b` joins parts.
class Code {
public:
  /// Nothing at all.
  Code() = default;
  /// A piece of text between expressions: an operator, a type.
  Code(const char *piece);
  Code(const std::string &piece);
  /// A number, a word of the language or of CUDA: needs no parentheses.
  static Code word(const std::string &text);
  static Code word(int64_t number) { return word(std::to_string(number)); }
  /// A variable or argument; `identifier` outlives the tree.
  static Code name(const Identifier &identifier);
  static Code element(const Code &array, const Code &index);
  static Code call(const Code &function,
                       llvm::ArrayRef<Code> arguments);
  static Code group(const Code &inner); ///< in parentheses

  bool empty() const { return !node; }
  /// A name, a number or another word.
  bool isWord() const;
  bool isZero() const; ///< the number 0
  bool isCall() const;
  bool isElement() const; ///< of an array
  /// Without parentheses around all of it.
  Code bare() const;
  /// Whether it is no more than that name.
  bool isName(const Code &name) const;
  /// What a name stands for; null if it is no name.
  const Identifier *identifier() const;
  /// Whether that name, or an element of any array, is part of it.
  bool reads(const Code &name) const;
  bool readsElement() const;

  void print(std::string &text, TextStyle style) const;
  /// Characters that it takes.
  size_t width(TextStyle style) const;

  friend Code operator+(const Code &a, const Code &b);
  Code &operator+=(const Code &other) { return *this = *this + other; }

private:
  struct Node;
  explicit Code(std::shared_ptr<const Node> node) : node(std::move(node)) {}

  std::shared_ptr<const Node> node;
};

/// A statement with what it contains.
struct Statement {
  enum class Kind {
    Line,
    Comment, ///< for readers only
    Block,   ///< `code {`, the body and `}`
    Else,    ///< a block that continues the one before it
  };
  Kind kind = Kind::Line;
  Code code;
  std::vector<Statement> body;
};

/// A sequence of statements in the making.
class Statements {
public:
  void line(const Code &code);
  void comment(const std::string &text);
  /// Statements belong to the block until close().
  void open(const Code &head);
  /// Closes a block and opens one that is its alternative.
  void openElse(const Code &condition);
  void close();
  void print(std::string &text, TextStyle style) const;

private:
  void add(Statement::Kind kind, const Code &code);

  Statement root;
  /// Positions of the open blocks in one another.
  std::vector<size_t> path;
};

} // namespace brew::compiler::cuda
