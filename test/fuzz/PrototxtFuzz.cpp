//===- PrototxtFuzz.cpp - Fuzz entry: nets and solvers as text ------------===//
//
// Reads a text up to the graph of every program: parsing, upgrades of old
// forms, rules, and the checks of all layers. Every error must be a diagnostic.
//
//===----------------------------------------------------------------------===//
#include "Fuzz.h"
#include "frontends/prototxt/check/NetGraph.h"
#include "frontends/prototxt/check/Programs.h"
#include "frontends/prototxt/upgrade/UpgradeText.h"

using namespace brew;
using namespace brew::prototxt;

static void buildGraph(const FilteredNet &net, Diagnostics &diagnostics) {
  if (!diagnostics.hasErrors())
    NetGraph::build(net, diagnostics, /*forCompilation=*/true);
}

static void readNet(PrototxtFile file, Diagnostics &diagnostics) {
  auto document = NetDocument::fromParsed(std::move(file), diagnostics);
  if (!document)
    return;
  for (const caffe::Phase phase : {caffe::TRAIN, caffe::TEST})
    buildGraph(filterNet(document, standaloneState(document->net(), phase)),
               diagnostics);
}

static void readSolver(PrototxtFile file, Diagnostics &diagnostics) {
  auto document = SolverDocument::fromParsed(std::move(file), diagnostics);
  if (!document)
    return;
  const caffe::SolverParameter &solver = document->solver();
  checkTrainable(solver, document->locations(), /*hasNetOverride=*/false,
                 diagnostics);
  // Nets in other files are not part of this input.
  if (solver.has_net() || solver.has_train_net() || solver.test_net_size() > 0)
    return;
  for (const Program &program : expandSolver(*document, diagnostics))
    buildGraph(program.net, diagnostics);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size) {
  const std::string text(fuzz::textOf(data, size));
  for (const FileKind kind : {FileKind::Net, FileKind::Solver})
    fuzz::attempt([&] {
      Diagnostics diagnostics;
      PrototxtFile file = parsePrototxt(text, "input", diagnostics, kind);
      if (kind == FileKind::Net)
        readNet(std::move(file), diagnostics);
      else
        readSolver(std::move(file), diagnostics);
    });
  fuzz::attempt([&] {
    Diagnostics diagnostics;
    upgradedText({text, "input", "."}, diagnostics);
  });
  return 0;
}
