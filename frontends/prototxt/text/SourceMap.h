//===- SourceMap.h - Locations of protobuf fields in the text ---*- C++ -*-===//
//
// Protobuf messages do not store locations. A SourceMap stores, for every
// message object of one file, the location of each field occurrence. Its keys
// are message addresses, so it is valid as long as the messages do not move: a
// repeated field may be reordered or filtered by pointer, but a copied message
// has no locations until copy() is called for it.
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

/// The locations of an occurrence of a field: the start of its name and value.
struct FieldLocation {
  TextLocation name;
  TextLocation value;
};

/// The locations of the messages and fields of one file.
class SourceMap {
public:
  using Message = google::protobuf::Message;

  /// `folder` is the folder of the file, for the lookup of files that it names.
  explicit SourceMap(std::string file, std::string folder = {})
      : fileName(std::move(file)), folderName(std::move(folder)) {}

  const std::string &file() const { return fileName; }
  const std::string &folder() const { return folderName; }

  /// Returns the start of a (sub-)message: for a layer, the location of the
  /// word `layer`. For a message that is not in the text, returns line 1,
  /// column 1.
  SourceLocation where(const Message &message) const;

  /// Returns the location of the name of the index-th occurrence of `field`.
  /// For a field that is not in the text (a default), returns the start of its
  /// message, so the result can always be shown.
  SourceLocation where(const Message &message, const std::string &field,
                       int index = 0) const;

  /// Returns the location of the value of the index-th occurrence of `field`;
  /// falls back as where() does.
  SourceLocation whereValue(const Message &message, const std::string &field,
                            int index = 0) const;

  /// Returns the location of a byte of the value of a string field, which may
  /// be written in several quoted pieces and with escapes. The location of the
  /// end of the value is the closing quote. Falls back as whereValue() does.
  SourceLocation whereInString(const Message &message, const std::string &field,
                               size_t offset) const;

  /// Returns the locations of an occurrence, or null if it is not in the text.
  const FieldLocation *find(const Message &message, const std::string &field,
                            int index = 0) const;

  /// Sets the file's content, which whereInString() needs.
  void setText(std::string content) { text = std::move(content); }
  void setStart(const Message &message, TextLocation start);
  void addField(const Message &message, int number, FieldLocation location);
  /// Adds a field in the text that the type of `message` does not have.
  void addUnknown(const Message &message, const std::string &name);
  /// Returns the names of unknown fields, in order.
  const std::vector<std::string> &unknownFields(const Message &message) const;

  /// Copies the locations of `from` and its sub-messages to `to`, a copy of
  /// `from`.
  void copy(const Message &from, const Message &to);

  /// Copies the location of occurrence `fromIndex` of `fromField` to the next
  /// occurrence of `toField` in another message. If the occurrence has no
  /// location, copies the start of `from`. Used by upgrades of old forms.
  void copyField(const Message &from, const std::string &fromField,
                 int fromIndex, const Message &to, const std::string &toField);

private:
  struct Node {
    TextLocation start;
    /// Locations by field number, in a list, since messages have few fields.
    std::vector<std::pair<int, std::vector<FieldLocation>>> fields;
    std::vector<std::string> unknown;

    std::vector<FieldLocation> &locations(int number);
    const std::vector<FieldLocation> *find(int number) const;
  };

  SourceLocation toSourceLocation(TextLocation location) const;

  std::string fileName;
  std::string folderName;
  std::string text;
  std::unordered_map<const Message *, Node> nodes;
};

} // namespace brew::prototxt
