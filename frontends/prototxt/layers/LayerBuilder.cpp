//===- LayerBuilder.cpp - Operations of a layer ---------------------------===//

#include "frontends/prototxt/layers/LayerBuilder.h"

#include "caffe/DataLayerKinds.h"

#include <algorithm>

namespace brew::prototxt {

OperationSpec &LayerBuilder::bareOp(const std::string &name) {
  specs.emplace_back();
  specs.back().name = name;
  specs.back().position = static_cast<int>(specs.size()) - 1;
  return specs.back();
}

/// Returns for each bottom whether it must get a gradient. Returns an empty
/// list if neither propagate_down nor force_backward is set: then it depends on
/// the learnable parameters of earlier layers.
std::vector<bool> LayerBuilder::propagateDown() const {
  const auto &setting = layer.propagate_down();
  std::vector<bool> flags(setting.begin(), setting.end());
  if (!forceBackward)
    return flags;
  for (int i = 0; i < bottoms(); ++i) {
    if (i >= setting.size())
      flags.push_back(
          graph.layers[graph.blobs[entry.bottoms[i]].layer].needsBackward);
    flags[i] = flags[i] || entry.kind->allowsForcedGradient(i);
  }
  return flags;
}

/// Adds the layer's name, and the names and loss weights of its tops [from,
/// to).
void LayerBuilder::addTops(OperationSpec &spec, int from, int to) {
  std::vector<std::string> names;
  std::vector<float> weights;
  for (int i = from; i < to; ++i) {
    names.push_back(graph.blobs[entry.tops[i]].name);
    weights.push_back(entry.lossWeights[i]);
  }
  spec.text("layer", layer.name()).add("tops", names);
  if (std::any_of(weights.begin(), weights.end(),
                  [](float weight) { return weight != 0; }))
    spec.reals("loss_weights", weights);
}

void LayerBuilder::addPropagateDown(OperationSpec &spec,
                                    std::optional<int> slice) {
  const std::vector<bool> flags = propagateDown();
  if (flags.empty())
    return;
  spec.add("propagate_down", slice ? std::vector<bool>{flags[*slice]} : flags);
}

/// Adds the attributes that all layers have; with `slice`, only for the bottom
/// and the top of this index.
void LayerBuilder::addCommon(OperationSpec &spec, std::optional<int> slice) {
  addTops(spec, slice.value_or(0), slice ? *slice + 1 : tops());
  addPropagateDown(spec, slice);
}

OperationSpec &LayerBuilder::firstOp(const std::string &name, int number) {
  OperationSpec &spec = bareOp(name);
  addTops(spec, 0, 0);
  addPropagateDown(spec, number);
  return spec.addResults(1);
}

OperationSpec &LayerBuilder::lastOp(const std::string &name, int number) {
  OperationSpec &spec = bareOp(name);
  addTops(spec, number, number + 1);
  spec.addResults(1);
  addTop(spec.result(0));
  return spec;
}

OperationSpec &LayerBuilder::layerOp(const std::string &name) {
  OperationSpec &spec = bareOp(name);
  for (int i = 0; i < bottoms(); ++i)
    spec.operands.push_back(bottom(i));
  for (int i = 0; i < params(); ++i)
    spec.operands.push_back(param(i));
  addCommon(spec, {});
  spec.addResults(tops());
  for (int i = 0; i < tops(); ++i)
    addTop(spec.result(i));
  return spec;
}

OperationSpec &LayerBuilder::perBottomOp(const std::string &name, int number) {
  OperationSpec &spec = bareOp(name);
  spec.operands.push_back(bottom(number));
  for (int i = 0; i < params(); ++i)
    spec.operands.push_back(param(i));
  addCommon(spec, number);
  spec.addResults(1);
  addTop(spec.result(0));
  return spec;
}

OperationSpec &LayerBuilder::dataInputOp(caffe::LayerParameter config,
                                         const std::string &folder) {
  return bareOp("data_input")
      .text("layer", layer.name())
      .text("kind", config.type())
      .text("folder", folder)
      .add("config", std::move(config));
}

void LayerBuilder::scaleFirstTop(OperationSpec &op, float factor) {
  // The name and the loss weight move to the product.
  for (auto &[name, value] : op.attributes) {
    if (name == "tops")
      std::get<std::vector<std::string>>(value)[0].clear();
    if (name == "loss_weights")
      std::get<std::vector<float>>(value)[0] = 0;
  }
  OperationSpec &product = bareOp("power");
  product.setOperands({op.result(0)})
      .real("power", 1)
      .real("scale", factor)
      .real("shift", 0)
      .addResults(1);
  addTops(product, 0, 1);
  topValues[0] = product.result(0);
}

ValueRef LayerBuilder::randomKey() {
  caffe::LayerParameter source;
  source.set_name(layer.name());
  source.set_type(caffe::dataLayerType(caffe::DataLayerSource::RandomKey));
  OperationSpec &key = dataInputOp(std::move(source), "");
  key.add("tops", std::vector<std::string>())
      .addResults(1, OperationSpec::Element::I32);
  return key.result(0);
}

void LayerBuilder::checkLabels(ValueRef status, int labels) {
  OperationSpec &check = bareOp("check_labels");
  check.operands = {status, bottom(labels)};
  // Shape inference replaces -1 by the number of classes.
  check.integer("limit", -1)
      .text("layer", layer.name())
      .text("blob", layer.bottom(labels));
}

} // namespace brew::prototxt
