//===- ModuleBuilder.cpp - Builds a brew module from net graphs -----------===//

#include "frontends/prototxt/ModuleBuilder.h"

#include <filesystem>

using namespace mlir;
using namespace brew::ir;

namespace brew::prototxt {

ModuleBuilder::ModuleBuilder(MLIRContext &context, const std::string &file,
                             bool f64)
    : b(&context) {
  module = ModuleOp::create(locate({file, 1, 1}));
  element = f64 ? Type(b.getF64Type()) : Type(b.getF32Type());
}

Location ModuleBuilder::locate(const SourceLocation &where) {
  return FileLineColLoc::get(b.getContext(), where.file, where.line,
                             where.column);
}

std::vector<std::string>
ModuleBuilder::declareParams(const FilteredNet &net, const NetGraph &graph) {
  OpBuilder::InsertionGuard guard(b);
  if (firstProgram)
    b.setInsertionPoint(firstProgram);
  else
    b.setInsertionPointToEnd(module->getBody());

  std::vector<std::string> names;
  for (const GraphParam &param : graph.params) {
    const std::string &layer = param.layer->name();
    auto [entry, isNew] =
        symbols.try_emplace({layer, param.index},
                            layer + "." + std::to_string(param.index));
    names.push_back(entry->second);
    // A sharer may be known by its owner's symbol in an earlier program, but
    // not the other way around.
    SmallVector<std::string> sharers;
    for (auto [sharer, index] : param.sharers) {
      symbols.try_emplace({sharer->name(), index}, entry->second);
      sharers.push_back(sharer->name() + "/" + std::to_string(index));
    }
    if (!isNew)
      continue;
    const std::string filler = param.filler->ShortDebugString();
    ArrayAttr sharersAttr;
    if (!sharers.empty())
      sharersAttr = b.getStrArrayAttr(
          SmallVector<StringRef>(sharers.begin(), sharers.end()));
    ParamOp::create(
        b, locate(net.source->places().where(*param.layer)),
        b.getStringAttr(entry->second),
        TypeAttr::get(UnrankedTensorType::get(element)),
        b.getStringAttr(layer), b.getI64IntegerAttr(param.index),
        DenseI64ArrayAttr(), b.getStringAttr(filler),
        b.getF32FloatAttr(param.lrMult), b.getF32FloatAttr(param.decayMult),
        param.sharedName.empty() ? StringAttr()
                                 : b.getStringAttr(param.sharedName),
        sharersAttr, param.permissive ? b.getUnitAttr() : UnitAttr());
  }
  return names;
}

void ModuleBuilder::addProgram(const std::string &name, const FilteredNet &net,
                               const NetGraph &graph, bool differentiate) {
  const SourceMap &places = net.source->places();
  const std::vector<std::string> paramNames = declareParams(net, graph);

  b.setInsertionPointToEnd(module->getBody());
  auto program = ProgramOp::create(
      b, locate({net.source->file(), 1, 1}), b.getStringAttr(name),
      PhaseAttr::get(b.getContext(), net.state.phase() == caffe::TRAIN
                                         ? Phase::Train
                                         : Phase::Test),
      DictionaryAttr(), DictionaryAttr(), IntegerAttr(),
      differentiate ? b.getUnitAttr() : UnitAttr());
  if (!firstProgram)
    firstProgram = program;
  b.createBlock(&program.getBody());

  const Type blob = UnrankedTensorType::get(element);
  // Absolute, as the plan may run from elsewhere.
  const std::string folder =
      std::filesystem::absolute(net.source->file()).parent_path().string();
  std::vector<Value> values(graph.blobs.size());
  for (const GraphLayer &entry : graph.layers) {
    LayerBuild build{b,    locate(places.where(*entry.layer)),
                     *entry.layer, graph,
                     entry,        blob,
                     folder,       {},
                     {}};
    for (int bottom : entry.bottoms)
      build.bottoms.push_back(values[bottom]);
    for (int param : entry.params)
      build.params.push_back(ParamValueOp::create(
          b, build.loc, blob,
          FlatSymbolRefAttr::get(b.getContext(), paramNames[param])));
    findLayerRow(entry.layer->type())->build(build);
    for (auto [top, value] : llvm::zip_equal(entry.tops, build.tops))
      values[top] = value;
  }
  for (const NetOutput &output : graph.outputs)
    OutputOp::create(b, values[output.blob].getLoc(), values[output.blob],
                     b.getStringAttr(output.name),
                     b.getF32FloatAttr(output.lossWeight),
                     output.isInner ? b.getUnitAttr() : UnitAttr());
}

} // namespace brew::prototxt
