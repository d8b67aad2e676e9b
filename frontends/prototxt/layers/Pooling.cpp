//===- Pooling.cpp - Pooling layers ---------------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

void checkPooling(LayerChecker &c) {
  const caffe::PoolingParameter &settings = c.layer.pooling_param();
  c.refuse(settings, {"kernel_depth", "temporal_stride"},
           "is a setting of Pooling3D, not of Pooling");
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

void checkPooling3D(LayerChecker &c) {
  const caffe::PoolingParameter &settings = c.layer.pooling3d_param();
  c.refuse(settings,
           {"kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w",
            "global_pooling", "round_mode", "ceil_mode"},
           "is not a setting of Pooling3D");
  for (const char *field : {"kernel_size", "kernel_depth"})
    c.count(settings, field);
  for (const char *field :
       {"kernel_size", "kernel_depth", "stride", "temporal_stride"})
    c.perDimension(settings, field, "", true);
  if (settings.pool() == caffe::PoolingParameter::STOCHASTIC)
    c.unsupported(settings, "pool", "Pooling3D is MAX or AVE, as in C3D");
  if (settings.pad() != 0)
    c.unsupported(settings, "pad", "Pooling3D with padding is not supported");
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
      plainKind("Pooling3D", "pooling3d_param").checkedBy(checkPooling3D),
      plainKind("SPP", "spp_param").checkedBy(checkSpp),
  };
}

} // namespace brew::prototxt
