//===- LayerBuilder.cpp - Operations of a layer ---------------------------===//

#include "frontends/prototxt/import/LayerBuilder.h"

#include "dialects/Brew/RandomBits.h"

#include "llvm/ADT/StringMap.h"

#include <google/protobuf/text_format.h>

using namespace mlir;
using namespace brew::dialects;

namespace brew::prototxt {

SmallVector<Type> LayerBuilder::types(int blobs, int integers) const {
  SmallVector<Type> types(blobs, blobType);
  types.append(integers, integerType);
  return types;
}

ArrayAttr LayerBuilder::topNames(int from, int to) const {
  SmallVector<StringRef> names;
  for (int i = from; i < to; ++i)
    names.push_back(graph.blobs[entry.tops[i]].name);
  return b.getStrArrayAttr(names);
}

DenseF32ArrayAttr LayerBuilder::lossWeights(int from, int to) const {
  const ArrayRef<float> weights =
      ArrayRef(entry.lossWeights).slice(from, to - from);
  return llvm::all_of(weights, [](float weight) { return weight == 0; })
             ? DenseF32ArrayAttr()
             : b.getDenseF32ArrayAttr(weights);
}

DenseBoolArrayAttr LayerBuilder::propagateDown(std::optional<int> slice) const {
  const auto &setting = layer.propagate_down();
  SmallVector<bool> flags(setting.begin(), setting.end());
  for (int i = 0; graph.forceBackward && i < int(bottoms.size()); ++i) {
    if (i >= setting.size())
      flags.push_back(
          graph.layers[graph.blobs[entry.bottoms[i]].layer].needsBackward);
    flags[i] = flags[i] || entry.kind->allowsForcedGradient(i);
  }
  if (flags.empty())
    return nullptr;
  return b.getDenseBoolArrayAttr(slice ? ArrayRef<bool>(flags[*slice])
                                       : ArrayRef<bool>(flags));
}

ValueRange LayerBuilder::dataInput(caffe::LayerParameter config,
                                   const std::string &folder, int topCount) {
  SmallVector<Type> results = types(config.top_size());
  std::optional<DataShapes> known =
      shapes.importDataLayer(config, folder, where);
  if (known)
    for (auto [type, shape] : llvm::zip_equal(results, known->tops))
      type = RankedTensorType::get(shape, blobType.getElementType());
  auto input = DataInputOp::create(
      b, loc, results, layer.name(), topNames(0, topCount), config.type(),
      dialects::plan::DataInputConfigAttr::get(b.getContext(), config), folder,
      IntegerAttr(), DenseI64ArrayAttr(), DenseI64ArrayAttr());
  if (known && !known->record.empty())
    input.setRecordDims(known->record);
  if (known && !known->mean.empty())
    input.setMeanFileDims(known->mean);
  input.setImageSizesVary(known && known->sizesVary);
  llvm::copy(input.getValues().take_front(topCount), tops.begin());
  return input.getValues();
}

Value LayerBuilder::randomKey(int number) {
  // A key has two words.
  auto type = RankedTensorType::get({2}, b.getI32Type());
  auto key = RandomKeyOp::create(b, loc, type, layer.name());
  if (number)
    key->setAttr(kKeyNumberAttr, b.getI64IntegerAttr(number));
  return key;
}

Value LayerBuilder::constant(const std::string &name, ArrayRef<int64_t> dims,
                             ArrayRef<double> values) {
  const Type elementType = blobType.getElementType();
  auto type = RankedTensorType::get(dims, elementType);
  // A net of f32 rounds as Caffe does when it reads a file of f64.
  const auto elements =
      elementType.isF64()
          ? DenseElementsAttr::get(type, values)
          : DenseElementsAttr::get(type,
                                   ArrayRef<float>(SmallVector<float>(values)));
  return ConstantOp::create(b, loc, type, layer.name(),
                            layer.name() + " " + name, elements);
}

void LayerBuilder::checkLabels(Value status, int labels) {
  // Shape inference replaces -1 by the number of classes.
  CheckLabelsOp::create(b, loc, status, bottoms[labels], -1, layer.name(),
                        layer.bottom(labels));
}

void LayerBuilder::storeParam(int index, Value value) {
  StoreParamOp::create(
      b, loc, value,
      params[index].getDefiningOp<ParamValueOp>().getParamAttr());
}

std::string layerText(const caffe::LayerParameter &layer) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(layer, &text);
  while (!text.empty() && text.back() == ' ')
    text.pop_back();
  return text;
}

BuildFunction findBuildFunction(const LayerKind &kind) {
  static const auto byType = [] {
    llvm::StringMap<BuildFunction> functions;
    for (auto *group :
         {arrayFunctions, attentionFunctions, convolutionFunctions,
          dataFunctions, denseBlockFunctions, detectionFunctions,
          elementwiseFunctions, functionFunctions, hostFunctions,
          indexingFunctions, lossFunctions, metricLearningFunctions,
          neuronFunctions, normalizationFunctions, poolingFunctions,
          recurrentFunctions, reductionFunctions, shapeFunctions})
      for (auto [type, function] : group())
        functions[type] = function;
    return functions;
  }();
  return byType.lookup(kind.type);
}

} // namespace brew::prototxt
