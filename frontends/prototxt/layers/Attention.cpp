//===- Attention.cpp - Layers of transformers (MyCaffe) -------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/DefaultFiller.h"

#include <cmath>

namespace brew::prototxt {

namespace {

void checkDropout(LayerChecker &c, const google::protobuf::Message &settings,
                  const char *field, float ratio) {
  if (!(ratio >= 0 && ratio < 1))
    c.error(settings, field,
            std::string(field) + " must be at least 0 and below 1");
}

/// Checks the settings that all layers with attention have.
template <typename Settings>
void checkAttention(LayerChecker &c, const Settings &settings) {
  if (settings.heads() == 0 || settings.embed() == 0)
    c.error(settings, settings.heads() == 0 ? "heads" : "embed",
            std::string(settings.heads() == 0 ? "heads" : "embed") +
                " must be at least 1");
  else if (settings.embed() > kMaxWindowSetting)
    c.error(settings, "embed", "embed is too large");
  else if (settings.embed() % settings.heads() != 0)
    c.error(settings, "heads",
            "embed " + std::to_string(settings.embed()) +
                " does not divide into " + std::to_string(settings.heads()) +
                " heads");
  if (settings.layers() == 0)
    c.error(settings, "layers", "layers must be at least 1");
  checkDropout(c, settings, "attn_dropout", settings.attn_dropout());
  checkDropout(c, settings, "resid_dropout", settings.resid_dropout());
  if (settings.enable_rotary_positional_embedding())
    c.unsupported(settings, "enable_rotary_positional_embedding",
                  "enable_rotary_positional_embedding is not supported");
  if (settings.enable_key_value_cache())
    c.unsupported(settings, "enable_key_value_cache",
                  "enable_key_value_cache is not supported");
}

void checkCausalSelfAttention(LayerChecker &c) {
  checkAttention(c, c.layer.causal_self_attention_param());
}

void checkMultiheadAttention(LayerChecker &c) {
  checkAttention(c, c.layer.multihead_attention_param());
}

using Block = caffe::TransformerBlockParameter;

/// Returns the number of bottoms: encoders read a mask, decoders also the
/// encoder's top and its mask.
int bottomsOf(const Block &settings) {
  switch (settings.block_type()) {
  case Block::ENCODER:
    return 2;
  case Block::DECODER:
    return 4;
  default:
    return 1;
  }
}

void checkTransformerBlock(LayerChecker &c) {
  const Block &settings = c.layer.transformer_block_param();
  checkAttention(c, settings);
  const int bottoms = bottomsOf(settings);
  if (c.layer.bottom_size() != bottoms)
    c.error(c.layer, "bottom",
            "a block of type " + Block::BlockType_Name(settings.block_type()) +
                " takes " + std::to_string(bottoms) +
                (bottoms == 1 ? " bottom" : " bottoms") + ", but has " +
                std::to_string(c.layer.bottom_size()));
  if (settings.enable_llama_style_head())
    c.unsupported(settings, "enable_llama_style_head",
                  "enable_llama_style_head is not supported");
  if (settings.hidden_dim() > kMaxWindowSetting)
    c.error(settings, "hidden_dim", "hidden_dim is too large");
}

void checkPositionalEncoder(LayerChecker &c) {
  const caffe::PositionalEncoderParameter &settings =
      c.layer.positional_encoder_param();
  for (const char *field : {"embed", "block_size"})
    if ((field == std::string("embed") ? settings.embed()
                                       : settings.block_size()) == 0)
      c.error(settings, field, std::string(field) + " must be at least 1");
  if (uint64_t{settings.embed()} * settings.block_size() > kMaxWindowSetting)
    c.error(settings, settings.has_embed() ? "embed" : "block_size",
            "embed times block_size is too large");
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

const caffe::FillerParameter *gaussian(double deviation) {
  caffe::FillerParameter filler;
  filler.set_type("gaussian");
  filler.set_std(static_cast<float>(deviation));
  return cachedFiller(filler);
}

const caffe::FillerParameter *xavier() {
  caffe::FillerParameter filler;
  filler.set_type("xavier");
  return cachedFiller(filler);
}

/// The parameters of a layer's inner products, in their order.
class ProductParams {
public:
  /// Products have a bias or not. With `isGpt`, weights are initialised as in
  /// GPT-2 with `layers` layers, otherwise as in MyCaffe's encoders.
  ProductParams(bool hasBiases, bool isGptNet, uint32_t layerCount)
      : hasBias(hasBiases), isGpt(isGptNet), layers(layerCount) {}

  void add(int products) { addProducts(products, 0.02); }
  /// Adds a product whose top is added to the layer's bottom.
  void addResidual() { addProducts(1, 0.02 / std::sqrt(2.0 * layers)); }

  std::vector<ParamBlob> blobs;

private:
  void addProducts(int products, double deviation) {
    const caffe::FillerParameter unset;
    for (int i = 0; i < products; ++i) {
      blobs.push_back({isGpt ? gaussian(deviation) : xavier()});
      if (hasBias)
        blobs.push_back({isGpt ? fillerOr(false, unset, 0) : xavier()});
    }
  }

  bool hasBias, isGpt;
  uint32_t layers;
};

/// The products of queries, keys and values are one product.
std::vector<ParamBlob>
causalSelfAttentionParams(const caffe::LayerParameter &layer) {
  const caffe::CausalSelfAttentionParameter &settings =
      layer.causal_self_attention_param();
  ProductParams params(settings.bias_term(), true, settings.layers());
  params.add(1);
  params.addResidual();
  return params.blobs;
}

std::vector<ParamBlob>
multiheadAttentionParams(const caffe::LayerParameter &layer) {
  const caffe::MultiheadAttentionParameter &settings =
      layer.multihead_attention_param();
  ProductParams params(settings.bias_term(),
                       settings.weight_init() ==
                           caffe::MultiheadAttentionParameter::GPT,
                       settings.layers());
  params.add(3);
  params.addResidual();
  return params.blobs;
}

std::vector<ParamBlob>
transformerBlockParams(const caffe::LayerParameter &layer) {
  const Block &settings = layer.transformer_block_param();
  const Block::BlockType type = settings.block_type();
  ProductParams params(settings.bias_term(), bottomsOf(settings) == 1,
                       settings.layers());
  for (int attention = 0; attention < (type == Block::DECODER ? 2 : 1);
       ++attention) {
    params.add(type == Block::CAUSAL_SELF_ATTENTION ? 1 : 3);
    params.addResidual();
  }
  params.add(1);
  params.addResidual();
  return params.blobs;
}

} // namespace

LayerRows attentionLayers() {
  return {
      plainKind("CausalSelfAttention", "causal_self_attention_param")
          .checkedBy(checkCausalSelfAttention)
          .withParams(causalSelfAttentionParams),
      // MyCaffe reads types without regard to case, and writes GELU.
      neuronKind("GELU", "gelu_param"),
      neuronKind("Gelu", "gelu_param"),
      // The bottoms are those of queries, keys and values, and a mask.
      LayerKind{"MultiheadAttention", 4, 4, 1, 1, "multihead_attention_param"}
          .differentiatingBottoms(3)
          .withoutForcedGradient(3)
          .checkedBy(checkMultiheadAttention)
          .withParams(multiheadAttentionParams),
      plainKind("PositionalEncoder", "positional_encoder_param")
          .checkedBy(checkPositionalEncoder),
      LayerKind{"TransformerBlock", 1, 4, 1, 1, "transformer_block_param"}
          .withoutForcedGradient(1, 3)
          .checkedBy(checkTransformerBlock)
          .withParams(transformerBlockParams),
  };
}

} // namespace brew::prototxt
