//===- ImageFolder.h - Fixture with image files -----------------*- C++ -*-===//
#pragma once

#include "TestPlan.h"
#include "formats/image/ImageEncode.h"
#include "runtime/data/BatchSource.h"
#include "test/common/TestFiles.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace brew::test {

/// A folder of images in which pixel (y, x) of channel c of image n is n * 40 +
/// y * 5 + x + c * 100, so that values identify their source.
class ImageFolder : public testing::Test {
protected:
  static int pixel(int n, int c, int y, int x) {
    return (n * 40 + y * 5 + x + c * 100) % 256;
  }

  void writeImage(const std::string &name, int n, int height = 4,
                  int width = 5) {
    formats::Image image;
    image.channels = 3;
    image.height = height;
    image.width = width;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c)
          image.pixels.push_back(static_cast<std::uint8_t>(pixel(n, c, y, x)));
    writeBytes(folder / name,
               formats::encodeImage(image, formats::ImageFormat::Png));
  }

  /// Returns the description of a layer of `type` with two tops and the other
  /// fields `fields`. Sets `data` and `label`.
  runtime::DataLayerInfo info(const std::string &type,
                              const std::string &fields,
                              std::vector<std::int64_t> dims, bool testPhase,
                              unsigned threads) {
    data = makeBuffer("data", 0, 0, dims);
    label = makeBuffer("label", 0, 0, {dims[0]});
    runtime::DataLayerInfo result;
    result.layer = parse<caffe::LayerParameter>(
        "name: 'in' type: '" + type + "' top: 'data' top: 'label' " + fields);
    result.tops = {&data, &label};
    result.testPhase = testPhase;
    result.seed = {3, 0};
    result.stream = "program/in";
    result.folders = {folder.path()};
    result.readerOptions.threads = threads;
    return result;
  }

  void read(runtime::BatchSource &source) {
    const auto count = static_cast<std::size_t>(data.size() / sizeof(float));
    values.assign(count, -1);
    labels.assign(static_cast<std::size_t>(label.dims(0)), -1);
    source.read({reinterpret_cast<std::byte *>(values.data()),
                 reinterpret_cast<std::byte *>(labels.data())});
  }
  float at(int n, int c, int y, int x) const {
    const auto &d = data.dims();
    return values[static_cast<std::size_t>(
        ((n * d.Get(1) + c) * d.Get(2) + y) * d.Get(3) + x)];
  }

  TempFolder folder;
  plan::Buffer data, label;
  std::vector<float> values, labels;
};

} // namespace brew::test
