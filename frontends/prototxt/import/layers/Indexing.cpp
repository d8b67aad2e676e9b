//===- Indexing.cpp - Layers that select by index -------------------------===//

#include "dialects/Brew/layers/indexing/Gather.h"
#include "dialects/Brew/layers/indexing/Items.h"
#include "frontends/prototxt/import/LayerBuilder.h"

using namespace brew::dialects;

namespace brew::prototxt {

namespace {

void buildArgMax(LayerBuilder &l) {
  const caffe::ArgMaxParameter &settings = l.layer.argmax_param();
  auto op = l.layerOp<ArgMaxOp>();
  op.setTopK(settings.top_k());
  op.setMaxValues(settings.out_max_val());
  if (settings.has_axis())
    op.setAxis(settings.axis());
}

void buildBatchReindex(LayerBuilder &l) {
  // The indices are checked like labels.
  l.checkLabels(l.layerOp<BatchReindexOp>(l.integerType).getStatus());
}

void buildFilter(LayerBuilder &l) { l.layerOp<FilterOp>(l.types(0, 2)); }

void buildEmbed(LayerBuilder &l) {
  const caffe::EmbedParameter &settings = l.layer.embed_param();
  auto op = l.layerOp<EmbedOp>(l.integerType);
  op.setInputDim(settings.input_dim());
  op.setNumOutput(settings.num_output());
  l.checkLabels(op.getStatus(), 0);
}

/// Returns the dimensions whose elements are compared; empty: all of an item.
llvm::SmallVector<int64_t> comparedDims(caffe::TopKParameter::Grouping type) {
  switch (type) {
  case caffe::TopKParameter::LATERAL:
    return {};
  case caffe::TopKParameter::CONV_SPATIAL:
    return {2, 3};
  case caffe::TopKParameter::CONV_CROSS_CHANNEL:
    return {1};
  case caffe::TopKParameter::CONV_LIFETIME_CHANNEL:
    return {0, 2, 3};
  default:
    return {0};
  }
}

void buildTopK(LayerBuilder &l) {
  const caffe::TopKParameter &settings = l.layer.topk_param();
  auto op = l.layerOp<KeepLargestOp>(l.types(1));
  op.setDims(comparedDims(settings.grouping()));
  if (settings.has_k_num())
    op.setK(settings.k_num());
  else
    op.setFraction(llvm::APFloat(settings.k_perc()));
  op.setFactor(llvm::APFloat(l.phase == caffe::TRAIN ? 1 : settings.a()));
}

} // namespace

BuildFunctions indexingFunctions() {
  return {{"ArgMax", buildArgMax},
          {"BatchReindex", buildBatchReindex},
          {"Embed", buildEmbed},
          {"Filter", buildFilter},
          {"TopK", buildTopK}};
}

} // namespace brew::prototxt
