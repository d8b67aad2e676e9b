//===- Commands.cpp - Commands of brew-data -------------------------------===//
#include "tools/brew-data/Commands.h"

#include "tools/brew-data/MeanImage.h"
#include "tools/brew-data/Records.h"

#include "formats/BinaryProto.h"
#include "formats/Datum.h"
#include "formats/image/ImageEncode.h"
#include "formats/image/MnistCifar.h"
#include "support/AtomicFile.h"
#include "support/Error.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace brew::data {

using namespace brew::formats;

void convertMnist(const std::string &images, const std::string &labels,
                  int classes, const Output &output) {
  MnistReader reader(images, labels, classes);
  auto database =
      DbWriter::create(output.path, output.backend, output.overwrite);
  std::vector<uint8_t> pixels;
  int label;
  Progress progress("mnist", reader.count());
  for (uint64_t i = 0; reader.next(pixels, label); ++i) {
    progress.step();
    database->put(recordKey(i, 8),
                  encodeDatum(1, reader.rows(), reader.columns(),
                              viewOf(pixels.data(), pixels.size()), label));
  }
  database->finish();
  reportWritten(output, reader.count(), 1, reader.rows(), reader.columns());
}

void convertCifar(const std::vector<std::string> &batches,
                  const Output &output) {
  auto database =
      DbWriter::create(output.path, output.backend, output.overwrite);
  std::array<uint8_t, CifarReader::imageBytes> pixels;
  int label;
  uint64_t count = 0;
  Progress progress("cifar10");
  for (const std::string &batch : batches) {
    CifarReader reader(batch);
    for (; reader.next(pixels, label); ++count) {
      progress.step();
      database->put(recordKey(count, 5),
                    encodeDatum(CifarReader::channels, CifarReader::rows,
                                CifarReader::columns,
                                viewOf(pixels.data(), pixels.size()), label));
    }
  }
  database->finish();
  reportWritten(output, count, CifarReader::channels, CifarReader::rows,
                CifarReader::columns);
}

namespace {

bool isPngName(const std::string &name) {
  return name.size() > 4 && name.compare(name.size() - 4, 4, ".png") == 0;
}

/// Writes the mean as an image for display: values are rounded and clamped to
/// bytes.
void writeMeanImage(const Blob &mean, const std::string &path) {
  Image image;
  image.channels = static_cast<int>(mean.dims[1]);
  image.height = static_cast<int>(mean.dims[2]);
  image.width = static_cast<int>(mean.dims[3]);
  const size_t plane = size_t(image.height) * image.width;
  image.pixels.resize(mean.floats.size());
  for (size_t i = 0; i < mean.floats.size(); ++i)
    image.pixels[i % plane * static_cast<size_t>(image.channels) + i / plane] =
        static_cast<uint8_t>(
            std::lround(std::clamp(mean.floats[i], 0.f, 255.f)));
  writeFileAtomically(path, encodeImage(image, ImageFormat::Png));
}

} // namespace

void computeMean(const std::string &path, std::optional<DbBackend> backend,
                 const std::string &output) {
  auto database = openForReading(path, backend);
  auto cursor = database->newCursor();
  ImageRecord record;
  std::vector<int> labels;
  MeanImage mean;
  Progress progress("mean", database->count());
  for (; cursor->valid(); cursor->next()) {
    progress.step();
    const std::string name = recordName(*database, *cursor);
    decodeRecord(cursor->value(), name, record, labels);
    mean.add(record, name);
  }
  if (isPngName(output))
    writeMeanImage(mean.mean(), output);
  else if (!output.empty())
    writeBinaryProto(output, mean.mean());
  mean.print(output.empty() ? path : output);
}

void listDatabase(const std::string &path, std::optional<DbBackend> backend) {
  auto database = openForReading(path, backend);
  auto cursor = database->newCursor();
  std::string name = recordName(*database, *cursor);
  std::string firstKey(cursor->key());
  ImageRecord record;
  std::vector<int> labels;
  decodeRecord(cursor->value(), name, record, labels);
  std::optional<uint64_t> count = database->count();
  if (!count) {
    count = 0;
    for (; cursor->valid(); cursor->next()) {
      checkInterrupted();
      ++*count;
    }
  }
  auto detected = detectBackend(path);
  std::printf("%s: %s, %" PRIu64 " records\n", path.c_str(),
              detected ? backendName(*detected) : "database", *count);
  std::printf("first record: key '%s', %s of %s, label %d\n", firstKey.c_str(),
              record.floats.empty() ? "bytes" : "floats",
              shapeOf(record).c_str(), record.label);
}

} // namespace brew::data
