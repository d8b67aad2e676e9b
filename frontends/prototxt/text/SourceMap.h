//===- SourceMap.h - Where each protobuf field stands in the text ---------===//
//
// Protobuf messages know nothing of the text they came from. A SourceMap keeps,
// for every message object of one file, the location of each field occurrence.
// It is keyed by message address, so it holds as long as the messages stay
// where they are: a repeated field may be reordered or filtered by pointer, but
// a copied message is unknown until copy() tells about it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/Diagnostic.h"

#include <google/protobuf/message.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace brew::prototxt {

/// A line and column (1-based) within the file of a SourceMap.
struct TextLocation {
  int line = 0;
  int column = 0;
};

/// One occurrence of a field: where its name and its value begin.
struct FieldLocation {
  TextLocation name;
  TextLocation value;
};

class SourceMap {
public:
  using Message = google::protobuf::Message;

  /// `folder` is that of the file, for the files that it names.
  explicit SourceMap(std::string file, std::string folder = {})
      : fileName(std::move(file)), folderName(std::move(folder)) {}

  const std::string &file() const { return fileName; }
  const std::string &folder() const { return folderName; }

  /// The start of a (sub-)message: for a layer the location of the word
  /// `layer`. A message that the text never had answers with line 1, column 1.
  SourceLocation where(const Message &message) const;

  /// The name of the index-th occurrence of `field`. A field that the text does
  /// not have (a default) answers with the start of its message, so the result
  /// can always be shown.
  SourceLocation where(const Message &message, const std::string &field,
                       int index = 0) const;

  /// The value of the index-th occurrence of `field`; falls back as where().
  SourceLocation whereValue(const Message &message, const std::string &field,
                            int index = 0) const;

  /// A byte of the value of a string field, which may be written in several
  /// quoted pieces and with escapes; at its end, the closing quote. Falls back
  /// as whereValue().
  SourceLocation whereInString(const Message &message, const std::string &field,
                               size_t offset) const;

  /// The occurrence itself, or null if the text does not have it.
  const FieldLocation *find(const Message &message, const std::string &field,
                            int index = 0) const;

  /// The file's content, which whereInString() looks at.
  void setText(std::string content) { text = std::move(content); }
  void setStart(const Message &message, TextLocation start);
  void addField(const Message &message, int number, FieldLocation location);
  /// Notes a field that the text has, but `message` has no place for.
  void addUnknown(const Message &message, const std::string &name);
  /// The names of those, in order.
  const std::vector<std::string> &unknownFields(const Message &message) const;

  /// Gives `to` and its sub-messages the locations of `from`. Both have the
  /// same type and equal contents (a copy).
  void copy(const Message &from, const Message &to);

  /// Gives occurrence `toIndex` of `toField` the location of an occurrence in
  /// another message; without one there, the start of `from`. Used where an old
  /// form is rewritten. Indices must be added in ascending order.
  void copyField(const Message &from, const std::string &fromField,
                 int fromIndex, const Message &to, const std::string &toField);

private:
  struct Node {
    TextLocation start;
    /// Places by field number; few fields per message, so a plain list.
    std::vector<std::pair<int, std::vector<FieldLocation>>> fields;
    std::vector<std::string> unknown;

    std::vector<FieldLocation> &locations(int number);
    const std::vector<FieldLocation> *find(int number) const;
  };

  SourceLocation at(TextLocation location) const;

  std::string fileName;
  std::string folderName;
  std::string text;
  std::unordered_map<const Message *, Node> nodes;
};

} // namespace brew::prototxt
