//===- Pooling.cpp - Pooling layers ---------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"
#include "frontends/prototxt/layers/LayerBuilder.h"

namespace brew::prototxt {

namespace {

void checkPooling(LayerChecker &c) {
  const caffe::PoolingParameter &settings = c.layer.pooling_param();
  const Window window = poolingWindow(settings);
  if (settings.pool() == caffe::PoolingParameter::STOCHASTIC &&
      window.pad != std::array<int64_t, 2>{0, 0})
    c.error(settings, settings.has_pad() ? "pad" : "pad_h",
            "only MAX and AVE pooling can be padded");
  if (settings.pool() != caffe::PoolingParameter::MAX && c.layer.top_size() > 1)
    c.error(c.layer, "top", "only MAX pooling has a second top", 1);
  if (settings.global_pooling()) {
    for (const char *field : {"kernel_size", "kernel_h", "kernel_w"})
      if (c.locations.find(settings, field))
        c.error(settings, field,
                std::string(field) +
                    " cannot be given together with global_pooling");
    if (window.pad != std::array<int64_t, 2>{0, 0} ||
        window.stride != std::array<int64_t, 2>{1, 1})
      c.error(settings, "global_pooling",
              "global_pooling requires pad 0 and stride 1");
  } else if (!settings.has_kernel_size() && !settings.has_kernel_h() &&
             !settings.has_kernel_w()) {
    c.reportMissing(settings, "kernel_size");
  } else {
    c.perDimension(settings, "kernel_size", "kernel", true);
  }
  c.perDimension(settings, "stride", "stride", true);
  c.perDimension(settings, "pad", "pad", false);
  const char *sides[] = {"pad_h", "pad_w"};
  for (int i = 0; i < 2 && !settings.global_pooling(); ++i)
    if (window.pad[i] && window.kernel[i] &&
        window.pad[i] >= window.kernel[i]) {
      c.error(settings, settings.has_pad() ? "pad" : sides[i],
              "pad " + std::to_string(window.pad[i]) +
                  " must be smaller than the kernel, " +
                  std::to_string(window.kernel[i]));
      return;
    }
}

bool roundsDown(const caffe::PoolingParameter &settings) {
  if (settings.has_round_mode())
    return settings.round_mode() == caffe::PoolingParameter::FLOOR;
  return !settings.ceil_mode();
}

/// Adds a pooling operation by `add(NAME)`, with its additional operands and
/// results.
template <typename Method, typename Add>
OperationSpec &addPooling(LayerBuilder &l, Method method, const Add &add) {
  if (method == Method(caffe::PoolingParameter::AVE))
    return add("average_pooling");
  if (method == Method(caffe::PoolingParameter::MAX))
    return add("max_pooling").addResults(1);
  // Stochastic pooling draws random numbers in training only.
  if (l.phase != caffe::TRAIN)
    return add("weighted_pooling");
  const ValueRef key = l.randomKey();
  OperationSpec &op = add("stochastic_pooling").addResults(1);
  op.operands.push_back(key);
  return op;
}

void buildPooling(LayerBuilder &l) {
  const caffe::PoolingParameter &settings = l.layer.pooling_param();
  const Window window = poolingWindow(settings);
  addPooling(
      l, settings.pool(),
      [&](const char *name) -> OperationSpec & { return l.layerOp(name); })
      .integers("kernel", listOf(window.kernel))
      .integers("stride", listOf(window.stride))
      .integers("pad", listOf(window.pad))
      .flag("global", settings.global_pooling())
      .flag("floor", roundsDown(settings));
}

void checkSpp(LayerChecker &c) {
  const caffe::SPPParameter &settings = c.layer.spp_param();
  c.count(settings, "pyramid_height");
  if (settings.pyramid_height() > 31)
    c.error(settings, "pyramid_height",
            "pyramid_height is too large: a level has twice the bins of the "
            "one before in both dimensions");
}

/// Concatenates poolings with 1, 2, 4 ... bins in both dimensions.
void buildSpp(LayerBuilder &l) {
  const caffe::SPPParameter &settings = l.layer.spp_param();
  const int levels = static_cast<int>(settings.pyramid_height());
  std::vector<ValueRef> flattened;
  for (int level = 0; level < levels; ++level) {
    OperationSpec &pooling = addPooling(
        l, settings.pool(), [&](const char *name) -> OperationSpec & {
          // A single level is just a pooling.
          return levels == 1 ? l.layerOp(name)
                             : l.firstOp(name, 0).setOperands({l.bottom(0)});
        });
    pooling.integers("kernel", {0, 0})
        .integers("stride", {1, 1})
        .integers("pad", {0, 0})
        .integer("bins", int64_t{1} << level);
    if (levels > 1)
      flattened.push_back(l.firstOp("flatten", 0)
                              .setOperands({pooling.result(0)})
                              .integer("axis", 1)
                              .integer("end_axis", -1)
                              .result(0));
  }
  if (levels > 1)
    l.lastOp("concat", 0).setOperands(flattened).integer("axis", 1);
}

} // namespace

LayerRows poolingLayers() {
  return {
      LayerKind{"Pooling", 1, 1, 1, 2, "pooling_param"}
          .checkedBy(checkPooling)
          .builtBy(buildPooling),
      plainKind("SPP", "spp_param").checkedBy(checkSpp).builtBy(buildSpp),
  };
}

} // namespace brew::prototxt
