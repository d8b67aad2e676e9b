//===- CudaTree.h - Expressions and statements of CUDA C++ ------*- C++ -*-===//
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
struct CudaSymbol {
  std::string name, plain;
};

/// Whether a text is for readers, or to be compared.
enum class CudaStyle { Named, Plain };

/// An expression, or a part of one; cheap to copy. `a + " + " + b` joins parts.
class CudaCode {
public:
  /// Nothing at all.
  CudaCode() = default;
  /// A piece of text between expressions: an operator, a type.
  CudaCode(const char *piece);
  CudaCode(const std::string &piece);
  /// A number, a word of the language or of CUDA: needs no parentheses.
  static CudaCode word(const std::string &text);
  static CudaCode word(int64_t number) { return word(std::to_string(number)); }
  /// A variable or argument; `symbol` outlives the tree.
  static CudaCode name(const CudaSymbol &symbol);
  static CudaCode element(const CudaCode &array, const CudaCode &index);
  static CudaCode call(const CudaCode &function,
                       llvm::ArrayRef<CudaCode> arguments);
  static CudaCode group(const CudaCode &inner); ///< in parentheses

  bool empty() const { return !node; }
  /// A name, a number or another word.
  bool isWord() const;
  bool isZero() const; ///< the number 0
  bool isCall() const;
  bool isElement() const; ///< of an array
  /// Without parentheses around all of it.
  CudaCode bare() const;
  /// Whether it is no more than that name.
  bool isName(const CudaCode &name) const;
  /// What a name stands for; null if it is no name.
  const CudaSymbol *symbol() const;
  /// Whether that name, or an element of any array, is part of it.
  bool reads(const CudaCode &name) const;
  bool readsElement() const;

  void print(std::string &text, CudaStyle style) const;
  /// Characters that it takes.
  size_t width(CudaStyle style) const;

  friend CudaCode operator+(const CudaCode &a, const CudaCode &b);
  CudaCode &operator+=(const CudaCode &other) { return *this = *this + other; }

private:
  struct Node;
  explicit CudaCode(std::shared_ptr<const Node> node) : node(std::move(node)) {}

  std::shared_ptr<const Node> node;
};

/// A statement with what it contains.
struct CudaStatement {
  enum class Kind {
    Line,
    Comment, ///< for readers only
    Block,   ///< `code {`, the body and `}`
    Else,    ///< a block that continues the one before it
  };
  Kind kind = Kind::Line;
  CudaCode code;
  std::vector<CudaStatement> body;
};

/// A sequence of statements in the making.
class CudaStatements {
public:
  void line(const CudaCode &code);
  void comment(const std::string &text);
  /// Statements belong to the block until close().
  void open(const CudaCode &head);
  /// Closes a block and opens one that is its alternative.
  void openElse(const CudaCode &condition);
  void close();
  void print(std::string &text, CudaStyle style) const;

private:
  void add(CudaStatement::Kind kind, const CudaCode &code);

  CudaStatement root;
  /// Positions of the open blocks in one another.
  std::vector<size_t> path;
};

} // namespace brew::compiler::cuda
