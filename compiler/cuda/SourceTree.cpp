//===- SourceTree.cpp - Syntax tree of CUDA -------------------------------===//
#include "compiler/cuda/SourceTree.h"

#include "llvm/ADT/STLExtras.h"

namespace brew::compiler::cuda {

struct Code::Node {
  enum class Kind { Fragment, Word, Name, Element, Call, Group, Concatenation };
  Kind kind;
  std::string text;                       ///< of fragments and words
  const Identifier *identifier = nullptr; ///< of names
  std::vector<Code> parts;
};

Code::Code(const char *fragment) : Code(std::string(fragment)) {}

Code::Code(const std::string &fragment) {
  if (!fragment.empty())
    node = std::make_shared<Node>(
        Node{Node::Kind::Fragment, fragment, nullptr, {}});
}

Code Code::word(const std::string &text) {
  return Code(
      std::make_shared<Node>(Node{Node::Kind::Word, text, nullptr, {}}));
}

Code Code::name(const Identifier &identifier) {
  return Code(
      std::make_shared<Node>(Node{Node::Kind::Name, "", &identifier, {}}));
}

Code Code::element(const Code &array, const Code &index) {
  return Code(std::make_shared<Node>(
      Node{Node::Kind::Element, "", nullptr, {array, index}}));
}

Code Code::call(const Code &function, llvm::ArrayRef<Code> arguments) {
  Node node{Node::Kind::Call, "", nullptr, {function}};
  node.parts.insert(node.parts.end(), arguments.begin(), arguments.end());
  return Code(std::make_shared<Node>(std::move(node)));
}

Code Code::group(const Code &inner) {
  return Code(
      std::make_shared<Node>(Node{Node::Kind::Group, "", nullptr, {inner}}));
}

Code operator+(const Code &a, const Code &b) {
  using Node = Code::Node;
  if (a.empty() || b.empty())
    return a.empty() ? b : a;
  Node node{Node::Kind::Concatenation, "", nullptr, {}};
  for (const Code *code : {&a, &b})
    if (code->node->kind == Node::Kind::Concatenation)
      llvm::append_range(node.parts, code->node->parts);
    else
      node.parts.push_back(*code);
  return Code(std::make_shared<Node>(std::move(node)));
}

bool Code::isWord() const {
  return node &&
         (node->kind == Node::Kind::Word || node->kind == Node::Kind::Name);
}

bool Code::isZero() const {
  return node && node->kind == Node::Kind::Word && node->text == "0";
}

bool Code::isElement() const {
  return node && node->kind == Node::Kind::Element;
}

bool Code::isCall() const { return node && node->kind == Node::Kind::Call; }

Code Code::bare() const {
  return node && node->kind == Node::Kind::Group ? node->parts[0] : *this;
}

bool Code::isName(const Code &name) const {
  return identifier() && identifier() == name.identifier();
}

const Identifier *Code::identifier() const {
  return node ? node->identifier : nullptr;
}

bool Code::reads(const Code &name) const {
  // Any element of the array may alias.
  if (name.isElement())
    return reads(name.node->parts[0]);
  return node && (isName(name) || llvm::any_of(node->parts, [&](auto &part) {
                    return part.reads(name);
                  }));
}

bool Code::readsElement() const {
  return node && (node->kind == Node::Kind::Element ||
                  llvm::any_of(node->parts, [](const Code &part) {
                    return part.readsElement();
                  }));
}

void Code::print(std::string &text, TextStyle style) const {
  if (!node)
    return;
  switch (node->kind) {
  case Node::Kind::Fragment:
  case Node::Kind::Word:
    text += node->text;
    return;
  case Node::Kind::Name:
    text += style == TextStyle::Readable ? node->identifier->name
                                         : node->identifier->canonical;
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
  case Node::Kind::Concatenation:
    for (const Code &part : node->parts)
      part.print(text, style);
    return;
  }
}

size_t Code::width(TextStyle style) const {
  std::string text;
  print(text, style);
  return text.size();
}

void Statements::add(Statement::Kind kind, const Code &code) {
  Statement *block = &root;
  for (size_t position : path)
    block = &block->body[position];
  block->body.push_back({kind, code, {}});
  if (kind == Statement::Kind::Block || kind == Statement::Kind::Else)
    path.push_back(block->body.size() - 1);
}

void Statements::line(const Code &code) { add(Statement::Kind::Line, code); }

void Statements::comment(const std::string &text) {
  add(Statement::Kind::Comment, text);
}

void Statements::open(const Code &head) { add(Statement::Kind::Block, head); }

void Statements::openElse(const Code &condition) {
  close();
  add(Statement::Kind::Else, condition);
}

void Statements::close() { path.pop_back(); }

static void printBody(const std::vector<Statement> &body, unsigned depth,
                      std::string &text, TextStyle style) {
  using Kind = Statement::Kind;
  const std::string indent(2 * depth, ' ');
  for (const auto &[i, statement] : llvm::enumerate(body)) {
    if (statement.kind == Kind::Comment && style == TextStyle::Canonical)
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

void Statements::print(std::string &text, TextStyle style) const {
  printBody(root.body, 1, text, style);
}

} // namespace brew::compiler::cuda
