//===- TextParser.h - Parser of prototxt text -------------------*- C++ -*-===//
//
// Parses protobuf text format into a message as TextFormat does for Caffe, but
// stores the location of every field and continues after unknown and repeated
// fields, in order to report them all. A syntax, type or enum error ends the
// parse, and so does a name that is not UTF-8, which TextFormat accepts.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"
#include "frontends/prototxt/text/TokenStream.h"
#include "frontends/prototxt/text/ValueParser.h"
#include "frontends/prototxt/upgrade/IneffectiveFields.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace brew::prototxt {

/// Parses one prototxt.
class TextParser {
public:
  /// `text` must outlive the parser and be shorter than 2 GiB. The locations of
  /// fields are added to `locations`, whose file name is used in diagnostics.
  /// `hostTypes` are layer types that the host program computes.
  TextParser(const std::string &text, SourceMap &locations,
             Diagnostics &diagnostics, std::set<std::string> hostTypes = {})
      : text(text), locations(locations), diagnostics(diagnostics),
        hostTypes(std::move(hostTypes)) {}

  /// Parses the text into `root`. Returns false if there was any error; `root`
  /// then has the fields before the error that ended the parse.
  bool parse(google::protobuf::Message &root);

  /// Returns whether the last parse reached the end of the text, possibly with
  /// errors.
  bool reachedEnd() const { return hasReachedEnd; }

private:
  using Message = google::protobuf::Message;
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  /// A message being parsed.
  struct Frame {
    Message &message;
    const Frame *parent = nullptr;
    std::string name;  ///< the field with the message; empty for the root
    TextLocation open; ///< location of the field's name
    bool recordsLocations = true; ///< false inside a repeated singular field
    /// Fields reported because this block was probably not closed before them.
    std::set<std::string> unclosedFields = {};
    /// Unknown blocks: the index of their diagnostic, and their name.
    std::vector<std::pair<size_t, std::string>> unknownBlocks = {};
  };

  void parseFields(Frame &frame);
  void parseField(Frame &frame);
  void parseValue(Frame &frame, Message &target, const FieldDescriptor &field,
                  TextLocation name, bool recordsLocations);
  void parseBlock(Frame &frame, Message &target, const FieldDescriptor &field,
                  TextLocation name, bool recordsLocations);
  /// Reports an unknown field. Returns false if the field is in a block that
  /// was probably not closed.
  bool reportUnknown(Frame &frame, const std::string &name,
                     TextLocation nameLocation);
  /// Parses the value of a fork's field that has no effect.
  void parseIneffective(const std::string &name, TextLocation nameLocation);
  void reportMissingRequired(Frame &frame);
  std::string takeExtensionName();

  /// Skips a value; returns whether it was a block.
  bool skipAfterName(const std::string &name, int depth);
  void skipBlock(const std::string &name, TextLocation open, int depth);
  void skipScalarOrList(const std::string &name, int depth);
  void checkDepth(int depth);

  /// Takes `closer`, the '}' or '>' that closes the block.
  void close(const char *closer, const std::string &name, TextLocation open);
  /// Prepends the layer's name to the diagnostics from index `firstDiagnostic`
  /// on.
  void prependLayer(const Message &layer, size_t firstDiagnostic);
  /// Returns whether `layer` has a type that neither Brew nor the host program
  /// knows.
  bool hasUnknownType(const Message &layer) const;
  /// Returns whether the frame is inside a layer whose type has been parsed and
  /// is unknown. The settings of such a layer are not checked.
  bool isInUnknownLayer(const Frame &frame) const;
  /// Parses a value, or skips it if it is wrong in a layer of unknown type.
  void parseScalar(Frame &frame, Message &target, const FieldDescriptor &field);
  /// If the type of a layer is unknown, reports this instead of the errors from
  /// index `firstDiagnostic` on, about the layer's fields.
  void replaceErrorsByType(const Frame &frame, size_t firstDiagnostic,
                           bool hasSkippedValues);
  /// If the host program computes the type, adds a hint to use param_str.
  void hintAtParamStr(const Frame &frame);

  const std::string &text;
  SourceMap &locations;
  Diagnostics &diagnostics;
  const std::set<std::string> hostTypes;
  IneffectiveFields ineffectiveFields;
  /// Indices of the errors about a missing '}'.
  std::set<size_t> unclosedErrors;
  /// The number of wrong values that were skipped in layers of unknown type.
  size_t skippedValues = 0;
  TokenStream *tokens = nullptr;
  bool hasReachedEnd = false;
};

} // namespace brew::prototxt
