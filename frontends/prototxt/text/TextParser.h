//===- TextParser.h - Prototxt text to protobuf messages --------*- C++ -*-===//
//
// Parses protobuf text format into a message as TextFormat does for Caffe, but
// records the location of every field and goes on after unknown and repeated
// fields, so that one run reports them all. A syntax, type or enum error ends
// the parse, and so does a name that is not UTF-8, which TextFormat takes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/SourceMap.h"
#include "frontends/prototxt/text/TokenStream.h"
#include "frontends/prototxt/text/ValueParser.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace brew::prototxt {

class TextParser {
public:
  /// `text` must outlive the parser and be shorter than 2 GiB. Places go to
  /// `locations`, whose file name the diagnostics carry. `hostTypes` are layer
  /// types that the program computes itself.
  TextParser(const std::string &text, SourceMap &locations,
             Diagnostics &diagnostics, std::set<std::string> hostTypes = {})
      : text(text), locations(locations), diagnostics(diagnostics),
        hostTypes(std::move(hostTypes)) {}

  /// Fills `root`. False if there was any error; what was parsed before the
  /// error that ended the parse is in `root` then.
  bool parse(google::protobuf::Message &root);

  /// Whether the last parse saw the whole text, if not without errors.
  bool reachedEnd() const { return ended; }

private:
  using Message = google::protobuf::Message;
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  /// A message being parsed and how the text opened it.
  struct Frame {
    Message &message;
    const Frame *parent = nullptr;
    std::string name;     ///< the field that holds it; empty for the root
    TextLocation open;    ///< where that field's name stands
    bool recorded = true; ///< false inside a repeated singular field
    /// Names reported as standing in a block that was probably not closed.
    std::set<std::string> strays = {};
    /// Unknown blocks: which diagnostic reports each, and its name.
    std::vector<std::pair<size_t, std::string>> unknownBlocks = {};
  };

  void parseFields(Frame &frame);
  void parseField(Frame &frame);
  void parseValue(Frame &frame, Message &into, const FieldDescriptor &field,
                  TextLocation name, bool recorded);
  void parseBlock(Frame &frame, Message &into, const FieldDescriptor &field,
                  TextLocation name, bool recorded);
  /// False where the field stands in a block that was probably not closed.
  bool reportUnknown(Frame &frame, const std::string &name, TextLocation at);
  void reportMissingRequired(Frame &frame);
  std::string takeExtensionName();

  /// Whether it was a block.
  bool skipAfterName(const std::string &name, int depth);
  void skipBlock(const std::string &name, TextLocation open, int depth);
  void skipScalarOrList(const std::string &name, int depth);
  void checkDepth(int depth);

  /// Takes '}' or '>', whichever closes the block.
  void close(const char *closer, const std::string &name, TextLocation open);
  /// Starts the texts of the diagnostics from `first` on with the layer's name.
  void nameLayer(const Message &layer, size_t first);
  /// Where the type of a layer is unknown, says so instead of guessing what the
  /// blocks mean that such layers have.
  void reportUnknownType(const Frame &frame);
  /// Where the program computes the type, says where its settings stand.
  void hintAtParamStr(const Frame &frame);

  const std::string &text;
  SourceMap &locations;
  Diagnostics &diagnostics;
  const std::set<std::string> hostTypes;
  TokenStream *tokens = nullptr;
  bool ended = false;
};

} // namespace brew::prototxt
