//===- ValueParser.cpp - Parser of scalar field values --------------------===//

#include "frontends/prototxt/text/ValueParser.h"

#include "frontends/prototxt/upgrade/ForkFields.h"
#include "support/InvalidUtf8.h"
#include "support/Suggest.h"

#include <google/protobuf/io/strtod.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <set>

namespace brew::prototxt {

using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Tokenizer = TokenStream::Tokenizer;

namespace {

std::string toLower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string quoted(const std::string &text) { return "'" + text + "'"; }

/// Returns the bytes of a string token, without its quotes, unescaped.
std::string unquote(const std::string &token) {
  std::string out;
  Tokenizer::ParseString(token, &out);
  return out;
}

/// Returns whether the value is the name of a file or folder, or a prefix of
/// such names.
bool namesFile(const FieldDescriptor &field) {
  static const std::set<std::string> fields = {
      "boost_file",  "file_name",        "label_map_file",
      "mean_file",   "meanfile",         "name_size_file",
      "net",         "output_directory", "output_name_prefix",
      "root_folder", "save_file",        "snapshot_prefix",
      "source",      "test_net",         "train_net",
      "weights"};
  return fields.count(field.name()) != 0;
}

/// Finds an enum value by name, ignoring case. Returns null if there is none.
const EnumValueDescriptor *findIgnoringCase(const EnumDescriptor &type,
                                            const std::string &name) {
  for (int i = 0; i < type.value_count(); ++i)
    if (toLower(type.value(i)->name()) == toLower(name))
      return type.value(i);
  return nullptr;
}

} // namespace

void ValueParser::parse(Message &message, const FieldDescriptor &field) {
  const Reflection *r = message.GetReflection();
  const FieldDescriptor *f = &field;
  const bool isRepeated = field.is_repeated();
  switch (field.cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32: {
    auto value = static_cast<int32_t>(
        takeSigned(field, std::numeric_limits<int32_t>::max()));
    isRepeated ? r->AddInt32(&message, f, value)
               : r->SetInt32(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_INT64: {
    int64_t value = takeSigned(field, std::numeric_limits<int64_t>::max());
    isRepeated ? r->AddInt64(&message, f, value)
               : r->SetInt64(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_UINT32: {
    auto value = static_cast<uint32_t>(
        takeUnsigned(field, std::numeric_limits<uint32_t>::max(),
                     tokens.location(), /*isNegative=*/false));
    isRepeated ? r->AddUInt32(&message, f, value)
               : r->SetUInt32(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_UINT64: {
    uint64_t value = takeUnsigned(field, std::numeric_limits<uint64_t>::max(),
                                  tokens.location(), /*isNegative=*/false);
    isRepeated ? r->AddUInt64(&message, f, value)
               : r->SetUInt64(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_FLOAT: {
    float value = google::protobuf::io::SafeDoubleToFloat(takeDouble(field));
    isRepeated ? r->AddFloat(&message, f, value)
               : r->SetFloat(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_DOUBLE: {
    double value = takeDouble(field);
    isRepeated ? r->AddDouble(&message, f, value)
               : r->SetDouble(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_BOOL: {
    bool value = takeBool(field);
    isRepeated ? r->AddBool(&message, f, value)
               : r->SetBool(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_STRING: {
    std::string value = takeString(field);
    isRepeated ? r->AddString(&message, f, std::move(value))
               : r->SetString(&message, f, std::move(value));
    return;
  }
  case FieldDescriptor::CPPTYPE_ENUM: {
    const EnumValueDescriptor *value = takeEnum(field);
    isRepeated ? r->AddEnum(&message, f, value)
               : r->SetEnum(&message, f, value);
    return;
  }
  case FieldDescriptor::CPPTYPE_MESSAGE:
    break; // parsed by the caller
  }
}

void ValueParser::failType(const FieldDescriptor &field,
                           const std::string &expected) {
  tokens.fail(tokens.location(), "expected " + expected + " for " +
                                     quoted(field.name()) + ", found " +
                                     tokens.describe());
}

std::string ValueParser::takeString(const FieldDescriptor &field) {
  if (tokens.type() != Tokenizer::TYPE_STRING) {
    if (tokens.type() == Tokenizer::TYPE_IDENTIFIER)
      tokens.fail(tokens.location(), "expected a quoted string for " +
                                         quoted(field.name()) + ", found " +
                                         tokens.describe() + "; write \"" +
                                         tokens.token().text + "\"");
    failType(field, "a quoted string");
  }
  const TextLocation start = tokens.location();
  std::string value;
  while (tokens.type() == Tokenizer::TYPE_STRING) {
    Tokenizer::ParseStringAppend(tokens.token().text, &value);
    tokens.next();
  }
  requireUtf8(field, value, start);
  return value;
}

void ValueParser::requireUtf8(const FieldDescriptor &field,
                              const std::string &value, TextLocation start) {
  const std::optional<size_t> invalidByte = findInvalidUtf8(value);
  if (!invalidByte || namesFile(field))
    return;
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02X",
                static_cast<unsigned char>(value[*invalidByte]));
  tokens.fail(tokens.locationInValue(start, *invalidByte),
              quoted(field.name()) + " is not UTF-8: it has the byte " + byte +
                  "; is the file in another encoding?");
}

bool ValueParser::takeBool(const FieldDescriptor &field) {
  if (tokens.type() == Tokenizer::TYPE_INTEGER) {
    uint64_t value = 0;
    if (!Tokenizer::ParseInteger(tokens.token().text, 1, &value))
      failType(field, "true or false");
    tokens.next();
    return value != 0;
  }
  const std::string &word = tokens.token().text;
  bool isTrue = word == "true" || word == "True" || word == "t";
  bool isFalse = word == "false" || word == "False" || word == "f";
  if (!isTrue && !isFalse)
    failType(field, "true or false");
  tokens.next();
  return isTrue;
}

const EnumValueDescriptor *ValueParser::takeEnum(const FieldDescriptor &field) {
  TextLocation start = tokens.location();
  const EnumDescriptor &type = *field.enum_type();
  if (tokens.type() == Tokenizer::TYPE_IDENTIFIER) {
    const EnumValueDescriptor *value =
        type.FindValueByName(tokens.token().text);
    if (!value)
      failEnum(field, start, tokens.token().text);
    tokens.next();
    return value;
  }
  if (tokens.at("-") || tokens.type() == Tokenizer::TYPE_INTEGER) {
    int64_t number = takeSigned(field, std::numeric_limits<int32_t>::max());
    const EnumValueDescriptor *value =
        type.FindValueByNumber(static_cast<int>(number));
    if (!value)
      failEnum(field, start, std::to_string(number));
    return value;
  }
  if (tokens.type() == Tokenizer::TYPE_STRING) {
    std::string word = unquote(tokens.token().text);
    // `layers` have V1's types, which are identifiers; `layer` has quoted
    // types. One of the two is a mistake.
    if (type.full_name() == "brew.caffe.V1LayerParameter.LayerType")
      tokens.fail(start,
                  "the type of old-style `layers` is a bare word such as "
                  "CONVOLUTION, found " +
                      tokens.describe() + "; use `layer` for a quoted type");
    if (const EnumValueDescriptor *value = findIgnoringCase(type, word))
      tokens.fail(start, "expected a bare word for " + quoted(field.name()) +
                             ", found " + tokens.describe() + "; write " +
                             value->name() + " without quotes");
    failEnum(field, start, word);
  }
  failType(field, "a value name");
}

void ValueParser::failEnum(const FieldDescriptor &field, TextLocation start,
                           const std::string &found) {
  const EnumDescriptor &type = *field.enum_type();
  std::vector<std::string> names;
  std::string all;
  for (int i = 0; i < type.value_count(); ++i) {
    names.push_back(type.value(i)->name());
    all += (i ? ", " : "") + type.value(i)->name();
  }
  std::string nearest;
  if (const EnumValueDescriptor *value = findIgnoringCase(type, found))
    nearest = value->name();
  else
    nearest = nearestName(found, names);
  std::string message =
      quoted(found) + " is not a value of " + quoted(field.name());
  if (const std::string forks = forksWithValue(type.name(), found);
      !forks.empty())
    message += forkHint(forks);
  else if (!nearest.empty())
    message += "; did you mean " + quoted(nearest) + "?";
  message += " (accepted: " + all + ")";
  tokens.fail(start, message);
}

uint64_t ValueParser::takeUnsigned(const FieldDescriptor &field, uint64_t limit,
                                   TextLocation start, bool isNegative) {
  const bool isUnsigned = field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32 ||
                          field.cpp_type() == FieldDescriptor::CPPTYPE_UINT64;
  if (tokens.type() != Tokenizer::TYPE_INTEGER) {
    if (tokens.type() == Tokenizer::TYPE_FLOAT)
      tokens.fail(start, "expected an integer for " + quoted(field.name()) +
                             ", found the number " + (isNegative ? "-" : "") +
                             tokens.token().text);
    if (isUnsigned && tokens.at("-"))
      tokens.fail(start, quoted(field.name()) + " cannot be negative");
    failType(field, isUnsigned ? "a non-negative integer" : "an integer");
  }
  uint64_t value = 0;
  if (!Tokenizer::ParseInteger(tokens.token().text, limit, &value))
    tokens.fail(start,
                std::string(isNegative ? "-" : "") + tokens.token().text +
                    " is out of range for " + quoted(field.name()) + ", a " +
                    (isUnsigned ? "non-negative " : "") +
                    (limit > std::numeric_limits<uint32_t>::max() ? "64-bit"
                                                                  : "32-bit") +
                    " integer");
  tokens.next();
  return value;
}

int64_t ValueParser::takeSigned(const FieldDescriptor &field, uint64_t limit) {
  TextLocation start = tokens.location();
  bool isNegative = tokens.tryTake("-");
  // Two's complement has one more negative number than positive ones.
  uint64_t magnitude =
      takeUnsigned(field, isNegative ? limit + 1 : limit, start, isNegative);
  return static_cast<int64_t>(isNegative ? ~magnitude + 1 : magnitude);
}

double ValueParser::takeDouble(const FieldDescriptor &field) {
  TextLocation start = tokens.location();
  bool isNegative = tokens.tryTake("-");
  const std::string &word = tokens.token().text;
  double value = 0;
  if (tokens.type() == Tokenizer::TYPE_INTEGER) {
    bool isDecimal = word.size() < 2 || word[0] != '0';
    if (!isDecimal)
      tokens.fail(start, "expected a decimal number for " +
                             quoted(field.name()) + ", found " + word +
                             ", which is hexadecimal or octal");
    uint64_t integer = 0;
    value = Tokenizer::ParseInteger(word, std::numeric_limits<uint64_t>::max(),
                                    &integer)
                ? static_cast<double>(integer)
                : Tokenizer::ParseFloat(word);
  } else if (tokens.type() == Tokenizer::TYPE_FLOAT) {
    value = Tokenizer::ParseFloat(word);
  } else if (tokens.type() == Tokenizer::TYPE_IDENTIFIER &&
             (toLower(word) == "inf" || toLower(word) == "infinity")) {
    value = std::numeric_limits<double>::infinity();
  } else if (tokens.type() == Tokenizer::TYPE_IDENTIFIER &&
             toLower(word) == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    failType(field, "a number");
  }
  tokens.next();
  return isNegative ? -value : value;
}

} // namespace brew::prototxt
