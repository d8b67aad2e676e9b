//===- Pooling.cpp - Pooling layers ---------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

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

void checkSpp(LayerChecker &c) {
  const caffe::SPPParameter &settings = c.layer.spp_param();
  c.count(settings, "pyramid_height");
  if (settings.pyramid_height() > 31)
    c.error(settings, "pyramid_height",
            "pyramid_height is too large: a level has twice the bins of the "
            "one before in both dimensions");
}

} // namespace

LayerRows poolingLayers() {
  return {
      LayerKind{"Pooling", 1, 1, 1, 2, "pooling_param"}.checkedBy(checkPooling),
      plainKind("SPP", "spp_param").checkedBy(checkSpp),
  };
}

} // namespace brew::prototxt
