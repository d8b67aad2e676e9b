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

constexpr int kDims = 2; // height and width

/// Maps a position to the corresponding position of another blob, in one
/// dimension.
struct Line {
  double scale = 1, shift = 0;
};
using Map = std::array<Line, kDims>;

/// Returns outer(inner(position)).
Map composed(const Map &outer, const Map &inner) {
  Map map;
  for (int dim = 0; dim < kDims; ++dim)
    map[dim] = {outer[dim].scale * inner[dim].scale,
                outer[dim].scale * inner[dim].shift + outer[dim].shift};
  return map;
}

/// Returns the setting of dimension `dim`: a value for each dimension, a list,
/// or one value for both.
template <typename List>
double settingOf(const List &list, bool hasOwn, uint32_t height, uint32_t width,
                 int dim, double otherwise) {
  if (hasOwn)
    return dim == 0 ? height : width;
  if (list.empty())
    return otherwise;
  return list[list.size() > dim ? dim : 0];
}

/// Maps positions of a result to the centres of their windows in the bottom.
Map windowMap(double (*kernel)(const caffe::LayerParameter &, int),
              double (*stride)(const caffe::LayerParameter &, int),
              double (*pad)(const caffe::LayerParameter &, int),
              const caffe::LayerParameter &layer) {
  Map map;
  for (int dim = 0; dim < kDims; ++dim)
    map[dim] = {stride(layer, dim),
                (kernel(layer, dim) - 1) / 2 - pad(layer, dim)};
  return map;
}

Map convolutionMap(const caffe::LayerParameter &layer) {
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

Map poolingMap(const caffe::LayerParameter &layer) {
  const auto both = [](bool hasOwn, uint32_t own, uint32_t shared) {
    return static_cast<double>(hasOwn ? own : shared);
  };
  const caffe::PoolingParameter &p = layer.pooling_param();
  Map map;
  for (int dim = 0; dim < kDims; ++dim) {
    const bool isHeight = dim == 0;
    const double kernel =
        both(p.has_kernel_h(), isHeight ? p.kernel_h() : p.kernel_w(),
             p.kernel_size());
    const double pad =
        both(p.has_pad_h(), isHeight ? p.pad_h() : p.pad_w(), p.pad());
    map[dim] = {both(p.has_stride_h(), isHeight ? p.stride_h() : p.stride_w(),
                     p.stride()),
                (kernel - 1) / 2 - pad};
  }
  return map;
}

Map inverted(const Map &map) {
  Map inverse;
  for (int dim = 0; dim < kDims; ++dim)
    inverse[dim] = {1 / map[dim].scale, -map[dim].shift / map[dim].scale};
  return inverse;
}

/// Maps positions of the layer's tops to positions of its bottoms; nullopt for
/// layers without such a map.
std::optional<Map> coordinateMap(const caffe::LayerParameter &layer) {
  const std::string &type = layer.type();
  if (type == "Convolution")
    return convolutionMap(layer);
  if (type == "Deconvolution")
    return inverted(convolutionMap(layer));
  if (type == "Pooling")
    return layer.pooling_param().global_pooling()
               ? std::nullopt
               : std::optional(poolingMap(layer));
  if (type == "Crop") {
    const auto &offsets = layer.crop_param().offset();
    Map map;
    for (int dim = 0; dim < kDims; ++dim)
      map[dim].shift = settingOf(offsets, false, 0, 0, dim, 0);
    return map;
  }
  // Layer types of V1 segmentation nets that keep positions.
  if (hasWord("AbsVal BNLL Concat Dropout Eltwise Exp LRN MVN Power ReLU "
              "Sigmoid Slice Softmax Split TanH Threshold",
              type))
    return Map();
  return std::nullopt;
}

/// A blob: its name and the layer that produces it, or -1.
using Blob = std::pair<std::string, int>;

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
std::vector<std::pair<Blob, Map>> sourcesOf(const caffe::NetParameter &net,
                                            const Blob &from) {
  std::vector<std::pair<Blob, Map>> found = {{from, Map()}};
  std::map<Blob, bool> seen = {{from, true}};
  for (size_t next = 0; next < found.size(); ++next) {
    const auto [blob, map] = found[next];
    if (blob.second < 0)
      continue;
    const caffe::LayerParameter &layer = net.layer(blob.second);
    const std::optional<Map> step = coordinateMap(layer);
    if (!step)
      continue;
    // The second bottom of a Crop only determines its size.
    const int bottoms = layer.type() == "Crop" ? 1 : layer.bottom_size();
    for (int i = 0; i < bottoms && i < layer.bottom_size(); ++i) {
      const Blob source = blobBefore(net, layer.bottom(i), blob.second);
      if (seen.emplace(source, true).second)
        found.emplace_back(source, composed(*step, map));
    }
  }
  return found;
}

} // namespace

void addCropOffsets(caffe::NetParameter &net, int index,
                    const SourceMap &locations, Diagnostics &diagnostics) {
  caffe::LayerParameter &layer = *net.mutable_layer(index);
  auto fail = [&](const std::string &why) {
    diagnostics.error(locations.where(layer),
                      layerPrefix(layer) +
                          "its offsets cannot be determined: " + why +
                          "; CROP belongs to " + fcn);
  };
  if (layer.bottom_size() != 2)
    return; // reported later
  const auto cropped = sourcesOf(net, blobBefore(net, layer.bottom(0), index));
  const auto reference =
      sourcesOf(net, blobBefore(net, layer.bottom(1), index));
  for (const auto &[blob, map] : cropped)
    for (const auto &[other, otherMap] : reference) {
      if (blob != other)
        continue;
      caffe::CropParameter settings;
      settings.set_axis(2);
      for (int dim = 0; dim < kDims; ++dim) {
        // Strides of 0 produce NaN; they are reported later.
        if (!(std::abs(map[dim].scale / otherMap[dim].scale - 1) <= 1e-6))
          return fail("its bottoms have strides of " +
                      std::to_string(map[dim].scale) + " and " +
                      std::to_string(otherMap[dim].scale) + " over '" +
                      blob.first + "'");
        const double offset =
            (otherMap[dim].shift - map[dim].shift) / map[dim].scale;
        const double whole = std::round(offset);
        if (!(std::abs(offset - whole) <= 1e-3 && whole >= 0 &&
              whole <= std::numeric_limits<int32_t>::max()))
          return fail("it would begin at " + std::to_string(offset));
        settings.add_offset(static_cast<uint32_t>(whole));
      }
      *layer.mutable_crop_param() = settings;
      return;
    }
  fail("its bottoms are not computed from a common blob");
}

} // namespace brew::prototxt
