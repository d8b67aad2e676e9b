//===- Summaries.cpp - TensorBoard summaries of a net ---------------------===//

#include "runtime/train/watch/Summaries.h"

#include "formats/image/ImageEncode.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>

namespace brew::runtime {
namespace {

constexpr int kBuckets = 64;

/// A valid TensorFlow name: a letter, digit or point, then letters, digits and
/// _ . - /.
std::string nodeName(const std::string &layer) {
  std::string name;
  for (char c : layer) {
    const bool plain =
        (std::isalnum(static_cast<unsigned char>(c)) &&
         static_cast<unsigned char>(c) < 0x80) ||
        c == '.' ||
        (!name.empty() && std::string("_-/").find(c) != std::string::npos);
    name += plain ? std::string(1, c) : name.empty() ? "." : "_";
  }
  return name.empty() ? "." : name;
}

} // namespace

std::optional<tensorboard::Histogram> histogramOf(const formats::Blob &blob) {
  tensorboard::Histogram histogram;
  double least = INFINITY, most = -INFINITY, sum = 0, squares = 0, count = 0;
  auto each = [&](auto &&use) {
    for (float value : blob.floats)
      if (std::isfinite(value))
        use(static_cast<double>(value));
    for (double value : blob.doubles)
      if (std::isfinite(value))
        use(value);
  };
  each([&](double value) {
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    squares += value * value;
    ++count;
  });
  if (count == 0)
    return {};
  histogram.set_min(least);
  histogram.set_max(most);
  histogram.set_num(count);
  histogram.set_sum(sum);
  histogram.set_sum_squares(squares);
  // Halve first: the full range may overflow.
  const double width = most / kBuckets - least / kBuckets;
  if (!(width > 0)) {
    histogram.add_bucket_limit(most);
    histogram.add_bucket(count);
    return histogram;
  }
  std::vector<double> buckets(kBuckets);
  each([&](double value) {
    const auto bucket = static_cast<int>((value - least) / width);
    ++buckets[static_cast<std::size_t>(std::clamp(bucket, 0, kBuckets - 1))];
  });
  for (int i = 0; i < kBuckets; ++i) {
    histogram.add_bucket_limit(i + 1 == kBuckets ? most
                                                 : least + (i + 1) * width);
    histogram.add_bucket(buckets[static_cast<std::size_t>(i)]);
  }
  return histogram;
}

std::optional<tensorboard::Summary::Image>
filterImage(const formats::Blob &blob) {
  if (blob.dims.size() != 4)
    return {};
  const std::vector<double> values = blob.toDoubles();
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (values.empty() || !std::all_of(values.begin(), values.end(),
                                     [](double x) { return std::isfinite(x); }))
    return {};
  const double low = *least, range = *most > *least ? *most - *least : 1;
  const std::int64_t rows = blob.dims[2], columns = blob.dims[3];
  const bool color = blob.dims[1] == 3;
  const std::int64_t channels = color ? 3 : 1;
  const std::int64_t tiles =
      std::min(kMostTiles, blob.dims[0] * (color ? 1 : blob.dims[1]));
  const auto across =
      static_cast<std::int64_t>(std::ceil(std::sqrt(double(tiles))));
  const std::int64_t down = (tiles + across - 1) / across;
  // Leave a black line between tiles.
  const std::int64_t height = down * (rows + 1) - 1,
                     width = across * (columns + 1) - 1;
  if (height > 16384 || width > 16384)
    return {};
  formats::Image image;
  image.channels = static_cast<int>(channels);
  image.height = static_cast<int>(height);
  image.width = static_cast<int>(width);
  image.pixels.resize(static_cast<std::size_t>(height * width * channels));
  for (std::int64_t tile = 0; tile < tiles; ++tile)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < columns; ++x) {
          const double value = values[static_cast<std::size_t>(
              ((tile * channels + c) * rows + y) * columns + x)];
          const std::int64_t row = tile / across * (rows + 1) + y,
                             column = tile % across * (columns + 1) + x;
          image.pixels[static_cast<std::size_t>(
              (row * width + column) * channels + c)] =
              static_cast<std::uint8_t>(
                  std::lround((value - low) / range * 255));
        }
  tensorboard::Summary::Image result;
  result.set_height(image.height);
  result.set_width(image.width);
  result.set_colorspace(image.channels);
  result.set_encoded_image_string(
      formats::encodeImage(image, formats::ImageFormat::Png));
  return result;
}

tensorboard::GraphDef graphOf(const plan::Program &program) {
  tensorboard::GraphDef graph;
  std::set<std::string> taken;
  std::map<std::string, std::string> makers; ///< NODE:OUTPUT by blob
  for (const plan::Layer &layer : program.layers()) {
    tensorboard::NodeDef &node = *graph.add_node();
    const std::string wanted = nodeName(layer.name());
    std::string name = wanted;
    for (int i = 1; !taken.insert(name).second; ++i)
      name = wanted + "_" + std::to_string(i);
    node.set_name(name);
    node.set_op(layer.type());
    for (const std::string &bottom : layer.bottoms())
      if (const auto maker = makers.find(bottom); maker != makers.end())
        node.add_input(maker->second);
    for (int i = 0; i < layer.tops_size(); ++i)
      if (!layer.tops(i).empty())
        makers[layer.tops(i)] = i ? name + ":" + std::to_string(i) : name;
    auto &shapes = *(*node.mutable_attr())["_output_shapes"].mutable_list();
    for (const plan::Shape &from : layer.shapes()) {
      tensorboard::TensorShape &to = *shapes.add_shape();
      for (std::int64_t dim : from.dims())
        to.add_dim()->set_size(dim);
    }
    if (layer.has_source_location())
      (*node.mutable_attr())["source"].set_s(layer.source_location());
  }
  // TensorFlow 1.0; all features used here are older.
  graph.mutable_versions()->set_producer(22);
  return graph;
}

} // namespace brew::runtime
