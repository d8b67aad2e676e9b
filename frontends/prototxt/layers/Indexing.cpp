//===- Indexing.cpp - Layers that select by index -------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

#include <climits>

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

} // namespace

LayerRows indexingLayers() {
  return {
      plainKind("ArgMax", "argmax_param").checkedBy(checkArgMax),
      LayerKind{"BatchReindex", 2, 2, 1, 1},
      plainKind("Embed", "embed_param")
          .checkedBy(checkEmbed)
          .withParams(embedParams),
      LayerKind{"Filter", 2, -1, 1, -1}.checkedBy(checkFilter),
  };
}

} // namespace brew::prototxt
