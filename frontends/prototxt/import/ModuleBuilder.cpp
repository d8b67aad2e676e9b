//===- ModuleBuilder.cpp - Construction of brew modules -------------------===//

#include "frontends/prototxt/import/ModuleBuilder.h"

#include "caffe/weights/WeightBinding.h"
#include "frontends/prototxt/import/LayerBuilder.h"

#include <filesystem>

using namespace mlir;
using namespace brew::dialects;
using brew::dialects::plan::LayerValue;
using llvm::APFloat;

namespace brew::prototxt {

ModuleBuilder::ModuleBuilder(MLIRContext &context, const std::string &file,
                             bool f64, ShapeImporter &shapes)
    : b(&context), shapes(shapes) {
  module = ModuleOp::create(locate({file, 1, 1}));
  elementType = f64 ? Type(b.getF64Type()) : Type(b.getF32Type());
}

Location ModuleBuilder::locate(const SourceLocation &where) {
  return FileLineColLoc::get(b.getContext(), where.file, where.line,
                             where.column);
}

Location ModuleBuilder::locate(const caffe::LayerParameter &layer,
                               const SourceMap &locations) {
  return NameLoc::get(b.getStringAttr(layer.type()),
                      locate(locations.where(layer)));
}

std::vector<std::string> ModuleBuilder::declareParams(const FilteredNet &net,
                                                      const NetGraph &graph) {
  OpBuilder::InsertionGuard guard(b);
  if (firstProgram)
    b.setInsertionPoint(firstProgram);
  else
    b.setInsertionPointToEnd(module->getBody());

  std::vector<std::string> names;
  for (const GraphParam &param : graph.params) {
    const std::string &layer = param.layer->name();
    auto [entry, isNew] = symbols.try_emplace(
        {layer, param.index}, layer + "." + std::to_string(param.index));
    names.push_back(entry->second);
    // Register the owner's symbol for the sharers, unless an earlier program
    // has declared them: a later program may contain a sharer without its
    // owner.
    SmallVector<Attribute> sharers;
    for (auto [sharer, index] : param.sharers) {
      symbols.try_emplace({sharer->name(), index}, entry->second);
      sharers.push_back(dialects::plan::SharerAttr::get(
          b.getContext(), sharer->name(), index, sharer->type()));
    }
    if (!isNew)
      continue;
    auto op = ParamOp::create(b, locate(*param.layer, net.source->locations()),
                              TypeRange(), ValueRange());
    op.setSymName(entry->second);
    op.setType(UnrankedTensorType::get(elementType));
    op.setLayer(layer);
    op.setLayerType(param.layer->type());
    op.setIndex(param.index);
    // An empty filler is Caffe's default, and is omitted.
    if (param.filler && param.filler->ByteSizeLong() > 0)
      op.setFillerAttr(
          dialects::plan::FillerAttr::get(b.getContext(), *param.filler));
    op.setLrMult(APFloat(param.lrMult));
    op.setDecayMult(APFloat(param.decayMult));
    if (!param.sharedName.empty())
      op.setSharedName(param.sharedName);
    if (!sharers.empty())
      op.setSharersAttr(b.getArrayAttr(sharers));
    op.setPermissive(param.permissive);
    op.setAnyFileShape(caffe::takesAnyShape(*param.layer));
  }
  return names;
}

namespace {

/// Pins the values that debug_info prints; see ModuleBuilder::addProgram().
class DebugPinner {
public:
  DebugPinner(OpBuilder &b, const NetGraph &graph, const NetMetadata *metadata,
              bool differentiate)
      : b(b), graph(graph), metadata(metadata), differentiate(differentiate) {}

  /// Returns the value that bottom `bottom` of graph layer `layer` reads: a top
  /// of a split, or `value` if the blob is not split.
  Value bottom(int layer, int bottom, Value value) const {
    auto split = splits.find({layer, bottom});
    return split == splits.end() ? value : split->second;
  }

  /// Must be called after every layer of the graph.
  void layerBuilt(Location loc, ArrayRef<Value> bottoms, ArrayRef<Value> tops,
                  ArrayRef<Value> values) {
    if (!metadata)
      return;
    pin(loc, bottoms, tops);
    while (++layerIndex < metadata->layers.size() &&
           metadata->layers[layerIndex].layer < 0)
      addSplit(loc, metadata->layers[layerIndex], values);
  }

private:
  void pin(Location loc, ArrayRef<Value> bottoms, ArrayRef<Value> tops) {
    auto pinAll = [&](LayerValue kind, ArrayRef<Value> values) {
      for (auto [i, value] : llvm::enumerate(values))
        PinLayerValueOp::create(b, loc, value, kind, layerIndex, i);
    };
    pinAll(LayerValue::Top, tops);
    if (differentiate)
      pinAll(LayerValue::BottomDiff, bottoms);
  }

  void addSplit(Location loc, const LayerMetadata &layer,
                ArrayRef<Value> values) {
    Value source = values[layer.blob];
    SmallVector<StringRef> tops(layer.tops.begin(), layer.tops.end());
    auto split = SplitOp::create(
        b, loc, SmallVector<Type>(tops.size(), source.getType()), source,
        b.getStringAttr(layer.name), b.getStrArrayAttr(tops), nullptr, nullptr);
    const int first = splitOf(graph, layer.blob).firstReader;
    for (auto [i, reader] : llvm::enumerate(graph.blobs[layer.blob].readers))
      splits[reader] = split.getYs()[first + i];
    SmallVector<Value> results(split.getYs());
    pin(loc, source, results);
  }

  OpBuilder &b;
  const NetGraph &graph;
  const NetMetadata *metadata;
  bool differentiate;
  size_t layerIndex = 0; ///< index in the metadata of the current layer
  std::map<std::pair<int, int>, Value> splits;
};

} // namespace

void ModuleBuilder::addProgram(ProgramRole role, const std::string &name,
                               const FilteredNet &net, const NetGraph &graph,
                               bool differentiate,
                               const NetMetadata *debugMetadata) {
  const SourceMap &locations = net.source->locations();
  const std::vector<std::string> paramNames = declareParams(net, graph);

  b.setInsertionPointToEnd(module->getBody());
  const bool isTraining = net.state.phase() == caffe::TRAIN;
  auto program = ProgramOp::create(
      b, locate({net.source->file(), 1, 1}), name,
      isTraining ? NetPhase::Train : NetPhase::Test, role, /*blobs=*/nullptr,
      /*params=*/nullptr, /*caffe_bytes=*/nullptr, differentiate);
  if (!firstProgram)
    firstProgram = program;
  b.createBlock(&program.getBody());

  const Type blob = UnrankedTensorType::get(elementType);
  // Use the absolute path, as the plan may run in another working directory.
  const std::string &netFolder = net.source->folder();
  const std::string folder =
      (netFolder.empty() ? std::filesystem::current_path()
                         : std::filesystem::absolute(netFolder))
          .string();
  std::vector<Value> values(graph.blobs.size());
  DebugPinner debugPinner(b, graph, debugMetadata, differentiate);
  for (auto [index, entry] : llvm::enumerate(graph.layers)) {
    const Location loc = locate(*entry.layer, locations);
    SmallVector<Value> bottoms, params;
    for (auto [i, bottom] : llvm::enumerate(entry.bottoms))
      bottoms.push_back(debugPinner.bottom(index, i, values[bottom]));
    for (auto [i, param] : llvm::enumerate(entry.params)) {
      auto read = ParamValueOp::create(
          b, loc, blob,
          FlatSymbolRefAttr::get(b.getContext(), paramNames[param]));
      if (graph.params[param].lrMult == 0 && graph.mayHaveGradient(index, i))
        read->setAttr(kGradientAttr, b.getUnitAttr());
      params.push_back(read);
    }
    // A layer's own phase overrides the phase of the net.
    const caffe::Phase phase =
        entry.layer->has_phase() ? entry.layer->phase() : net.state.phase();
    LayerBuilder layer(b, loc, elementType, graph, entry, phase, folder,
                       bottoms, params, shapes, locations.where(*entry.layer));
    findBuildFunction (*entry.kind)(layer);
    for (auto [top, value] : llvm::zip_equal(entry.tops, layer.tops))
      values[top] = value;
    debugPinner.layerBuilt(loc, bottoms, layer.tops, values);
  }
  for (const NetOutput &output : graph.outputs)
    OutputOp::create(b, values[output.blob].getLoc(), values[output.blob],
                     b.getStringAttr(output.name),
                     b.getF32FloatAttr(output.lossWeight),
                     output.isUnreported ? b.getUnitAttr() : UnitAttr());
}

} // namespace brew::prototxt
