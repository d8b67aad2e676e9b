//===- Commands.cpp - What brew-data does ---------------------------------===//
#include "tools/brew-data/Commands.h"

#include "formats/BinaryProto.h"
#include "formats/Datum.h"
#include "formats/Error.h"
#include "formats/ImageSets.h"

#include <cinttypes>
#include <cstdio>

namespace brew::data {

using namespace brew::formats;

std::atomic<bool> interrupted{false};

namespace {

void checkInterrupted() {
  if (interrupted.load())
    throw Interrupted{};
}

/// A record number with leading zeros: keys must sort as the records came.
std::string recordKey(uint64_t number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*" PRIu64, digits, number);
  return text;
}

std::string_view viewOf(const uint8_t *bytes, size_t size) {
  return {reinterpret_cast<const char *>(bytes), size};
}

void reportWritten(const Output &output, uint64_t records, int channels,
                   int height, int width) {
  std::printf("%s: %" PRIu64 " records of %dx%dx%d (%s)\n", output.path.c_str(),
              records, channels, height, width, backendName(output.backend));
}

std::unique_ptr<DbReader> openForReading(const std::string &path,
                                         std::optional<DbBackend> backend) {
  // A folder that looks like neither gets the reader's own error.
  if (!backend)
    backend = detectBackend(path).value_or(DbBackend::Lmdb);
  return DbReader::open(path, *backend);
}

std::string recordName(const DbReader &database, const DbCursor &cursor) {
  return database.path() + ": record '" + std::string(cursor.key()) + "'";
}

std::string shapeOf(const ImageRecord &record) {
  return std::to_string(record.channels) + "x" + std::to_string(record.height) +
         "x" + std::to_string(record.width);
}

} // namespace

void convertMnist(const std::string &images, const std::string &labels,
                  int classes, const Output &output) {
  MnistReader reader(images, labels, classes);
  auto database =
      DbWriter::create(output.path, output.backend, output.overwrite);
  std::vector<uint8_t> pixels;
  int label;
  for (uint64_t i = 0; reader.next(pixels, label); ++i) {
    checkInterrupted();
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
  for (const std::string &batch : batches) {
    CifarReader reader(batch);
    for (; reader.next(pixels, label); ++count) {
      checkInterrupted();
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

void computeMean(const std::string &path, std::optional<DbBackend> backend,
                 const std::string &output) {
  auto database = openForReading(path, backend);
  auto cursor = database->newCursor();
  ImageRecord record;
  std::string shape;
  // Sums in double are exact for bytes, however many images there are.
  std::vector<double> sums;
  uint64_t count = 0;
  int channels = 0, height = 0, width = 0;
  for (; cursor->valid(); cursor->next(), ++count) {
    checkInterrupted();
    std::string name = recordName(*database, *cursor);
    decodeDatum(cursor->value(), ImageColor::Native, name, record);
    if (count == 0) {
      sums.assign(record.size(), 0.0);
      shape = shapeOf(record);
      channels = record.channels;
      height = record.height;
      width = record.width;
    } else if (shapeOf(record) != shape) {
      throw badInput(name + " has shape " + shapeOf(record) +
                     ", but the first one has " + shape);
    }
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += record.value(i);
  }

  Blob mean;
  mean.legacyShape = true;
  mean.dims = {1, channels, height, width};
  for (double sum : sums) // rounded to float before the division, as Caffe is
    mean.floats.push_back(static_cast<float>(sum) / static_cast<float>(count));
  writeBinaryProto(output, mean);

  std::printf("%s: mean of %" PRIu64 " images of %s\n", output.c_str(), count,
              shape.c_str());
  size_t plane = sums.size() / static_cast<size_t>(channels);
  for (int c = 0; c < channels; ++c) {
    double sum = 0;
    for (size_t i = 0; i < plane; ++i)
      sum += mean.floats[static_cast<size_t>(c) * plane + i];
    std::printf("mean_value channel [%d]: %g\n", c,
                sum / static_cast<double>(plane));
  }
}

void listDatabase(const std::string &path, std::optional<DbBackend> backend) {
  auto database = openForReading(path, backend);
  auto cursor = database->newCursor();
  std::string name = recordName(*database, *cursor);
  std::string firstKey(cursor->key());
  ImageRecord record;
  decodeDatum(cursor->value(), ImageColor::Native, name, record);
  std::optional<uint64_t> count = database->count();
  if (!count) {
    count = 0;
    for (; cursor->valid(); cursor->next()) {
      checkInterrupted();
      ++*count;
    }
  }
  auto found = detectBackend(path);
  std::printf("%s: %s, %" PRIu64 " records\n", path.c_str(),
              found ? backendName(*found) : "database", *count);
  std::printf("first record: key '%s', %s of %s, label %d\n", firstKey.c_str(),
              record.floats.empty() ? "bytes" : "floats",
              shapeOf(record).c_str(), record.label);
}

} // namespace brew::data
