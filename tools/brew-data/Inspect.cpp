//===- Inspect.cpp - Inspection of databases ------------------------------===//
#include "formats/WindowFile.h"
#include "formats/image/ImageEncode.h"
#include "formats/image/ImageFile.h"
#include "formats/image/ImageResize.h"
#include "support/AtomicFile.h"
#include "support/Error.h"
#include "tools/brew-data/Records.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <map>

namespace brew::data {

using namespace brew::formats;

namespace {

/// Converts the first three channels of a record, or the first one if there are
/// fewer, to bytes. Scales floats from their range to 0..255.
Image pictureOf(const ImageRecord &record) {
  Image image;
  image.channels = record.channels >= 3 ? 3 : 1;
  image.height = record.height;
  image.width = record.width;
  const size_t plane = size_t(record.height) * record.width;
  const auto channels = static_cast<size_t>(image.channels);
  float minimum = 0, range = 255;
  if (!record.floats.empty()) {
    const auto [low, high] =
        std::minmax_element(record.floats.begin(), record.floats.end());
    minimum = *low;
    range = *high > *low ? *high - *low : 1;
  }
  image.pixels.resize(plane * channels);
  for (size_t i = 0; i < image.pixels.size(); ++i) {
    const float value = record.value(i % channels * plane + i / channels);
    const float scaled = (value - minimum) / range * 255;
    image.pixels[i] =
        std::isfinite(scaled)
            ? static_cast<uint8_t>(std::lround(std::clamp(scaled, 0.f, 255.f)))
            : uint8_t(0);
  }
  return image;
}

/// A sheet of images, eight per row, each in a square.
class ContactSheet {
public:
  explicit ContactSheet(int images) : images(images) {}

  bool isFull() const { return static_cast<int>(tiles.size()) >= images; }

  void add(const ImageRecord &record) {
    const Image image = pictureOf(record);
    // Do not enlarge small images.
    const double scale =
        std::min(1.0, double(kSide) / std::max(image.height, image.width));
    Image tile;
    resizeImage(image, std::max(1, int(std::lround(image.height * scale))),
                std::max(1, int(std::lround(image.width * scale))), tile);
    tiles.push_back(std::move(tile));
  }

  void write(const std::string &path) const {
    constexpr int kColumns = 8, kGap = 2;
    int side = 1; // of the squares: the longest side of all tiles
    for (const Image &tile : tiles)
      side = std::max({side, tile.height, tile.width});
    const int count = static_cast<int>(tiles.size());
    const int rows = (count + kColumns - 1) / kColumns;
    Image sheet;
    sheet.channels = 3;
    sheet.width = std::min(count, kColumns) * (side + kGap) + kGap;
    sheet.height = rows * (side + kGap) + kGap;
    sheet.pixels.assign(size_t(sheet.width) * sheet.height * 3, 64);
    for (int i = 0; i < count; ++i) {
      const Image &tile = tiles[static_cast<size_t>(i)];
      const int top = kGap + i / kColumns * (side + kGap),
                left = kGap + i % kColumns * (side + kGap);
      for (int y = 0; y < tile.height; ++y)
        for (int x = 0; x < tile.width; ++x)
          for (int c = 0; c < 3; ++c)
            sheet.pixels[(size_t(top + y) * sheet.width + left + x) * 3 + c] =
                tile.pixels[(size_t(y) * tile.width + x) * tile.channels +
                            (tile.channels == 3 ? c : 0)];
    }
    writeFileAtomically(path, encodeImage(sheet, ImageFormat::Png));
  }

private:
  static constexpr int kSide = 96;
  int images;
  std::vector<Image> tiles;
};

} // namespace

void inspectDatabase(const Inspection &inspection) {
  auto database = openForReading(inspection.database, inspection.backend);
  const std::optional<DbBackend> detectedBackend =
      detectBackend(inspection.database);
  std::map<std::string, uint64_t> shapes, encodings;
  std::map<int, uint64_t> labels;
  ContactSheet sheet(inspection.sheetImages);
  uint64_t count = 0, bytes = 0;
  ImageRecord record;
  std::vector<int> recordLabels;
  Progress progress("inspect", database->count());
  for (auto cursor = database->newCursor(); cursor->valid(); cursor->next()) {
    progress.step();
    const std::string where = recordName(*database, *cursor);
    const std::string_view value = cursor->value();
    decodeRecord(value, where, record, recordLabels);
    ++count;
    bytes += value.size();
    ++shapes[shapeOf(record)];
    ++encodings[record.encoded          ? "encoded"
                : record.floats.empty() ? "bytes"
                                        : "floats"];
    for (int label : recordLabels)
      ++labels[label];
    if (!inspection.sheet.empty() && !sheet.isFull())
      sheet.add(record);
  }
  if (!inspection.sheet.empty())
    sheet.write(inspection.sheet);
  const char *backend =
      detectedBackend ? backendName(*detectedBackend) : "database";
  if (inspection.json) {
    nlohmann::json json = {{"path", inspection.database},
                           {"backend", backend},
                           {"records", count},
                           {"bytes", bytes},
                           {"shapes", shapes},
                           {"values", encodings}};
    json["labels"] = nlohmann::json::object();
    for (const auto &[label, occurrences] : labels)
      json["labels"][std::to_string(label)] = occurrences;
    std::printf("%s\n", json.dump(2, ' ', false,
                                  nlohmann::json::error_handler_t::replace)
                            .c_str());
    return;
  }
  std::printf("%s: %s, %" PRIu64 " records, %" PRIu64 " bytes\n",
              inspection.database.c_str(), backend, count, bytes);
  for (const auto &[name, occurrences] : encodings)
    std::printf("  %s: %" PRIu64 "\n", name.c_str(), occurrences);
  std::printf("shapes:\n");
  for (const auto &[shape, occurrences] : shapes)
    std::printf("  %s: %" PRIu64 "\n", shape.c_str(), occurrences);
  std::printf("labels:\n");
  uint64_t maxOccurrences = 1;
  for (const auto &[label, occurrences] : labels)
    maxOccurrences = std::max(maxOccurrences, occurrences);
  for (const auto &[label, occurrences] : labels) {
    constexpr uint64_t kWidth = 40;
    const std::string bar(
        std::max<uint64_t>(occurrences * kWidth / maxOccurrences, 1), '#');
    std::printf("  %6d %8" PRIu64 " %s\n", label, occurrences, bar.c_str());
  }
}

void verifyDatabase(const std::string &path, std::optional<DbBackend> backend) {
  auto database = openForReading(path, backend);
  ImageRecord record;
  std::vector<int> labels;
  uint64_t count = 0, damaged = 0;
  {
    Progress progress("verify", database->count());
    for (auto cursor = database->newCursor(); cursor->valid();
         cursor->next(), ++count) {
      progress.step();
      try {
        decodeRecord(cursor->value(), recordName(*database, *cursor), record,
                     labels);
      } catch (const Error &error) {
        ++damaged;
        std::printf("%s\n", error.what());
      }
    }
  }
  if (damaged)
    throw badInput(path + ": " + std::to_string(damaged) + " of " +
                   std::to_string(count) + " records are damaged");
  std::printf("%s: %" PRIu64 " records, none damaged\n", path.c_str(), count);
}

void inspectWindows(const std::string &file, const std::string &root) {
  const std::vector<WindowImage> images = readWindowFile(file);
  std::map<int, uint64_t> labels;
  uint64_t windows = 0, problems = 0;
  auto report = [&](size_t line, const std::string &text) {
    std::printf("%s:%zu: %s\n", file.c_str(), line, text.c_str());
    ++problems;
  };
  {
    Progress progress("windows", images.size());
    for (const WindowImage &entry : images) {
      progress.step();
      Image image;
      try {
        readImageFile(root + entry.name, ImageColor::Color, 0, 0, "", image);
      } catch (const Error &error) {
        report(entry.line, error.what());
        image.height = entry.height;
        image.width = entry.width;
      }
      if (image.height != entry.height || image.width != entry.width)
        report(entry.line, "the image is " + std::to_string(image.height) +
                               "x" + std::to_string(image.width) + ", not " +
                               std::to_string(entry.height) + "x" +
                               std::to_string(entry.width));
      for (const Window &window : entry.windows) {
        ++windows;
        ++labels[window.label];
        if (window.x1 < 0 || window.y1 < 0 || window.x2 >= image.width ||
            window.y2 >= image.height)
          report(window.line, "the window " + window.text() +
                                  " does not lie within its image");
      }
    }
  }
  std::printf("%s: %zu images, %" PRIu64 " windows\n", file.c_str(),
              images.size(), windows);
  for (const auto &[label, occurrences] : labels)
    std::printf("  class %d has %" PRIu64 " windows\n", label, occurrences);
  if (problems)
    throw badInput(file + ": " + std::to_string(problems) +
                   " problems, listed above");
}

} // namespace brew::data
