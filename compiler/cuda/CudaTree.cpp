//===- CudaTree.cpp - Expressions and statements of CUDA C++ --------------===//
#include "compiler/cuda/CudaTree.h"

#include "llvm/ADT/STLExtras.h"

namespace brew::compiler::cuda {

struct CudaCode::Node {
  enum class Kind { Piece, Word, Name, Element, Call, Group, Join };
  Kind kind;
  std::string text;                   ///< of pieces and words
  const CudaSymbol *symbol = nullptr; ///< of names
  std::vector<CudaCode> parts;
};

CudaCode::CudaCode(const char *piece) : CudaCode(std::string(piece)) {}

CudaCode::CudaCode(const std::string &piece) {
  if (!piece.empty())
    node = std::make_shared<Node>(Node{Node::Kind::Piece, piece, nullptr, {}});
}

CudaCode CudaCode::word(const std::string &text) {
  return CudaCode(
      std::make_shared<Node>(Node{Node::Kind::Word, text, nullptr, {}}));
}

CudaCode CudaCode::name(const CudaSymbol &symbol) {
  return CudaCode(
      std::make_shared<Node>(Node{Node::Kind::Name, "", &symbol, {}}));
}

CudaCode CudaCode::element(const CudaCode &array, const CudaCode &index) {
  return CudaCode(std::make_shared<Node>(
      Node{Node::Kind::Element, "", nullptr, {array, index}}));
}

CudaCode CudaCode::call(const CudaCode &function,
                        llvm::ArrayRef<CudaCode> arguments) {
  Node node{Node::Kind::Call, "", nullptr, {function}};
  node.parts.insert(node.parts.end(), arguments.begin(), arguments.end());
  return CudaCode(std::make_shared<Node>(std::move(node)));
}

CudaCode CudaCode::group(const CudaCode &inner) {
  return CudaCode(
      std::make_shared<Node>(Node{Node::Kind::Group, "", nullptr, {inner}}));
}

CudaCode operator+(const CudaCode &a, const CudaCode &b) {
  using Node = CudaCode::Node;
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  Node node{Node::Kind::Join, "", nullptr, {}};
  for (const CudaCode *code : {&a, &b})
    if (code->node->kind == Node::Kind::Join)
      llvm::append_range(node.parts, code->node->parts);
    else
      node.parts.push_back(*code);
  return CudaCode(std::make_shared<Node>(std::move(node)));
}

bool CudaCode::isWord() const {
  return node &&
         (node->kind == Node::Kind::Word || node->kind == Node::Kind::Name);
}

bool CudaCode::isZero() const {
  return node && node->kind == Node::Kind::Word && node->text == "0";
}

bool CudaCode::isElement() const {
  return node && node->kind == Node::Kind::Element;
}

bool CudaCode::isCall() const { return node && node->kind == Node::Kind::Call; }

CudaCode CudaCode::bare() const {
  return node && node->kind == Node::Kind::Group ? node->parts[0] : *this;
}

bool CudaCode::isName(const CudaCode &name) const {
  return symbol() && symbol() == name.symbol();
}

const CudaSymbol *CudaCode::symbol() const {
  return node ? node->symbol : nullptr;
}

bool CudaCode::reads(const CudaCode &name) const {
  // Of an array any element may be meant.
  if (name.isElement())
    return reads(name.node->parts[0]);
  return node && (isName(name) || llvm::any_of(node->parts, [&](auto &part) {
                    return part.reads(name);
                  }));
}

bool CudaCode::readsElement() const {
  return node && (node->kind == Node::Kind::Element ||
                  llvm::any_of(node->parts, [](const CudaCode &part) {
                    return part.readsElement();
                  }));
}

void CudaCode::print(std::string &text, CudaStyle style) const {
  if (!node)
    return;
  switch (node->kind) {
  case Node::Kind::Piece:
  case Node::Kind::Word:
    text += node->text;
    return;
  case Node::Kind::Name:
    text +=
        style == CudaStyle::Named ? node->symbol->name : node->symbol->plain;
    return;
  case Node::Kind::Element:
    node->parts[0].print(text, style);
    text += '[';
    node->parts[1].print(text, style);
    text += ']';
    return;
  case Node::Kind::Call:
    node->parts[0].print(text, style);
    text += '(';
    for (auto [i, argument] :
         llvm::enumerate(llvm::ArrayRef(node->parts).drop_front())) {
      text += i ? ", " : "";
      argument.print(text, style);
    }
    text += ')';
    return;
  case Node::Kind::Group:
    text += '(';
    node->parts[0].print(text, style);
    text += ')';
    return;
  case Node::Kind::Join:
    for (const CudaCode &part : node->parts)
      part.print(text, style);
    return;
  }
}

size_t CudaCode::width(CudaStyle style) const {
  std::string text;
  print(text, style);
  return text.size();
}

void CudaStatements::add(CudaStatement::Kind kind, const CudaCode &code) {
  CudaStatement *block = &root;
  for (size_t position : path)
    block = &block->body[position];
  block->body.push_back({kind, code, {}});
  if (kind == CudaStatement::Kind::Block || kind == CudaStatement::Kind::Else)
    path.push_back(block->body.size() - 1);
}

void CudaStatements::line(const CudaCode &code) {
  add(CudaStatement::Kind::Line, code);
}

void CudaStatements::comment(const std::string &text) {
  add(CudaStatement::Kind::Comment, text);
}

void CudaStatements::open(const CudaCode &head) {
  add(CudaStatement::Kind::Block, head);
}

void CudaStatements::openElse(const CudaCode &condition) {
  close();
  add(CudaStatement::Kind::Else, condition);
}

void CudaStatements::close() { path.pop_back(); }

static void printBody(const std::vector<CudaStatement> &body, unsigned depth,
                      std::string &text, CudaStyle style) {
  using Kind = CudaStatement::Kind;
  const std::string indent(2 * depth, ' ');
  for (const auto &[i, statement] : llvm::enumerate(body)) {
    if (statement.kind == Kind::Comment && style == CudaStyle::Plain)
      continue;
    text += indent;
    if (statement.kind == Kind::Comment)
      text += "// ";
    if (statement.kind == Kind::Else)
      text += statement.code.empty() ? "} else" : "} else ";
    statement.code.print(text, style);
    if (statement.kind != Kind::Block && statement.kind != Kind::Else) {
      text += '\n';
      continue;
    }
    text += " {\n";
    printBody(statement.body, depth + 1, text, style);
    if (i + 1 == body.size() || body[i + 1].kind != Kind::Else)
      text += indent + "}\n";
  }
}

void CudaStatements::print(std::string &text, CudaStyle style) const {
  printBody(root.body, 1, text, style);
}

} // namespace brew::compiler::cuda
