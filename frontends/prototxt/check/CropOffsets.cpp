//===- CropOffsets.cpp - Offsets of FCN's Crop layers ---------------------===//

#include "frontends/prototxt/check/CropOffsets.h"

#include "frontends/prototxt/check/LayerSettings.h"
#include "frontends/prototxt/upgrade/ForkNames.h"

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace brew::prototxt {

namespace {

/// Height and width.
constexpr int kDims = 2;

/// Maps a position to the corresponding position of another blob, in one
/// dimension.
struct AxisMap {
  double scale = 1, shift = 0;
};
using PositionMap = std::array<AxisMap, kDims>;

/// Returns outer(inner(position)).
PositionMap compose(const PositionMap &outer, const PositionMap &inner) {
  PositionMap map;
  for (int dim = 0; dim < kDims; ++dim)
    map[dim] = {outer[dim].scale * inner[dim].scale,
                outer[dim].scale * inner[dim].shift + outer[dim].shift};
  return map;
}

/// Returns the setting of dimension `dim`: `height` or `width` if `hasPerDim`,
/// otherwise the element of `list` for this dimension or for both;
/// `defaultValue` if the list is empty.
template <typename List>
double settingOf(const List &list, bool hasPerDim, uint32_t height,
                 uint32_t width, int dim, double defaultValue) {
  if (hasPerDim)
    return dim == 0 ? height : width;
  if (list.empty())
    return defaultValue;
  return list[list.size() > dim ? dim : 0];
}

/// Returns the map from positions of a top to the centres of their windows in
/// the bottom.
PositionMap windowMap(double (*kernel)(const caffe::LayerParameter &, int),
                      double (*stride)(const caffe::LayerParameter &, int),
                      double (*pad)(const caffe::LayerParameter &, int),
                      const caffe::LayerParameter &layer) {
  PositionMap map;
  for (int dim = 0; dim < kDims; ++dim)
    map[dim] = {stride(layer, dim),
                (kernel(layer, dim) - 1) / 2 - pad(layer, dim)};
  return map;
}

PositionMap convolutionMap(const caffe::LayerParameter &layer) {
  return windowMap(
      [](const caffe::LayerParameter &layer, int dim) {
        const auto &c = layer.convolution_param();
        const double kernel = settingOf(c.kernel_size(), c.has_kernel_h(),
                                        c.kernel_h(), c.kernel_w(), dim, 1);
        return settingOf(c.dilation(), false, 0, 0, dim, 1) * (kernel - 1) + 1;
      },
      [](const caffe::LayerParameter &layer, int dim) {
        const auto &c = layer.convolution_param();
        return settingOf(c.stride(), c.has_stride_h(), c.stride_h(),
                         c.stride_w(), dim, 1);
      },
      [](const caffe::LayerParameter &layer, int dim) {
        const auto &c = layer.convolution_param();
        return settingOf(c.pad(), c.has_pad_h(), c.pad_h(), c.pad_w(), dim, 0);
      },
      layer);
}

PositionMap poolingMap(const caffe::LayerParameter &layer) {
  const auto select = [](bool hasPerDim, uint32_t perDim, uint32_t shared) {
    return static_cast<double>(hasPerDim ? perDim : shared);
  };
  const caffe::PoolingParameter &p = layer.pooling_param();
  PositionMap map;
  for (int dim = 0; dim < kDims; ++dim) {
    const bool isHeight = dim == 0;
    const double kernel =
        select(p.has_kernel_h(), isHeight ? p.kernel_h() : p.kernel_w(),
               p.kernel_size());
    const double pad =
        select(p.has_pad_h(), isHeight ? p.pad_h() : p.pad_w(), p.pad());
    map[dim] = {select(p.has_stride_h(), isHeight ? p.stride_h() : p.stride_w(),
                       p.stride()),
                (kernel - 1) / 2 - pad};
  }
  return map;
}

PositionMap invert(const PositionMap &map) {
  PositionMap inverse;
  for (int dim = 0; dim < kDims; ++dim)
    inverse[dim] = {1 / map[dim].scale, -map[dim].shift / map[dim].scale};
  return inverse;
}

/// Returns the map from positions of the layer's tops to positions of its
/// bottoms; nullopt for layers without such a map.
std::optional<PositionMap> coordinateMap(const caffe::LayerParameter &layer) {
  const std::string &type = layer.type();
  if (type == "Convolution")
    return convolutionMap(layer);
  if (type == "Deconvolution")
    return invert(convolutionMap(layer));
  if (type == "Pooling")
    return layer.pooling_param().global_pooling()
               ? std::nullopt
               : std::optional(poolingMap(layer));
  if (type == "Crop") {
    const auto &offsets = layer.crop_param().offset();
    PositionMap map;
    for (int dim = 0; dim < kDims; ++dim)
      map[dim].shift = settingOf(offsets, false, 0, 0, dim, 0);
    return map;
  }
  // Layer types of V1 segmentation nets whose tops have the positions of their
  // bottoms.
  if (hasWord("AbsVal BNLL Concat Dropout Eltwise Exp LRN MVN Power ReLU "
              "Sigmoid Slice Softmax Split TanH Threshold",
              type))
    return PositionMap();
  return std::nullopt;
}

/// A blob: its name and the layer that produces it, or -1.
using Blob = std::pair<std::string, int>;

/// Returns the last blob named `name` that a layer before `layer` produces.
Blob blobBefore(const caffe::NetParameter &net, const std::string &name,
                int layer) {
  while (--layer >= 0)
    for (const std::string &top : net.layer(layer).top())
      if (top == name)
        return {name, layer};
  return {name, -1};
}

/// Returns the blobs that `from` is computed from, nearest first, each with the
/// map from positions of `from`.
std::vector<std::pair<Blob, PositionMap>>
sourcesOf(const caffe::NetParameter &net, const Blob &from) {
  std::vector<std::pair<Blob, PositionMap>> sources = {{from, PositionMap()}};
  std::map<Blob, bool> visited = {{from, true}};
  for (size_t next = 0; next < sources.size(); ++next) {
    const auto [blob, map] = sources[next];
    if (blob.second < 0)
      continue;
    const caffe::LayerParameter &layer = net.layer(blob.second);
    const std::optional<PositionMap> layerMap = coordinateMap(layer);
    if (!layerMap)
      continue;
    // The second bottom of a Crop only determines its size.
    const int bottoms = layer.type() == "Crop" ? 1 : layer.bottom_size();
    for (int i = 0; i < bottoms && i < layer.bottom_size(); ++i) {
      const Blob source = blobBefore(net, layer.bottom(i), blob.second);
      if (visited.emplace(source, true).second)
        sources.emplace_back(source, compose(*layerMap, map));
    }
  }
  return sources;
}

} // namespace

void addCropOffsets(caffe::NetParameter &net, int index,
                    const SourceMap &locations, Diagnostics &diagnostics) {
  caffe::LayerParameter &layer = *net.mutable_layer(index);
  auto fail = [&](const std::string &reason) {
    diagnostics.error(locations.where(layer),
                      layerPrefix(layer) +
                          "its offsets cannot be determined: " + reason +
                          "; CROP belongs to " + fcn);
  };
  if (layer.bottom_size() != 2)
    return; // reported later
  const auto cropped = sourcesOf(net, blobBefore(net, layer.bottom(0), index));
  const auto reference =
      sourcesOf(net, blobBefore(net, layer.bottom(1), index));
  for (const auto &[blob, map] : cropped)
    for (const auto &[referenceBlob, referenceMap] : reference) {
      if (blob != referenceBlob)
        continue;
      caffe::CropParameter settings;
      settings.set_axis(2);
      for (int dim = 0; dim < kDims; ++dim) {
        // Strides of 0 produce NaN; they are reported later.
        if (!(std::abs(map[dim].scale / referenceMap[dim].scale - 1) <= 1e-6))
          return fail("its bottoms have strides of " +
                      std::to_string(map[dim].scale) + " and " +
                      std::to_string(referenceMap[dim].scale) + " over '" +
                      blob.first + "'");
        const double offset =
            (referenceMap[dim].shift - map[dim].shift) / map[dim].scale;
        const double rounded = std::round(offset);
        if (!(std::abs(offset - rounded) <= 1e-3 && rounded >= 0 &&
              rounded <= std::numeric_limits<int32_t>::max()))
          return fail("it would begin at " + std::to_string(offset));
        settings.add_offset(static_cast<uint32_t>(rounded));
      }
      *layer.mutable_crop_param() = settings;
      return;
    }
  fail("its bottoms are not computed from a common blob");
}

} // namespace brew::prototxt
