//===- SkippedFields.cpp - Values of fields that Brew lacks ---------------===//

#include "frontends/prototxt/text/TextParser.h"

namespace brew::prototxt {

using Tokenizer = TokenStream::Tokenizer;

static std::string quotedName(const std::string &text) {
  return "'" + text + "'";
}

std::string TextParser::takeExtensionName() {
  std::string name;
  tokens->next();
  while (!tokens->at("]")) {
    if (tokens->type() != Tokenizer::TYPE_IDENTIFIER && !tokens->at(".") &&
        !tokens->at("/"))
      tokens->fail(tokens->location(), "expected ']' after an extension name, "
                                       "found " +
                                           tokens->describe());
    name += tokens->token().text;
    tokens->next();
  }
  tokens->next();
  return name;
}

void TextParser::parseIneffective(const std::string &name,
                                  TextLocation nameLocation) {
  tokens->tryTake(":");
  ineffectiveFields.add(tokens->locate(nameLocation), name,
                        tokens->token().text);
  skipScalarOrList(name, 0);
  if (!tokens->tryTake(";"))
    tokens->tryTake(",");
}

void TextParser::checkDepth(int depth) {
  // Caffe's messages nest a few levels. The limit keeps hostile text from
  // exhausting the stack.
  constexpr int kMaxDepth = 200;
  if (depth > kMaxDepth)
    tokens->fail(tokens->location(), "blocks are nested more than " +
                                         std::to_string(kMaxDepth) + " deep");
}

bool TextParser::skipAfterName(const std::string &name, int depth) {
  const TextLocation open = tokens->location();
  const bool hasColon = tokens->tryTake(":");
  const bool isBlock = tokens->at("{") || tokens->at("<");
  if (isBlock)
    skipBlock(name, open, depth);
  else if (hasColon)
    skipScalarOrList(name, depth);
  else
    tokens->fail(tokens->location(), "expected ':' or '{' after " +
                                         quotedName(name) + ", found " +
                                         tokens->describe());
  if (!tokens->tryTake(";"))
    tokens->tryTake(",");
  return isBlock;
}

void TextParser::skipBlock(const std::string &name, TextLocation open,
                           int depth) {
  checkDepth(depth);
  const char *closer = tokens->at("<") ? ">" : "}";
  tokens->next();
  while (!tokens->atEnd() && !tokens->at("}") && !tokens->at(">")) {
    if (tokens->at("[")) {
      std::string extension = takeExtensionName();
      skipAfterName(extension, depth + 1);
      continue;
    }
    if (tokens->type() != Tokenizer::TYPE_IDENTIFIER)
      tokens->fail(tokens->location(),
                   "expected a field name, found " + tokens->describe());
    const std::string inner = tokens->token().text;
    tokens->next();
    skipAfterName(inner, depth + 1);
  }
  close(closer, name, open);
}

void TextParser::skipScalarOrList(const std::string &name, int depth) {
  checkDepth(depth);
  if (tokens->type() == Tokenizer::TYPE_STRING) {
    while (tokens->type() == Tokenizer::TYPE_STRING)
      tokens->next();
    return;
  }
  if (tokens->tryTake("[")) {
    bool more = !tokens->tryTake("]");
    while (more) {
      if (tokens->at("{") || tokens->at("<"))
        skipBlock(name, tokens->location(), depth + 1);
      else
        skipScalarOrList(name, depth + 1);
      if (tokens->tryTake("]"))
        break;
      if (!tokens->tryTake(","))
        tokens->fail(tokens->location(), "expected ',' or ']' in the list of " +
                                             quotedName(name) + ", found " +
                                             tokens->describe());
    }
    return;
  }
  tokens->tryTake("-");
  if (tokens->type() != Tokenizer::TYPE_INTEGER &&
      tokens->type() != Tokenizer::TYPE_FLOAT &&
      tokens->type() != Tokenizer::TYPE_IDENTIFIER)
    tokens->fail(tokens->location(), "expected a value for " +
                                         quotedName(name) + ", found " +
                                         tokens->describe());
  tokens->next();
}

} // namespace brew::prototxt
