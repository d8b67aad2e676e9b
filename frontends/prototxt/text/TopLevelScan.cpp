//===- TopLevelScan.cpp - Distinction of solvers and nets -----------------===//

#include "frontends/prototxt/text/TopLevelScan.h"

#include "frontends/prototxt/text/TokenStream.h"
#include "support/Suggest.h"

#include <map>
#include <vector>

namespace brew::prototxt {

using google::protobuf::Descriptor;
using Tokenizer = TokenStream::Tokenizer;

namespace {

/// Returns the names at the top level, each with its first location, in text
/// order, up to the first syntax error.
std::vector<std::pair<std::string, TextLocation>>
topLevelNames(const std::string &text) {
  std::vector<std::pair<std::string, TextLocation>> names;
  std::map<std::string, bool> seen;
  try {
    TokenStream tokens(text, "", nullptr);
    int depth = 0;
    for (; !tokens.atEnd(); tokens.next()) {
      if (tokens.at("{") || tokens.at("<") || tokens.at("[")) {
        ++depth;
      } else if (tokens.at("}") || tokens.at(">") || tokens.at("]")) {
        if (depth > 0)
          --depth;
      } else if (depth == 0 && tokens.type() == Tokenizer::TYPE_IDENTIFIER) {
        std::string name = tokens.token().text;
        TextLocation location = tokens.location();
        if (!seen[name])
          names.push_back({name, location});
        seen[name] = true;
      } else if (depth == 0 && tokens.at(":")) {
        // The next token is a value, not a name, unless it opens a block.
        tokens.next();
        if (tokens.at("{") || tokens.at("<") || tokens.at("["))
          ++depth;
        else if (tokens.at("-"))
          tokens.next();
      }
    }
  } catch (const ParseStop &) {
    // Return the names before the syntax error.
  }
  return names;
}

std::vector<std::string> fieldNames(const Descriptor &type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i)
    names.push_back(type.field(i)->name());
  return names;
}

} // namespace

TopLevelScan scanTopLevel(const std::string &text) {
  const Descriptor &net = *caffe::NetParameter::descriptor();
  const Descriptor &solver = *caffe::SolverParameter::descriptor();
  const auto names = topLevelNames(text);
  TopLevelScan result;
  int netVotes = 0, solverVotes = 0;
  auto isEvidence = [&](const std::string &name, FileKind kind) {
    const bool inNet = net.FindFieldByName(name) != nullptr;
    const bool inSolver = solver.FindFieldByName(name) != nullptr;
    return inNet != inSolver && inNet == (kind == FileKind::Net);
  };
  bool hasLayers = false;
  for (const auto &[name, location] : names) {
    netVotes += isEvidence(name, FileKind::Net);
    solverVotes += isEvidence(name, FileKind::Solver);
    hasLayers = hasLayers || name == "layer" || name == "layers";
  }
  if (netVotes == 0 && solverVotes == 0) {
    // No name belongs to only one kind: count the names that are similar to
    // fields of each kind.
    for (const auto &[name, location] : names) {
      netVotes += !nearestName(name, fieldNames(net)).empty();
      solverVotes += !nearestName(name, fieldNames(solver)).empty();
    }
    result.kind = solverVotes > netVotes ? FileKind::Solver : FileKind::Net;
    return result;
  }
  if (netVotes == solverVotes)
    result.kind = hasLayers ? FileKind::Net : FileKind::Solver;
  else
    result.kind = solverVotes > netVotes ? FileKind::Solver : FileKind::Net;
  if (netVotes != 0 && solverVotes != 0)
    return result;
  for (const auto &[name, location] : names)
    if (isEvidence(name, result.kind)) {
      result.evidence = location;
      result.evidenceName = name;
      break;
    }
  return result;
}

} // namespace brew::prototxt
