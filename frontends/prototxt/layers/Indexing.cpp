//===- Indexing.cpp - Layers that select by index -------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

#include <climits>
#include <cmath>

namespace brew::prototxt {

namespace {

void checkArgMax(LayerChecker &c) {
  const caffe::ArgMaxParameter &settings = c.layer.argmax_param();
  if (settings.top_k() == 0 || settings.top_k() > INT_MAX)
    c.error(settings, "top_k",
            settings.top_k() ? "top_k is too large"
                             : "top_k must be at least 1");
}

/// Checks that each bottom except the last one, the selector, has a top.
void checkFilter(LayerChecker &c) {
  const int tops = c.layer.top_size(), bottoms = c.layer.bottom_size();
  if (tops != bottoms - 1)
    c.error(c.layer, "top",
            "needs a top for each bottom but the last, the selector: " +
                std::to_string(bottoms - 1) + ", not " + std::to_string(tops));
}

void checkEmbed(LayerChecker &c) {
  c.count(c.layer.embed_param(), "num_output");
  c.count(c.layer.embed_param(), "input_dim");
}

std::vector<ParamBlob> embedParams(const caffe::LayerParameter &layer) {
  const caffe::EmbedParameter &settings = layer.embed_param();
  std::vector<ParamBlob> params = {{&settings.weight_filler()}};
  if (settings.bias_term())
    params.push_back({&settings.bias_filler()});
  return params;
}

void checkTopK(LayerChecker &c) {
  const caffe::TopKParameter &settings = c.layer.topk_param();
  if (settings.has_k_num() == settings.has_k_perc())
    c.error(settings, settings.has_k_perc() ? "k_perc" : "k_num",
            settings.has_k_num() ? "give either k_num or k_perc, not both"
                                 : "needs k_num or k_perc");
  if (settings.has_k_num())
    c.count(settings, "k_num");
  if (settings.has_k_perc() &&
      !(settings.k_perc() > 0 && settings.k_perc() <= 1))
    c.error(settings, "k_perc", "k_perc must be above 0 and at most 1");
  if (!settings.has_a())
    c.reportMissing(settings, "a");
  else if (!(settings.a() > 0) || std::isinf(settings.a()))
    c.error(settings, "a", "a must be positive");
}

} // namespace

LayerRows indexingLayers() {
  return {
      plainKind("ArgMax", "argmax_param").checkedBy(checkArgMax),
      LayerKind{"BatchReindex", 2, 2, 1, 1},
      plainKind("Embed", "embed_param")
          .checkedBy(checkEmbed)
          .withParams(embedParams),
      LayerKind{"Filter", 2, -1, 1, -1}.checkedBy(checkFilter),
      // ctensmeyer's fork.
      plainKind("TopK", "topk_param").checkedBy(checkTopK),
  };
}

} // namespace brew::prototxt
