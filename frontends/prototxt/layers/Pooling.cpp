//===- Pooling.cpp - Pooling ----------------------------------------------===//

#include "frontends/prototxt/LayerBuild.h"
#include "frontends/prototxt/LayerCheck.h"

namespace brew::prototxt {

namespace {

void checkPooling(LayerCheck &c) {
  const caffe::PoolingParameter &settings = c.layer.pooling_param();
  const Window window = poolingWindow(settings);
  if (settings.pool() == caffe::PoolingParameter::STOCHASTIC)
    c.error(settings, "pool", "STOCHASTIC pooling is not supported yet");
  if (settings.pool() != caffe::PoolingParameter::MAX && c.layer.top_size() > 1)
    c.error(c.layer, "top", "only MAX pooling has a second top", 1);
  if (settings.global_pooling()) {
    for (const char *field : {"kernel_size", "kernel_h", "kernel_w"})
      if (c.places.find(settings, field))
        c.error(settings, field,
                std::string(field) +
                    " cannot be given together with global_pooling");
    if (window.pad != std::array<int64_t, 2>{0, 0} ||
        window.stride != std::array<int64_t, 2>{1, 1})
      c.error(settings, "global_pooling",
              "global_pooling goes with pad 0 and stride 1 only");
  } else if (!settings.has_kernel_size() && !settings.has_kernel_h() &&
             !settings.has_kernel_w()) {
    c.missing(settings, "kernel_size");
  } else {
    c.pairs(settings, "kernel_size", "kernel", true);
  }
  c.pairs(settings, "stride", "stride", true);
  c.pairs(settings, "pad", "pad", false);
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

void buildPooling(LayerBuild &l) {
  const caffe::PoolingParameter &settings = l.layer.pooling_param();
  const Window window = poolingWindow(settings);
  const bool isAverage = settings.pool() == caffe::PoolingParameter::AVE;
  OperationSpec &op = l.whole(isAverage ? "average_pooling" : "max_pooling");
  op.integers("kernel", listOf(window.kernel))
      .integers("stride", listOf(window.stride))
      .integers("pad", listOf(window.pad))
      .flag("global", settings.global_pooling())
      .flag("floor", roundsDown(settings));
  if (!isAverage)
    op.saves(1);
}

} // namespace

LayerRows poolingLayers() {
  return {
      LayerKind{"Pooling", 1, 1, 1, 2, "pooling_param"}
          .checkedBy(checkPooling)
          .builtBy(buildPooling),
  };
}

} // namespace brew::prototxt
