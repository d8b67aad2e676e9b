//===- Resample.cpp - Forks' resampling and channel layers ----------------===//

#include "frontends/prototxt/check/LayerChecker.h"

namespace brew::prototxt {

namespace {

void checkShuffleChannel(LayerChecker &c) {
  if (c.layer.shuffle_channel_param().group() == 0)
    c.error(c.layer.shuffle_channel_param(), "group",
            "group must be at least 1");
}

void checkReorg(LayerChecker &c) { c.count(c.layer.reorg_param(), "stride"); }

/// Checks an Upsample whose second bottom is the mask of a max pooling. The
/// layer inverts that pooling, as in SegNet's fork. Its settings contain a size
/// or a scale.
void checkUnpooling(LayerChecker &c) {
  const caffe::UpsampleParameter &settings = c.layer.upsample_param();
  const bool hasSize = settings.has_upsample_h() || settings.has_upsample_w();
  if (settings.has_upsample_h() != settings.has_upsample_w()) {
    const bool hasHeight = settings.has_upsample_h();
    c.error(settings, hasHeight ? "upsample_h" : "upsample_w",
            hasHeight ? "upsample_h is given without upsample_w"
                      : "upsample_w is given without upsample_h");
  }
  auto checkAtLeastTwo = [&](const char *field, bool isSet, uint32_t value) {
    if (isSet && value < 2)
      c.error(settings, field,
              std::string(field) + " must be at least 2 with a mask");
  };
  checkAtLeastTwo("upsample_h", settings.has_upsample_h(),
                  settings.upsample_h());
  checkAtLeastTwo("upsample_w", settings.has_upsample_w(),
                  settings.upsample_w());
  checkAtLeastTwo("scale", settings.has_scale(), settings.scale());
  checkAtLeastTwo("scale_h", settings.has_scale_h(), settings.scale_h());
  checkAtLeastTwo("scale_w", settings.has_scale_w(), settings.scale_w());
  for (const char *field :
       {"scale", "scale_h", "scale_w", "pad_out_h", "pad_out_w"})
    if (hasSize && c.locations.find(settings, field))
      c.warn(settings, field,
             std::string(field) +
                 " has no effect with upsample_h and upsample_w, as in SegNet");
}

void checkUpsample(LayerChecker &c) {
  const caffe::UpsampleParameter &settings = c.layer.upsample_param();
  c.perDimension(settings, "scale", "scale", true);
  if (c.layer.bottom_size() == 2) {
    checkUnpooling(c);
    for (int i = 0; i < 2; ++i)
      if ((i == 0 ? settings.pad_out_h() : settings.pad_out_w()) &&
          unpoolingScale(settings, i) != 2)
        c.error(settings, i == 0 ? "pad_out_h" : "pad_out_w",
                std::string(i == 0 ? "pad_out_h" : "pad_out_w") +
                    " needs a scale of 2");
    return;
  }
  for (const char *field :
       {"pad_out_h", "pad_out_w", "upsample_h", "upsample_w"})
    if (c.locations.find(settings, field))
      c.error(settings, field,
              std::string(field) +
                  " needs a second bottom, the mask of a max pooling");
}

void checkUpsampleDarknet(LayerChecker &c) {
  c.perDimension(c.layer.upsample_darknet_param(), "stride", "", true);
}

void checkInterp(LayerChecker &c) {
  const caffe::InterpParameter &settings = c.layer.interp_param();
  for (const char *field : {"pad_beg", "pad_end"})
    if ((field[4] == 'b' ? settings.pad_beg() : settings.pad_end()) > 0)
      c.error(settings, field,
              std::string(field) + " must be 0 or negative: it crops");
  if (settings.zoom_factor() < 1)
    c.error(settings, "zoom_factor", "zoom_factor must be at least 1");
  if (settings.shrink_factor() < 1)
    c.error(settings, "shrink_factor", "shrink_factor must be at least 1");
  const bool hasFactor =
      settings.has_zoom_factor() || settings.has_shrink_factor();
  const bool hasSize = settings.has_height() || settings.has_width();
  if (c.layer.bottom_size() == 2 || hasFactor)
    return; // as in the forks, height and width are ignored in this case
  if (!hasSize) {
    c.error(c.layer, "interp_param",
            "height and width, zoom_factor or shrink_factor is missing");
    return;
  }
  for (const char *field : {"height", "width"})
    if ((field[0] == 'h' ? settings.height() : settings.width()) < 1)
      c.error(settings, field,
              std::string(field) + " must be given, and at least 1");
}

/// Checks the settings that ResizeBilinear and ResizeNearestNeighbor share.
/// `halfPixel` is the other setting for half pixels.
template <typename Settings>
void checkSynopsysResize(LayerChecker &c, const Settings &settings,
                         const char *halfPixel, bool hasHalfPixel) {
  if (settings.data_format() == "NCHWD")
    c.unsupported(settings, "data_format",
                  "data_format NCHWD is not supported");
  else if (settings.data_format() != "NHWC" && settings.data_format() != "NCHW")
    c.error(settings, "data_format", "data_format must be NHWC or NCHW");
  const bool hasSize[] = {settings.has_output_height(),
                          settings.has_output_width()};
  for (int i = 0; i < 2; ++i) {
    const std::string size = i ? "output_width" : "output_height",
                      scale = i ? "scale_width" : "scale_height";
    if ((i ? settings.output_width() : settings.output_height()) < 1 &&
        hasSize[i])
      c.error(settings, size, size + " must be at least 1");
    if (!((i ? settings.scale_width() : settings.scale_height()) > 0))
      c.error(settings, scale, scale + " must be above 0");
    else if (hasSize[i] && c.locations.find(settings, scale))
      c.warn(settings, scale, scale + " has no effect with " + size);
  }
  const std::string exclusive = " cannot be given together with ";
  if (settings.align_corners() && settings.half_pixel_centers())
    c.error(settings, "half_pixel_centers",
            "half_pixel_centers" + exclusive + "align_corners");
  if (hasHalfPixel &&
      (settings.align_corners() || settings.half_pixel_centers()))
    c.error(settings, halfPixel,
            halfPixel + exclusive +
                (settings.align_corners() ? "align_corners"
                                          : "half_pixel_centers"));
}

void checkResizeBilinear(LayerChecker &c) {
  const caffe::ResizeBilinearParameter &settings =
      c.layer.resize_bilinear_param();
  checkSynopsysResize(c, settings, "pytorch_half_pixel",
                      settings.pytorch_half_pixel());
}

void checkResizeNearestNeighbor(LayerChecker &c) {
  const caffe::ResizeNearestNeighborParameter &settings =
      c.layer.resize_nearest_neighbor_param();
  checkSynopsysResize(c, settings, "half_pixel_onnx",
                      settings.half_pixel_onnx());
}

void checkResize(LayerChecker &c) {
  const caffe::ResizeImageParameter &settings = c.layer.resize_param();
  const bool isScaled = settings.is_pyramid_test();
  for (const char *field : {"height", "width"})
    if (!isScaled)
      c.count(settings, field);
    else if (c.locations.find(settings, field))
      c.warn(settings, field,
             std::string(field) + " has no effect with is_pyramid_test");
  for (const char *field : {"out_height_scale", "out_width_scale"}) {
    const bool isSet = c.locations.find(settings, field);
    if (isScaled && !isSet)
      c.reportMissing(settings, field);
    else if (isScaled && !((field[4] == 'h' ? settings.out_height_scale()
                                            : settings.out_width_scale()) > 0))
      c.error(settings, field, std::string(field) + " must be above 0");
    else if (isSet && !isScaled)
      c.warn(settings, field,
             std::string(field) + " has no effect without is_pyramid_test");
  }
}

} // namespace

LayerRows resampleLayers() {
  return {
      LayerKind{"Axpy", 3, 3, 1, 1},
      LayerKind{"Interp", 1, 2, 1, 1, "interp_param"}.checkedBy(checkInterp),
      plainKind("Reorg", "reorg_param").checkedBy(checkReorg),
      plainKind("Resize", "resize_param").checkedBy(checkResize),
      plainKind("ResizeBilinear", "resize_bilinear_param")
          .checkedBy(checkResizeBilinear),
      plainKind("ResizeNearestNeighbor", "resize_nearest_neighbor_param")
          .checkedBy(checkResizeNearestNeighbor),
      plainKind("ShuffleChannel", "shuffle_channel_param")
          .checkedBy(checkShuffleChannel),
      LayerKind{"Upsample", 1, 2, 1, 1, "upsample_param"}.checkedBy(
          checkUpsample),
      plainKind("UpsampleDarknet", "upsample_darknet_param")
          .checkedBy(checkUpsampleDarknet),
  };
}

} // namespace brew::prototxt
