//===- TextParser.cpp - Parser of prototxt text ---------------------------===//

#include "frontends/prototxt/text/TextParser.h"

#include "formats/caffe.pb.h"
#include "frontends/prototxt/check/LayerKinds.h"
#include "frontends/prototxt/check/UnknownTypes.h"
#include "frontends/prototxt/text/FieldAliases.h"
#include "frontends/prototxt/text/FieldHints.h"
#include "support/Suggest.h"

#include <google/protobuf/descriptor.h>

#include <memory>
#include <string_view>

namespace brew::prototxt {

using google::protobuf::Descriptor;
using google::protobuf::Reflection;
using Tokenizer = TokenStream::Tokenizer;

namespace {

std::string inQuotes(const std::string &text) { return "'" + text + "'"; }

bool isSettingsName(const std::string &field) {
  const std::string_view suffix = "_param";
  return field.size() > suffix.size() &&
         field.compare(field.size() - suffix.size(), suffix.size(), suffix) ==
             0;
}

bool isLayer(const google::protobuf::Message &message) {
  const Descriptor *type = message.GetDescriptor();
  return type == caffe::LayerParameter::descriptor() ||
         type == caffe::V1LayerParameter::descriptor();
}

/// Returns "layer 'conv1' (Convolution): ", or "" before the layer's name has
/// been parsed.
LayerText layerPrefix(const google::protobuf::Message &layer) {
  std::string name, type;
  if (auto *current = dynamic_cast<const caffe::LayerParameter *>(&layer)) {
    name = current->name();
    type = current->type();
  } else if (auto *v1 = dynamic_cast<const caffe::V1LayerParameter *>(&layer)) {
    name = v1->has_layer() ? v1->layer().name() : v1->name();
    if (v1->has_layer())
      type = v1->layer().type();
    else if (v1->has_type())
      type = caffe::V1LayerParameter::LayerType_Name(v1->type());
  }
  if (name.empty())
    return {};
  return {name, type};
}

} // namespace

bool TextParser::parse(Message &root) {
  const size_t errorsBefore = diagnostics.errorCount();
  hasReachedEnd = false;
  if (byteOrderMarkLength(text))
    diagnostics.warning({locations.file(), 1, 1},
                        "the file begins with a UTF-8 byte order mark, which "
                        "Caffe itself does not accept");
  try {
    TokenStream stream(text, locations.file(), &diagnostics);
    tokens = &stream;
    Frame frame{root, nullptr, "", {1, 1}};
    locations.setStart(root, frame.open);
    parseFields(frame);
    if (!stream.atEnd())
      stream.fail(stream.location(), "unexpected " + stream.describe() +
                                         ": there is no open block to close");
    reportMissingRequired(frame);
    hasReachedEnd = true;
  } catch (const ParseStop &) {
    // The diagnostic has been added.
  }
  tokens = nullptr;
  ineffectiveFields.report(diagnostics);
  return diagnostics.errorCount() == errorsBefore;
}

void TextParser::parseFields(Frame &frame) {
  while (!tokens->atEnd() && !tokens->at("}") && !tokens->at(">"))
    parseField(frame);
}

void TextParser::parseField(Frame &frame) {
  const TextLocation nameLocation = tokens->location();
  if (tokens->at("[")) {
    std::string extension = takeExtensionName();
    diagnostics.error(tokens->locate(nameLocation),
                      "unknown extension [" + extension + "]");
    skipAfterName(extension, 0);
    return;
  }
  if (tokens->type() != Tokenizer::TYPE_IDENTIFIER)
    tokens->fail(nameLocation,
                 "expected a field name, found " + tokens->describe());
  const std::string name = currentFieldName(
      frame.message.GetDescriptor()->name(), tokens->token().text);
  tokens->next();

  const FieldDescriptor *field =
      frame.message.GetDescriptor()->FindFieldByName(name);
  if (!field) {
    if (!tokens->at(":") && !tokens->at("{") && !tokens->at("<"))
      tokens->fail(tokens->location(), "expected ':' or '{' after " +
                                           inQuotes(name) + ", found " +
                                           tokens->describe());
    if (tokens->at(":") &&
        isIneffectiveField(frame.message.GetDescriptor()->name(), name)) {
      parseIneffective(name, nameLocation);
      return;
    }
    const size_t diagnosticIndex = diagnostics.size();
    const bool isHere = reportUnknown(frame, name, nameLocation);
    if (skipAfterName(name, 0) && isHere)
      frame.unknownBlocks.emplace_back(diagnosticIndex, name);
    return;
  }

  // A second occurrence of a singular field is an error. It is parsed into a
  // temporary message in order to report other errors in it.
  std::unique_ptr<Message> scratch;
  Message *target = &frame.message;
  const Reflection *reflection = frame.message.GetReflection();
  auto isRepetition = [&] {
    return !field->is_repeated() && reflection->HasField(frame.message, field);
  };
  if (isRepetition())
    if (const auto *further = frame.message.GetDescriptor()->FindFieldByName(
            fieldForRepetitions(frame.message.GetDescriptor()->name(), name)))
      field = further;
  if (isRepetition()) {
    diagnostics
        .error(tokens->locate(nameLocation),
               inQuotes(name) + " is given more than once")
        .note(locations.where(frame.message, name), "it was first given here");
    scratch.reset(frame.message.New());
    target = scratch.get();
  }
  parseValue(frame, *target, *field, nameLocation,
             frame.recordsLocations && !scratch);
}

void TextParser::parseValue(Frame &frame, Message &target,
                            const FieldDescriptor &field, TextLocation name,
                            bool recordsLocations) {
  const bool isBlock = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  auto isAtBlock = [&] { return tokens->at("{") || tokens->at("<"); };
  if (!isBlock && isAtBlock() && isInUnknownLayer(frame)) {
    ++skippedValues;
    skipAfterName(field.name(), 0);
    return;
  }
  if (!tokens->tryTake(":") && !isBlock) {
    if (isAtBlock())
      tokens->fail(tokens->location(),
                   inQuotes(field.name()) +
                       " is a single value, not a block: expected ':', found " +
                       tokens->describe());
    tokens->fail(tokens->location(), "expected ':' after " +
                                         inQuotes(field.name()) + ", found " +
                                         tokens->describe());
  }
  auto parseOne = [&] {
    if (isBlock && !isAtBlock() && isInUnknownLayer(frame)) {
      ++skippedValues;
      skipScalarOrList(field.name(), 0);
      return;
    }
    if (isBlock) {
      parseBlock(frame, target, field, name, recordsLocations);
      return;
    }
    const TextLocation value = tokens->location();
    if (field.enum_type() && tokens->type() == Tokenizer::TYPE_IDENTIFIER &&
        isIneffectiveValue(field.enum_type()->name(), tokens->token().text)) {
      ineffectiveFields.add(tokens->locate(name),
                            field.name() + ": " + tokens->token().text, "");
      tokens->next();
      return;
    }
    parseScalar(frame, target, field);
    if (recordsLocations)
      locations.addField(target, field.number(), {name, value});
  };

  if (field.is_repeated() && tokens->at("[")) {
    const TextLocation open = tokens->location();
    tokens->next();
    bool more = !tokens->tryTake("]");
    while (more) {
      parseOne();
      if (tokens->tryTake("]"))
        break;
      if (!tokens->at(","))
        tokens->fail(tokens->location(),
                     "expected ',' or ']' in the list of " +
                         inQuotes(field.name()) + ", found " +
                         tokens->describe(),
                     {{tokens->locate(open), "the list begins here"}});
      tokens->next();
    }
  } else {
    parseOne();
  }
  if (!tokens->tryTake(";"))
    tokens->tryTake(",");
}

void TextParser::parseBlock(Frame &frame, Message &target,
                            const FieldDescriptor &field, TextLocation name,
                            bool recordsLocations) {
  const TextLocation brace = tokens->location();
  const bool isAngleBracket = tokens->at("<");
  if (!isAngleBracket && !tokens->at("{"))
    tokens->fail(brace, "expected '{' after " + inQuotes(field.name()) +
                            ", found " + tokens->describe());
  tokens->next();

  const Reflection *reflection = target.GetReflection();
  Message *child = field.is_repeated()
                       ? reflection->AddMessage(&target, &field)
                       : reflection->MutableMessage(&target, &field);
  if (recordsLocations) {
    locations.addField(target, field.number(), {name, brace});
    locations.setStart(*child, name);
  }
  Frame inner{*child, &frame, field.name(), name, recordsLocations};
  const size_t firstDiagnostic = diagnostics.size();
  const size_t skippedBefore = skippedValues;
  try {
    parseFields(inner);
    close(isAngleBracket ? ">" : "}", field.name(), name);
    reportMissingRequired(inner);
  } catch (const ParseStop &) {
    if (isLayer(*child))
      prependLayer(*child, firstDiagnostic);
    throw;
  }
  if (isLayer(*child)) {
    prependLayer(*child, firstDiagnostic);
    if (hasUnknownType(*child))
      replaceErrorsByType(inner, firstDiagnostic,
                          skippedValues != skippedBefore);
    else
      hintAtParamStr(inner);
  }
}

void TextParser::close(const char *closer, const std::string &name,
                       TextLocation open) {
  if (tokens->tryTake(closer))
    return;
  tokens->fail(tokens->location(),
               std::string("expected '") + closer + "' to close " +
                   inQuotes(name) + ", found " + tokens->describe(),
               {{tokens->locate(open), inQuotes(name) + " begins here"}});
}

bool TextParser::reportUnknown(Frame &frame, const std::string &name,
                               TextLocation nameLocation) {
  locations.addUnknown(frame.message, name);
  // A layer inside a layer probably means that a '}' before it is missing. Then
  // all later layers are also inside that layer, and one error is sufficient.
  const bool opensBlock = tokens->at("{") || tokens->at("<");
  for (const Frame *outer = frame.parent; opensBlock && outer;
       outer = outer->parent) {
    const Descriptor *type = outer->message.GetDescriptor();
    if (type != caffe::NetParameter::descriptor() ||
        !type->FindFieldByName(name))
      continue;
    if (!frame.unclosedFields.insert(name).second)
      return false;
    unclosedErrors.insert(diagnostics.size());
    diagnostics
        .error(tokens->locate(nameLocation),
               "unknown field " + inQuotes(name) + " in " + frame.name +
                   "; is a '}' missing before it?")
        .note(tokens->locate(frame.open),
              inQuotes(frame.name) + " begins here");
    return false;
  }
  std::vector<const Descriptor *> enclosing;
  for (const Frame *outer = frame.parent; outer; outer = outer->parent)
    enclosing.push_back(outer->message.GetDescriptor());
  const Descriptor &type = *frame.message.GetDescriptor();
  diagnostics.error(tokens->locate(nameLocation),
                    "unknown field " + inQuotes(name) + " in " +
                        (frame.name.empty() ? rootName(type) : frame.name) +
                        unknownFieldHint(type, enclosing, name));
  return true;
}

void TextParser::reportMissingRequired(Frame &frame) {
  const Descriptor *type = frame.message.GetDescriptor();
  const Reflection *reflection = frame.message.GetReflection();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor *field = type->field(i);
    if (field->is_required() && !reflection->HasField(frame.message, field))
      diagnostics.error(tokens->locate(frame.open),
                        inQuotes(frame.name) + " needs " +
                            inQuotes(field->name()));
  }
}

void TextParser::prependLayer(const Message &layer, size_t firstDiagnostic) {
  const LayerText prefix = layerPrefix(layer);
  for (size_t i = firstDiagnostic; i < diagnostics.size(); ++i) {
    Diagnostic &diagnostic = diagnostics.at(i);
    diagnostic.text = prefix.text + diagnostic.text;
    diagnostic.layer = prefix.layer;
  }
}

bool TextParser::hasUnknownType(const Message &message) const {
  const auto *layer = dynamic_cast<const caffe::LayerParameter *>(&message);
  return layer && !layer->type().empty() && !findLayerKind(layer->type()) &&
         !hostTypes.count(layer->type());
}

bool TextParser::isInUnknownLayer(const Frame &frame) const {
  for (const Frame *outer = frame.parent; outer; outer = outer->parent)
    if (hasUnknownType(outer->message))
      return true;
  return false;
}

void TextParser::parseScalar(Frame &frame, Message &target,
                             const FieldDescriptor &field) {
  const TextLocation start = tokens->location();
  const size_t diagnosticsBefore = diagnostics.size();
  try {
    ValueParser(*tokens).parse(target, field);
  } catch (const ParseStop &) {
    if (!isInUnknownLayer(frame))
      throw;
    while (diagnostics.size() > diagnosticsBefore)
      diagnostics.erase(diagnostics.size() - 1);
    ++skippedValues;
    const TextLocation now = tokens->location();
    if (now.line == start.line && now.column == start.column)
      skipScalarOrList(field.name(), 0);
  }
}

void TextParser::replaceErrorsByType(const Frame &frame, size_t firstDiagnostic,
                                     bool hasSkippedValues) {
  bool hasErased = hasSkippedValues;
  // Iterate in reverse order, since erasing changes the indices of later
  // diagnostics.
  for (size_t i = diagnostics.size(); i-- > firstDiagnostic;) {
    if (diagnostics.at(i).severity != Severity::Error ||
        unclosedErrors.count(i))
      continue;
    diagnostics.erase(i);
    hasErased = true;
  }
  unclosedErrors.erase(unclosedErrors.lower_bound(firstDiagnostic),
                       unclosedErrors.end());
  if (hasErased)
    reportUnknownType(static_cast<const caffe::LayerParameter &>(frame.message),
                      locations, diagnostics);
}

void TextParser::hintAtParamStr(const Frame &frame) {
  const auto *layer =
      dynamic_cast<const caffe::LayerParameter *>(&frame.message);
  if (!layer || !hostTypes.count(layer->type()) || findLayerKind(layer->type()))
    return;
  const LayerText prefix = layerPrefix(frame.message);
  const std::vector<std::string> knownBlocks = {"python_param"};
  for (const auto &[diagnosticIndex, block] : frame.unknownBlocks)
    if (isSettingsName(block) && nearestName(block, knownBlocks).empty())
      diagnostics.at(diagnosticIndex).text =
          prefix.text + "unknown field " + inQuotes(block) + " in " +
          frame.name +
          "; a layer that the program computes has settings of its own in "
          "python_param { param_str: \"...\" }";
}

} // namespace brew::prototxt
