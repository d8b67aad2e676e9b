//===- NetDocument.h - A parsed and upgraded net ----------------*- C++ -*-===//
//
// The net of one file (or of a solver's inline block): all layers of all phases
// in the current form, with their locations in the text. Immutable, so that
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
  /// Reads, upgrades and checks a net file. Returns null if an error ended the
  /// parse. Otherwise, `diagnostics` may contain errors of single fields; then
  /// no code may be generated. Throws as readTextFile() does.
  static std::shared_ptr<const NetDocument>
  fromFile(const std::string &path, Diagnostics &diagnostics,
           const std::set<std::string> &hostTypes = {});
  /// Upgrades and checks a parsed net file.
  static std::shared_ptr<const NetDocument>
  fromParsed(PrototxtFile file, Diagnostics &diagnostics);
  /// Upgrades and checks a copy of a net inside a solver.
  static std::shared_ptr<const NetDocument>
  fromInline(const caffe::NetParameter &net,
             std::shared_ptr<SourceMap> locations, Diagnostics &diagnostics);

  /// Upgrades and checks a net whose locations are in `locations`.
  static std::shared_ptr<const NetDocument>
  fromMessage(std::unique_ptr<caffe::NetParameter> net,
              std::shared_ptr<SourceMap> locations, Diagnostics &diagnostics);

  const caffe::NetParameter &net() const { return *content; }
  /// Returns the locations of every message inside net().
  const SourceMap &locations() const { return *sourceMap; }
  const std::shared_ptr<SourceMap> &sharedLocations() const {
    return sourceMap;
  }
  /// Returns the path from the command line or from the lookup.
  const std::string &file() const { return sourceMap->file(); }
  /// Returns the folder in which files that the net names are looked up, after
  /// the working directory.
  const std::string &folder() const { return sourceMap->folder(); }

private:
  NetDocument() = default;
  void upgradeAndCheck(std::unique_ptr<caffe::NetParameter> net,
                       Diagnostics &diagnostics);

  std::unique_ptr<caffe::NetParameter> content;
  std::shared_ptr<SourceMap> sourceMap;
  /// Messages that the upgrade replaced. They stay allocated, because their
  /// addresses are keys in sourceMap.
  std::vector<std::unique_ptr<caffe::NetParameter>> superseded;
};

/// Reports errors and warnings that do not depend on the phase: include
/// together with exclude, a wrong number of propagate_down, and data fields
/// that have an effect in V1 layers only.
void checkNet(const caffe::NetParameter &net, const SourceMap &locations,
              Diagnostics &diagnostics);

} // namespace brew::prototxt
