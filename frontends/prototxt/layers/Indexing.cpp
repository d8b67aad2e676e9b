//===- Indexing.cpp - Layers that select by index -------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

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

void buildArgMax(LayerBuilder &l) {
  const caffe::ArgMaxParameter &settings = l.layer.argmax_param();
  OperationSpec &op = l.layerOp("argmax");
  op.integer("top_k", settings.top_k())
      .flag("max_values", settings.out_max_val());
  if (settings.has_axis())
    op.integer("axis", settings.axis());
}

void buildBatchReindex(LayerBuilder &l) {
  OperationSpec &op = l.layerOp("batch_reindex");
  // The status of the range check of the indices, which are checked like
  // labels.
  op.addResults(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(1));
}

/// Checks that each bottom except the last one, the selector, has a top.
void checkFilter(LayerChecker &c) {
  const int tops = c.layer.top_size(), bottoms = c.layer.bottom_size();
  if (tops != bottoms - 1)
    c.error(c.layer, "top",
            "needs a top for each bottom but the last, the selector: " +
                std::to_string(bottoms - 1) + ", not " + std::to_string(tops));
}

void buildFilter(LayerBuilder &l) {
  // The number of selected items, and the position of each item in the tops.
  l.layerOp("filter").addResults(2, OperationSpec::Element::I32);
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

void buildEmbed(LayerBuilder &l) {
  const caffe::EmbedParameter &settings = l.layer.embed_param();
  OperationSpec &op = l.layerOp("embed");
  op.integer("input_dim", settings.input_dim())
      .integer("num_output", settings.num_output())
      // The status of the range check of the indices (bottom 0).
      .addResults(1, OperationSpec::Element::I32);
  l.checkLabels(op.result(1), 0);
}

} // namespace

LayerRows indexingLayers() {
  return {
      plainKind("ArgMax", "argmax_param")
          .checkedBy(checkArgMax)
          .builtBy(buildArgMax),
      LayerKind{"BatchReindex", 2, 2, 1, 1}.builtBy(buildBatchReindex),
      plainKind("Embed", "embed_param")
          .checkedBy(checkEmbed)
          .withParams(embedParams)
          .builtBy(buildEmbed),
      LayerKind{"Filter", 2, -1, 1, -1}
          .checkedBy(checkFilter)
          .builtBy(buildFilter),
  };
}

} // namespace brew::prototxt
