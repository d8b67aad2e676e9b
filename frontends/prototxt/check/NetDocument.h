//===- NetDocument.h - A net as its author wrote it, upgraded ---*- C++ -*-===//
//
// The net of one file (or of a solver's inline block): every layer in today's
// form, for all phases, each with its location in the text. Immutable, so that
// several programs (train, tests) can share it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontends/prototxt/text/PrototxtFile.h"

#include <memory>
#include <string>
#include <vector>

namespace brew::prototxt {

class NetDocument {
public:
  /// Reads, upgrades and checks a net file. Null if an error ended the parse;
  /// otherwise errors of single fields may be in `diagnostics`, and a compiler
  /// must not go on to code with them. Throws as readTextFile() does.
  static std::shared_ptr<const NetDocument>
  fromFile(const std::string &path, Diagnostics &diagnostics,
           const std::set<std::string> &hostTypes = {});
  /// The same for a file that is parsed already and is a net.
  static std::shared_ptr<const NetDocument>
  fromParsed(PrototxtFile file, Diagnostics &diagnostics);
  /// The same for a net that stands inside a solver; it is copied.
  static std::shared_ptr<const NetDocument>
  fromInline(const caffe::NetParameter &net,
             std::shared_ptr<SourceMap> locations, Diagnostics &diagnostics);

  const caffe::NetParameter &net() const { return *content; }
  /// Places for every message inside net().
  const SourceMap &locations() const { return *sourceMap; }
  /// The file as named on the command line or found by look-up.
  const std::string &file() const { return sourceMap->file(); }
  /// Where files that it names are looked for beside the working directory.
  const std::string &folder() const { return sourceMap->folder(); }

private:
  NetDocument() = default;
  void finish(std::unique_ptr<caffe::NetParameter> net,
              Diagnostics &diagnostics);

  std::unique_ptr<caffe::NetParameter> content;
  std::shared_ptr<SourceMap> sourceMap;
  /// Forms before the upgrade; kept because sourceMap knows their addresses.
  std::vector<std::unique_ptr<caffe::NetParameter>> superseded;
};

/// What is wrong with a net whatever its phase: include together with exclude,
/// a wrong number of propagate_down, data fields that only V1 layers obey.
void checkNet(const caffe::NetParameter &net, const SourceMap &locations,
              Diagnostics &diagnostics);

} // namespace brew::prototxt
