//===- Shape.cpp - Layers that change shapes ------------------------------===//

#include "frontends/prototxt/check/LayerChecker.h"

#include <algorithm>
#include <climits>

namespace brew::prototxt {

namespace {

/// Checks that only one of `axis` and its older name is set.
template <typename Settings>
void checkOldAxis(LayerChecker &c, const Settings &settings,
                  const std::string &old, bool hasOld, uint32_t value) {
  if (hasOld && settings.has_axis())
    c.error(settings, "axis", "give either axis or " + old + ", not both")
        .note(c.locations.where(settings, old), old + " is given here");
  if (hasOld && value > INT_MAX)
    c.error(settings, old, old + " is too large");
}

void checkConcat(LayerChecker &c) {
  const caffe::ConcatParameter &settings = c.layer.concat_param();
  checkOldAxis(c, settings, "concat_dim", settings.has_concat_dim(),
               settings.concat_dim());
}

void checkSlice(LayerChecker &c) {
  const caffe::SliceParameter &settings = c.layer.slice_param();
  checkOldAxis(c, settings, "slice_dim", settings.has_slice_dim(),
               settings.slice_dim());
  const int points = settings.slice_point_size();
  if (points == 0)
    return;
  if (points != c.layer.top_size() - 1) {
    c.error(settings, "slice_point",
            "slice_point is given " + std::to_string(points) + " times for " +
                std::to_string(c.layer.top_size()) +
                " tops; each top but the first starts at one");
    return;
  }
  uint32_t previous = 0;
  for (int i = 0; i < points; ++i) {
    const uint32_t point = settings.slice_point(i);
    if (point <= previous) {
      c.error(settings, "slice_point",
              "slice_point " + std::to_string(point) +
                  (i ? " is not after the one before it"
                     : " leaves the first top without elements"),
              i);
      return;
    }
    previous = point;
  }
}

void checkReshape(LayerChecker &c) {
  const caffe::ReshapeParameter &settings = c.layer.reshape_param();
  if (settings.num_axes() < -1)
    c.error(settings, "num_axes",
            "num_axes must be -1 (all the rest), 0 or more");
  const auto &dims = settings.shape().dim();
  int inferred = 0;
  for (int i = 0; i < dims.size(); ++i) {
    if (dims[i] < -1 || dims[i] > INT_MAX)
      c.error(settings.shape(), "dim",
              "dim is " + std::to_string(dims[i]) +
                  "; it must be -1 (the rest), 0 (as in the bottom) or a "
                  "size",
              i);
    else if (dims[i] == -1 && ++inferred == 2)
      c.error(settings.shape(), "dim", "only one dim can be -1", i);
  }
}

/// Checks that a list of dimensions names none twice.
template <typename Settings, typename List>
void checkOrder(LayerChecker &c, const Settings &settings,
                const std::string &field, const List &order) {
  for (int i = 0; i < order.size(); ++i)
    if (std::find(order.begin(), order.begin() + i, order[i]) !=
        order.begin() + i)
      c.error(settings, field,
              field + " names dimension " + std::to_string(order[i]) + " twice",
              i);
}

void checkPermute(LayerChecker &c) {
  const caffe::PermuteParameter &settings = c.layer.permute_param();
  checkOrder(c, settings, "order", settings.order());
}

void checkTranspose(LayerChecker &c) {
  const caffe::TransposeParameter &settings = c.layer.transpose_param();
  checkOrder(c, settings, "dim", settings.dim());
}

void checkTile(LayerChecker &c) {
  const caffe::TileParameter &settings = c.layer.tile_param();
  if (!settings.has_tiles())
    c.reportMissing(settings, "tiles");
  else if (settings.tiles() < 1)
    c.error(settings, "tiles",
            "tiles is " + std::to_string(settings.tiles()) +
                "; it must be at least 1");
}

void checkParameter(LayerChecker &c) {
  c.shape(c.layer.parameter_param().shape());
}

/// The parameter has no filler, so it is initially zero.
std::vector<ParamBlob> parameterParams(const caffe::LayerParameter &) {
  return {{}};
}

void checkSplit(LayerChecker &c) {
  if (c.layer.bottom_size() != 1)
    return;
  for (int i = 0; i < c.layer.top_size(); ++i)
    if (c.layer.top(i) == c.layer.bottom(0))
      c.error(c.layer, "top", "a Split layer cannot be in-place", i);
}

void checkCropCenter(LayerChecker &c) {
  const caffe::CropCenterParameter &settings = c.layer.crop_center_param();
  if (settings.crop_size_size() == 0)
    c.reportMissing(settings, "crop_size");
  c.perDimension(settings, "crop_size", "", false);
}

void checkPad(LayerChecker &c) {
  const caffe::PadParameter &settings = c.layer.pad_param();
  if (settings.paddings_size() == 0)
    c.reportMissing(settings, "paddings");
  if (settings.paddings_size() % 2)
    c.error(settings, "paddings",
            "paddings has an odd number of values; each dimension has two");
  c.perDimension(settings, "paddings", "", false);
}

} // namespace

LayerRows shapeLayers() {
  return {
      LayerKind{"Concat", 1, -1, 1, 1, "concat_param"}.checkedBy(checkConcat),
      LayerKind{"Crop", 2, 2, 1, 1, "crop_param"},
      plainKind("CropCenter", "crop_center_param").checkedBy(checkCropCenter),
      plainKind("Flatten", "flatten_param"),
      plainKind("Flip", "flip_param"),
      plainKind("Pad", "pad_param").checkedBy(checkPad),
      LayerKind{"Parameter", 0, 0, 1, 1, "parameter_param"}
          .checkedBy(checkParameter)
          .withParams(parameterParams),
      plainKind("Permute", "permute_param").checkedBy(checkPermute),
      plainKind("Reshape", "reshape_param").checkedBy(checkReshape),
      plainKind("Reverse", "reverse_param"),
      LayerKind{"Silence", 1, -1, 0, 0},
      LayerKind{"Slice", 1, 1, 1, -1, "slice_param"}.checkedBy(checkSlice),
      LayerKind{"Split", 1, 1, 1, -1}.checkedBy(checkSplit),
      plainKind("Squeeze", "squeeze_param"),
      plainKind("Tile", "tile_param").checkedBy(checkTile),
      plainKind("Transpose", "transpose_param").checkedBy(checkTranspose),
  };
}

} // namespace brew::prototxt
