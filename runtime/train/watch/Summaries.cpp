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

/// Returns a valid TensorFlow name for a layer: a letter, digit or point, then
/// letters, digits and _ . - /.
std::string nodeName(const std::string &layer) {
  std::string name;
  for (char c : layer) {
    const bool isAllowed =
        (std::isalnum(static_cast<unsigned char>(c)) &&
         static_cast<unsigned char>(c) < 0x80) ||
        c == '.' ||
        (!name.empty() && std::string("_-/").find(c) != std::string::npos);
    name += isAllowed ? std::string(1, c) : name.empty() ? "." : "_";
  }
  return name.empty() ? "." : name;
}

} // namespace

std::optional<tensorboard::Histogram> histogramOf(const formats::Blob &blob) {
  tensorboard::Histogram histogram;
  double minimum = INFINITY, maximum = -INFINITY, sum = 0, squares = 0,
         count = 0;
  auto forEachFinite = [&](auto &&use) {
    for (float value : blob.floats)
      if (std::isfinite(value))
        use(static_cast<double>(value));
    for (double value : blob.doubles)
      if (std::isfinite(value))
        use(value);
  };
  forEachFinite([&](double value) {
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
    sum += value;
    squares += value * value;
    ++count;
  });
  if (count == 0)
    return {};
  histogram.set_min(minimum);
  histogram.set_max(maximum);
  histogram.set_num(count);
  histogram.set_sum(sum);
  histogram.set_sum_squares(squares);
  // Divide before subtracting, since the full range may overflow.
  const double width = maximum / kBuckets - minimum / kBuckets;
  if (!(width > 0)) {
    histogram.add_bucket_limit(maximum);
    histogram.add_bucket(count);
    return histogram;
  }
  std::vector<double> buckets(kBuckets);
  forEachFinite([&](double value) {
    const auto bucket = static_cast<int>((value - minimum) / width);
    ++buckets[static_cast<std::size_t>(std::clamp(bucket, 0, kBuckets - 1))];
  });
  for (int i = 0; i < kBuckets; ++i) {
    histogram.add_bucket_limit(i + 1 == kBuckets ? maximum
                                                 : minimum + (i + 1) * width);
    histogram.add_bucket(buckets[static_cast<std::size_t>(i)]);
  }
  return histogram;
}

std::optional<tensorboard::Summary::Image>
filterImage(const formats::Blob &blob) {
  if (blob.dims.size() != 4)
    return {};
  const std::vector<double> values = blob.toDoubles();
  const auto [minimum, maximum] =
      std::minmax_element(values.begin(), values.end());
  if (values.empty() || !std::all_of(values.begin(), values.end(),
                                     [](double x) { return std::isfinite(x); }))
    return {};
  const double low = *minimum,
               range = *maximum > *minimum ? *maximum - *minimum : 1;
  const std::int64_t rows = blob.dims[2], columns = blob.dims[3];
  const bool isColor = blob.dims[1] == 3;
  const std::int64_t channels = isColor ? 3 : 1;
  const std::int64_t tiles =
      std::min(kMaxTiles, blob.dims[0] * (isColor ? 1 : blob.dims[1]));
  const auto tileColumns =
      static_cast<std::int64_t>(std::ceil(std::sqrt(double(tiles))));
  const std::int64_t tileRows = (tiles + tileColumns - 1) / tileColumns;
  // Leave a black line between tiles.
  const std::int64_t height = tileRows * (rows + 1) - 1,
                     width = tileColumns * (columns + 1) - 1;
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
          const std::int64_t row = tile / tileColumns * (rows + 1) + y,
                             column = tile % tileColumns * (columns + 1) + x;
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
  std::set<std::string> usedNames;
  std::map<std::string, std::string> producers; ///< NODE:OUTPUT by blob
  for (const plan::Layer &layer : program.layers()) {
    tensorboard::NodeDef &node = *graph.add_node();
    const std::string preferredName = nodeName(layer.name());
    std::string name = preferredName;
    for (int i = 1; !usedNames.insert(name).second; ++i)
      name = preferredName + "_" + std::to_string(i);
    node.set_name(name);
    node.set_op(layer.type());
    for (const std::string &bottom : layer.bottoms())
      if (const auto producer = producers.find(bottom);
          producer != producers.end())
        node.add_input(producer->second);
    for (int i = 0; i < layer.tops_size(); ++i)
      if (!layer.tops(i).empty())
        producers[layer.tops(i)] = i ? name + ":" + std::to_string(i) : name;
    auto &shapes = *(*node.mutable_attr())["_output_shapes"].mutable_list();
    for (const plan::Shape &from : layer.shapes()) {
      tensorboard::TensorShape &to = *shapes.add_shape();
      for (std::int64_t dim : from.dims())
        to.add_dim()->set_size(dim);
    }
    if (layer.has_source_location())
      (*node.mutable_attr())["source"].set_s(layer.source_location());
  }
  // The version of TensorFlow 1.0. All features used here are older.
  graph.mutable_versions()->set_producer(22);
  return graph;
}

} // namespace brew::runtime
