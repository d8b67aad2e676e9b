//===- Attention.cpp - Layers of transformers (MyCaffe) -------------------===//

#include "dialects/Brew/layers/attention/Attention.h"
#include "dialects/Brew/layers/convolution/Convolution.h"
#include "dialects/Brew/layers/elementwise/Elementwise.h"
#include "dialects/Brew/layers/elementwise/Neuron.h"
#include "dialects/Brew/layers/normalization/Normalization.h"
#include "dialects/Brew/layers/shape/Shape.h"
#include "frontends/prototxt/import/layers/Formula.h"

#include <cmath>

using namespace brew::dialects;
using llvm::APFloat;
using mlir::Value;

namespace brew::prototxt {

namespace {

constexpr const char *kGelu = "0.5 * x * (1 + erf(x * 0.7071067811865476))";
/// BERT's approximation.
constexpr const char *kGeluByTanh =
    "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))";

/// Builds the operations of a layer with attention. `Settings` have heads,
/// embed, bias_term, attn_dropout and resid_dropout.
template <typename Settings> class AttentionBuilder {
public:
  AttentionBuilder(LayerBuilder &layer, const Settings &layerSettings)
      : l(layer), settings(layerSettings) {}

  /// Returns a bottom that several operations may read.
  Value bottom(int number) {
    return l.firstOp<SplitOp>(number, l.bottoms[number]).getYs()[0];
  }
  void setTop(Value y) { l.lastOp<SplitOp>(0, y); }

  /// Builds the product with the next parameters.
  Value product(Value x, int64_t outputs) {
    llvm::SmallVector<Value> operands = {x, l.params[nextParam++]};
    if (settings.bias_term())
      operands.push_back(l.params[nextParam++]);
    auto op = l.middleOp<InnerProductOp>(operands);
    op.setNumOutput(outputs);
    op.setAxis(2);
    return op.getY();
  }

  /// Builds attention with one product for queries, keys and values.
  Value causalSelfAttention(Value x) {
    Value all = splitHeads(product(x, 3 * embed()), 3 * heads());
    auto slice = SliceOp::create(l.b, l.loc, l.types(3), all);
    l.setTops(slice, 0, 0);
    slice.setAxis(2);
    slice.setPoints({});
    return projected(attend(slice.getYs(), {}));
  }
  /// Builds attention with a product for each of queries, keys and values.
  /// Without a mask it is causal.
  Value multiheadAttention(Value query, Value key, Value value, Value mask) {
    llvm::SmallVector<Value> inputs = {query, key, value};
    for (Value &x : inputs)
      x = splitHeads(product(x, embed()), heads());
    return projected(attend(inputs, mask));
  }

  Value dropout(Value x, float ratio) {
    if (l.phase != caffe::TRAIN || ratio == 0)
      return x;
    auto op = l.middleOp<DropoutOp>({x, nextKey()});
    op.setRatio(APFloat(ratio));
    return op.getY();
  }

private:
  int64_t heads() const { return settings.heads(); }
  int64_t embed() const { return settings.embed(); }

  /// Returns a random key of its own for each use of random numbers.
  Value nextKey() { return l.randomKey(++keys); }

  Value reshaped(Value x, llvm::ArrayRef<int64_t> dims) {
    auto op = l.middleOp<ReshapeOp>(x);
    op.setDims(dims);
    op.setAxis(0);
    op.setNumAxes(-1);
    return op.getY();
  }
  Value splitHeads(Value x, int64_t count) {
    return reshaped(x, {0, 0, count, -1});
  }

  Value attend(mlir::ValueRange inputs, Value mask) {
    llvm::SmallVector<Value> operands(inputs);
    const bool drops = l.phase == caffe::TRAIN && settings.attn_dropout() != 0;
    if (mask)
      operands.push_back(mask);
    if (drops)
      operands.push_back(nextKey());
    auto op = AttentionOp::create(l.b, l.loc, l.types(2), operands);
    l.setTops(op, 0, 0);
    op.setCausal(!mask);
    op.setMasked(static_cast<bool>(mask));
    if (drops)
      op.setDropout(APFloat(settings.attn_dropout()));
    return op.getY();
  }

  /// Builds the product after attention, and its dropout.
  Value projected(Value y) {
    return dropout(product(reshaped(y, {0, 0, -1}), embed()),
                   settings.resid_dropout());
  }

  LayerBuilder &l;
  const Settings &settings;
  unsigned nextParam = 0, keys = 0;
};

void buildCausalSelfAttention(LayerBuilder &l) {
  AttentionBuilder builder(l, l.layer.causal_self_attention_param());
  builder.setTop(builder.causalSelfAttention(builder.bottom(0)));
}

void buildMultiheadAttention(LayerBuilder &l) {
  AttentionBuilder builder(l, l.layer.multihead_attention_param());
  llvm::SmallVector<Value> inputs;
  for (int i = 0; i < 3; ++i)
    inputs.push_back(builder.bottom(i));
  builder.setTop(builder.multiheadAttention(inputs[0], inputs[1], inputs[2],
                                            l.bottoms[3]));
}

Value buildNorm(LayerBuilder &l, Value x) {
  auto op = MVNOp::create(l.b, l.loc, l.types(2), x);
  l.setTops(op, 0, 0);
  op.setNormalizeVariance(true);
  op.setAcrossVectors(true);
  op.setEps(APFloat(1e-10F));
  op.setEpsInRoot(true);
  return op.getY();
}

Value buildSum(LayerBuilder &l, Value x, Value y) {
  auto op = l.middleOp<EltwiseOp>({x, y});
  op.setKind(EltwiseKind::Sum);
  op.setCoeff({});
  return op.getY();
}

Value buildActivation(LayerBuilder &l, Value x) {
  using Block = caffe::TransformerBlockParameter;
  const Block::Activation activation =
      l.layer.transformer_block_param().activation();
  if (activation == Block::RELU) {
    auto op = l.middleOp<ReLUOp>(x);
    op.setNegativeSlope(APFloat(0.0F));
    return op.getY();
  }
  auto op = l.middleOp<ExpressionOp>(x);
  setFormula(l, op,
             activation == Block::GELU        ? kGelu
             : activation == Block::GELU_BERT ? kGeluByTanh
                                              : "x * sigmoid(x)",
             {"x"});
  return op.getY();
}

/// Each part of the block adds a function of the normalized sum to the sum.
void buildTransformerBlock(LayerBuilder &l) {
  using Block = caffe::TransformerBlockParameter;
  const Block &settings = l.layer.transformer_block_param();
  AttentionBuilder builder(l, settings);
  Value x = builder.bottom(0);
  const Value norm = buildNorm(l, x);
  const Block::BlockType type = settings.block_type();
  Value attention = type == Block::CAUSAL_SELF_ATTENTION
                        ? builder.causalSelfAttention(norm)
                        : builder.multiheadAttention(
                              norm, norm, norm,
                              l.bottoms.size() > 1 ? l.bottoms[1] : Value());
  x = buildSum(l, x, attention);
  if (type == Block::DECODER) {
    const Value encoded = builder.bottom(2);
    x = buildSum(l, x,
                 builder.multiheadAttention(buildNorm(l, x), encoded, encoded,
                                            l.bottoms[3]));
  }
  const int64_t embed = settings.embed(), hidden = settings.hidden_dim()
                                                       ? settings.hidden_dim()
                                                       : 4 * embed;
  Value mlp = builder.product(buildNorm(l, x), hidden);
  mlp = builder.product(buildActivation(l, mlp), embed);
  mlp = builder.dropout(mlp, settings.resid_dropout());
  auto sum = l.lastOp<EltwiseOp>(0, {x, mlp});
  sum.setKind(EltwiseKind::Sum);
  sum.setCoeff({});
}

void buildGelu(LayerBuilder &l) {
  setFormula(l, l.layerOp<ExpressionOp>(),
             l.layer.gelu_param().enable_bert_version() ? kGeluByTanh : kGelu,
             {"x"});
}

/// Adds sines (even elements) and cosines (odd elements) to the scaled bottom.
void buildPositionalEncoder(LayerBuilder &l) {
  const caffe::PositionalEncoderParameter &settings =
      l.layer.positional_encoder_param();
  const int64_t positions = settings.block_size(), width = settings.embed();
  std::vector<double> encoding;
  for (int64_t position = 0; position < positions; ++position)
    for (int64_t i = 0; i < width; ++i) {
      const double angle = static_cast<double>(position) /
                           std::pow(10000.0, 2.0 * static_cast<double>(i) /
                                                 static_cast<double>(width));
      encoding.push_back(i % 2 ? std::cos(angle) : std::sin(angle));
    }
  auto scaled = l.firstOp<PowerOp>(0, l.bottoms[0]);
  scaled.setPower(APFloat(1.0F));
  scaled.setScale(APFloat(std::sqrt(static_cast<float>(width))));
  scaled.setShift(APFloat(0.0F));
  auto sum = l.lastOp<BiasOp>(
      0, {scaled.getY(), l.constant("encoding", {positions, width}, encoding)});
  sum.setAxis(1);
  sum.setNumAxes(2);
}

} // namespace

BuildFunctions attentionFunctions() {
  return {{"CausalSelfAttention", buildCausalSelfAttention},
          {"GELU", buildGelu},
          {"Gelu", buildGelu},
          {"MultiheadAttention", buildMultiheadAttention},
          {"PositionalEncoder", buildPositionalEncoder},
          {"TransformerBlock", buildTransformerBlock}};
}

} // namespace brew::prototxt
