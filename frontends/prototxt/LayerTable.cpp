//===- LayerTable.cpp - How each layer type becomes operations ------------===//

#include "frontends/prototxt/LayerTable.h"

#include "frontends/prototxt/LayerSettings.h"

using namespace mlir;
using namespace brew::ir;

namespace brew::prototxt {

namespace {

using Attributes = SmallVector<NamedAttribute>;

/// Attributes by name, for one operation.
class AttributeList {
public:
  explicit AttributeList(OpBuilder &b) : b(b) {}

  AttributeList &add(StringRef name, Attribute value) {
    list.push_back(b.getNamedAttr(name, value));
    return *this;
  }
  AttributeList &integer(StringRef name, int64_t value) {
    return add(name, b.getI64IntegerAttr(value));
  }
  AttributeList &real(StringRef name, float value) {
    return add(name, b.getF32FloatAttr(value));
  }
  AttributeList &flag(StringRef name, bool value) {
    return value ? add(name, b.getUnitAttr()) : *this;
  }
  AttributeList &pair(StringRef name, const std::array<int64_t, 2> &value) {
    return add(name, b.getDenseI64ArrayAttr(value));
  }

  Attributes list;

private:
  OpBuilder &b;
};

/// The attributes every layer has. With `slice` those of one bottom and top of
/// a layer that works on several, one by one.
AttributeList common(LayerBuild &l, std::optional<size_t> slice = {}) {
  AttributeList attributes(l.b);
  size_t from = slice.value_or(0);
  size_t to = slice ? from + 1 : l.entry.tops.size();
  SmallVector<StringRef> names;
  SmallVector<float> weights;
  bool isWeighted = false;
  for (size_t i = from; i < to; ++i) {
    names.push_back(l.graph.blobs[l.entry.tops[i]].name);
    weights.push_back(l.entry.lossWeights[i]);
    isWeighted |= weights.back() != 0;
  }
  attributes.add("layer", l.b.getStringAttr(l.layer.name()));
  attributes.add("tops", l.b.getStrArrayAttr(names));
  if (isWeighted)
    attributes.add("loss_weights", l.b.getDenseF32ArrayAttr(weights));
  const auto &down = l.layer.propagate_down();
  if (slice && down.size() > 0)
    attributes.add("propagate_down", l.b.getDenseBoolArrayAttr(down[from]));
  else if (down.size() > 0)
    attributes.add(
        "propagate_down",
        l.b.getDenseBoolArrayAttr(SmallVector<bool>(down.begin(), down.end())));
  return attributes;
}

/// Builds an operation whose leading results are the layer's tops.
template <typename Op>
Op finish(LayerBuild &l, TypeRange results, ValueRange operands,
          const AttributeList &attributes) {
  auto op = Op::create(l.b, l.loc, results, operands, attributes.list);
  for (size_t i = 0; i < l.entry.tops.size(); ++i)
    l.tops.push_back(op->getResult(i));
  return op;
}

/// One result, the bottoms as operands.
template <typename Op>
void simple(LayerBuild &l, const AttributeList &attributes) {
  finish<Op>(l, l.blob, l.bottoms, attributes);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

void buildFeed(LayerBuild &l) {
  caffe::LayerParameter config = l.layer;
  // The readers need to know nothing of rules, and an old field of
  // data_param that transform_param replaced must not come back to life.
  config.clear_include();
  config.clear_exclude();
  if (config.has_data_param()) {
    caffe::DataParameter &data = *config.mutable_data_param();
    data.clear_scale();
    data.clear_mean_file();
    data.clear_crop_size();
    data.clear_mirror();
    data.clear_force_encoded_color();
  }
  SmallVector<Type> types(l.entry.tops.size(), l.blob);
  SmallVector<StringRef> names;
  for (int top : l.entry.tops)
    names.push_back(l.graph.blobs[top].name);
  auto op = FeedOp::create(l.b, l.loc, types, l.layer.name(),
                           l.b.getStrArrayAttr(names), l.layer.type(),
                           config.ShortDebugString(), l.folder);
  l.tops.append(op->result_begin(), op->result_end());
}

//===----------------------------------------------------------------------===//
// Convolution, inner product, pooling
//===----------------------------------------------------------------------===//

void buildConvolution(LayerBuild &l) {
  const caffe::ConvolutionParameter &settings = l.layer.convolution_param();
  const Window window = convolutionWindow(settings);
  for (size_t i = 0; i < l.bottoms.size(); ++i) {
    SmallVector<Value> operands = {l.bottoms[i]};
    operands.append(l.params);
    AttributeList attributes = common(l, i);
    attributes.integer("num_output", settings.num_output())
        .pair("kernel", window.kernel)
        .pair("stride", window.stride)
        .pair("pad", window.pad)
        .pair("dilation", window.dilation)
        .integer("group", settings.group());
    l.tops.push_back(ConvolutionOp::create(l.b, l.loc, TypeRange(l.blob),
                                           operands, attributes.list));
  }
}

void buildInnerProduct(LayerBuild &l) {
  const caffe::InnerProductParameter &settings = l.layer.inner_product_param();
  SmallVector<Value> operands(l.bottoms);
  operands.append(l.params);
  finish<InnerProductOp>(l, l.blob, operands,
                         common(l)
                             .integer("num_output", settings.num_output())
                             .integer("axis", settings.axis())
                             .flag("transpose", settings.transpose()));
}

void buildPooling(LayerBuild &l) {
  const caffe::PoolingParameter &settings = l.layer.pooling_param();
  const Window window = poolingWindow(settings);
  AttributeList attributes = common(l);
  attributes.pair("kernel", window.kernel)
      .pair("stride", window.stride)
      .pair("pad", window.pad)
      .flag("global", settings.global_pooling())
      .flag("floor", settings.round_mode() == caffe::PoolingParameter::FLOOR);
  if (settings.pool() == caffe::PoolingParameter::AVE)
    simple<AveragePoolingOp>(l, attributes);
  else
    finish<MaxPoolingOp>(l, {l.blob, l.blob}, l.bottoms, attributes);
}

//===----------------------------------------------------------------------===//
// Elementwise layers
//===----------------------------------------------------------------------===//

void buildReLU(LayerBuild &l) {
  simple<ReLUOp>(l, common(l).real("negative_slope",
                                   l.layer.relu_param().negative_slope()));
}

void buildPower(LayerBuild &l) {
  const caffe::PowerParameter &settings = l.layer.power_param();
  simple<PowerOp>(l, common(l)
                         .real("power", settings.power())
                         .real("scale", settings.scale())
                         .real("shift", settings.shift()));
}

void buildBias(LayerBuild &l) {
  const caffe::BiasParameter &settings = l.layer.bias_param();
  SmallVector<Value> operands(l.bottoms);
  operands.append(l.params);
  finish<BiasOp>(l, l.blob, operands,
                 common(l)
                     .integer("axis", settings.axis())
                     .integer("num_axes", settings.num_axes()));
}

/// `stable_prod_grad` chooses between two ways to compute the same gradient;
/// only the stable one is ever built.
void buildEltwise(LayerBuild &l) {
  const caffe::EltwiseParameter &settings = l.layer.eltwise_param();
  EltwiseKind kind = EltwiseKind::Sum;
  if (settings.operation() == caffe::EltwiseParameter::PROD)
    kind = EltwiseKind::Prod;
  else if (settings.operation() == caffe::EltwiseParameter::MAX)
    kind = EltwiseKind::Max;
  SmallVector<float> coeff;
  if (kind == EltwiseKind::Sum)
    coeff.assign(settings.coeff().begin(), settings.coeff().end());
  simple<EltwiseOp>(
      l, common(l)
             .add("kind", EltwiseKindAttr::get(l.b.getContext(), kind))
             .add("coeff", l.b.getDenseF32ArrayAttr(coeff)));
}

//===----------------------------------------------------------------------===//
// Reductions, losses, bookkeeping
//===----------------------------------------------------------------------===//

void buildReduction(LayerBuild &l) {
  const caffe::ReductionParameter &settings = l.layer.reduction_param();
  // The two enumerations have the same values.
  auto kind =
      symbolizeReductionKind(static_cast<uint32_t>(settings.operation()));
  simple<ReductionOp>(
      l, common(l)
             .add("kind", ReductionKindAttr::get(l.b.getContext(), *kind))
             .integer("axis", settings.axis())
             .real("coeff", settings.coeff()));
}

void buildSoftmax(LayerBuild &l) {
  simple<SoftmaxOp>(l,
                    common(l).integer("axis", l.layer.softmax_param().axis()));
}

/// Reports labels outside the classes. How many there are is known once shapes
/// are; until then the limit is -1.
void checkLabels(LayerBuild &l, Value status) {
  CheckLabelsOp::create(
      l.b, l.loc, status, l.bottoms[1], l.b.getI64IntegerAttr(-1),
      l.b.getStringAttr(l.layer.name()), l.b.getStringAttr(l.layer.bottom(1)));
}

Type statusType(LayerBuild &l) {
  return UnrankedTensorType::get(l.b.getI32Type());
}

void buildSoftmaxLoss(LayerBuild &l) {
  const caffe::LossParameter &settings = l.layer.loss_param();
  auto mode =
      symbolizeNormalization(static_cast<uint32_t>(normalizationOf(settings)));
  AttributeList attributes = common(l);
  attributes.integer("axis", l.layer.softmax_param().axis())
      .add("normalization", NormalizationAttr::get(l.b.getContext(), *mode));
  if (settings.has_ignore_label())
    attributes.integer("ignore_label", settings.ignore_label());
  auto op = finish<SoftmaxLossOp>(l, {l.blob, l.blob, l.blob, statusType(l)},
                                  l.bottoms, attributes);
  checkLabels(l, op.getStatus());
}

void buildAccuracy(LayerBuild &l) {
  const caffe::AccuracyParameter &settings = l.layer.accuracy_param();
  AttributeList attributes = common(l);
  attributes.integer("axis", settings.axis())
      .integer("top_k", settings.top_k());
  if (settings.has_ignore_label())
    attributes.integer("ignore_label", settings.ignore_label());
  auto op = finish<AccuracyOp>(l, {l.blob, l.blob, statusType(l)}, l.bottoms,
                               attributes);
  checkLabels(l, op.getStatus());
}

void buildSplit(LayerBuild &l) {
  SmallVector<Type> types(l.entry.tops.size(), l.blob);
  finish<SplitOp>(l, types, l.bottoms, common(l));
}

void buildSilence(LayerBuild &l) {
  finish<SilenceOp>(l, TypeRange(), l.bottoms, common(l));
}

/// `engine` is a hint in every type that has it: which library computes a
/// layer is decided for the whole net.
constexpr LayerRow rows[] = {
    {"Accuracy", buildAccuracy},
    {"Bias", buildBias},
    {"Convolution", buildConvolution},
    {"Data", buildFeed},
    {"DummyData", buildFeed},
    {"Eltwise", buildEltwise},
    {"HDF5Data", buildFeed},
    {"InnerProduct", buildInnerProduct},
    {"Input", buildFeed},
    {"MemoryData", buildFeed},
    {"Pooling", buildPooling},
    {"Power", buildPower},
    {"ReLU", buildReLU},
    {"Reduction", buildReduction},
    {"Silence", buildSilence},
    {"Softmax", buildSoftmax},
    {"SoftmaxWithLoss", buildSoftmaxLoss},
    {"Split", buildSplit},
};

} // namespace

const LayerRow *findLayerRow(StringRef type) {
  for (const LayerRow &row : rows)
    if (type == row.type)
      return &row;
  return nullptr;
}

const std::set<std::string> &supportedLayerTypes() {
  static const std::set<std::string> types = [] {
    std::set<std::string> names;
    for (const LayerRow &row : rows)
      names.insert(row.type);
    return names;
  }();
  return types;
}

} // namespace brew::prototxt
