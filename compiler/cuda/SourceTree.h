//===- SourceTree.h - Syntax tree of CUDA C++ -------------------*- C++ -*-===//
//
// A kernel's code is a tree that is printed twice: as readable text, and as
// canonical text without names and comments. Operators and types are text
// fragments in the tree; constructs that code generation inspects are nodes:
// names, array elements, calls, parentheses.
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

/// An identifier with its readable name and its name in canonical text.
struct Identifier {
  std::string name, canonical;
};

/// Style of printed text: for readers, or for comparison.
enum class TextStyle { Readable, Canonical };

/// An expression or a fragment of one; cheap to copy. `a + " + " + b`
/// concatenates fragments.
class Code {
public:
  /// Empty code.
  Code() = default;
  /// A text fragment between expressions: an operator, a type.
  Code(const char *fragment);
  Code(const std::string &fragment);
  /// A number, or a word of the language or of CUDA: needs no parentheses.
  static Code word(const std::string &text);
  static Code word(int64_t number) { return word(std::to_string(number)); }
  /// A variable or argument; `identifier` must outlive the tree.
  static Code name(const Identifier &identifier);
  static Code element(const Code &array, const Code &index);
  static Code call(const Code &function, llvm::ArrayRef<Code> arguments);
  static Code group(const Code &inner); ///< in parentheses

  bool empty() const { return !node; }
  /// Returns whether the code is a name, a number or another word.
  bool isWord() const;
  bool isZero() const; ///< is the number 0
  bool isCall() const;
  bool isElement() const; ///< is an array element
  /// Returns the code without enclosing parentheses.
  Code bare() const;
  /// Returns whether the code is exactly the name `name`.
  bool isName(const Code &name) const;
  /// Returns the identifier of a name; null for other code.
  const Identifier *identifier() const;
  /// Return whether the code contains the name `name`, or any array element.
  bool reads(const Code &name) const;
  bool readsElement() const;

  void print(std::string &text, TextStyle style) const;
  /// Returns the number of characters.
  size_t width(TextStyle style) const;

  friend Code operator+(const Code &a, const Code &b);
  Code &operator+=(const Code &other) { return *this = *this + other; }

private:
  struct Node;
  explicit Code(std::shared_ptr<const Node> node) : node(std::move(node)) {}

  std::shared_ptr<const Node> node;
};

/// A statement with its nested statements.
struct Statement {
  enum class Kind {
    Line,
    Comment, ///< readable text only
    Block,   ///< `code {`, the body and `}`
    Else,    ///< the alternative of the block before it
  };
  Kind kind = Kind::Line;
  Code code;
  std::vector<Statement> body;
};

/// Builder of a sequence of statements.
class Statements {
public:
  void line(const Code &code);
  void comment(const std::string &text);
  /// Opens a block that contains all statements until close().
  void open(const Code &head);
  /// Closes a block and opens its alternative.
  void openElse(const Code &condition);
  void close();
  void print(std::string &text, TextStyle style) const;

private:
  void add(Statement::Kind kind, const Code &code);

  Statement root;
  /// Path of indices to the innermost open block.
  std::vector<size_t> path;
};

} // namespace brew::compiler::cuda
