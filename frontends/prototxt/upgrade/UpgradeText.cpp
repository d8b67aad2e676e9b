//===- UpgradeText.cpp - Upgraded prototxts as text -----------------------===//

#include "frontends/prototxt/upgrade/UpgradeText.h"

#include "frontends/prototxt/check/NetDocument.h"
#include "frontends/prototxt/check/UnknownTypes.h"
#include "frontends/prototxt/upgrade/LegacyUpgrade.h"

#include <google/protobuf/text_format.h>

namespace brew::prototxt {

namespace {

void upgradeInline(caffe::NetParameter &net,
                   const std::shared_ptr<SourceMap> &locations,
                   Diagnostics &diagnostics) {
  net = NetDocument::fromInline(net, locations, diagnostics)->net();
}

void upgradeSolverNets(caffe::SolverParameter &solver,
                       const std::shared_ptr<SourceMap> &locations,
                       Diagnostics &diagnostics) {
  if (solver.has_net_param())
    upgradeInline(*solver.mutable_net_param(), locations, diagnostics);
  if (solver.has_train_net_param())
    upgradeInline(*solver.mutable_train_net_param(), locations, diagnostics);
  for (caffe::NetParameter &net : *solver.mutable_test_net_param())
    upgradeInline(net, locations, diagnostics);
}

std::string print(const google::protobuf::Message &message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

} // namespace

std::optional<std::string> upgradedText(const SourceText &source,
                                        Diagnostics &diagnostics) {
  PrototxtFile file = parsePrototxt(source, diagnostics);
  if (!file.reachedEnd)
    return std::nullopt;
  std::string text;
  if (file.kind == FileKind::Solver) {
    upgradeSolver(*file.solver, *file.locations, diagnostics);
    upgradeSolverNets(*file.solver, file.locations, diagnostics);
    text = print(*file.solver);
  } else {
    text = print(NetDocument::fromParsed(std::move(file), diagnostics)->net());
  }
  mergeUnknownTypes(diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  return text;
}

} // namespace brew::prototxt
