//===- Records.cpp - Helpers of brew-data's commands ----------------------===//
#include "tools/brew-data/Records.h"

#include "formats/AnnotatedDatum.h"

#include <cinttypes>
#include <cstdio>
#include <unistd.h>

namespace brew::data {

using namespace brew::formats;

std::atomic<bool> interrupted{false};

void checkInterrupted() {
  if (interrupted.load())
    throw Interrupted{};
}

std::string recordKey(uint64_t number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*" PRIu64, digits, number);
  return text;
}

std::string_view viewOf(const uint8_t *bytes, size_t size) {
  return {reinterpret_cast<const char *>(bytes), size};
}

void reportWritten(const Output &output, uint64_t records) {
  std::printf("%s: %" PRIu64 " records (%s)\n", output.path.c_str(), records,
              backendName(output.backend));
}

void reportWritten(const Output &output, uint64_t records, int channels,
                   int height, int width) {
  std::printf("%s: %" PRIu64 " records of %dx%dx%d (%s)\n", output.path.c_str(),
              records, channels, height, width, backendName(output.backend));
}

std::unique_ptr<DbReader> openForReading(const std::string &path,
                                         std::optional<DbBackend> backend) {
  // The reader reports a folder that is neither kind of database.
  if (!backend)
    backend = detectBackend(path).value_or(DbBackend::Lmdb);
  return DbReader::open(path, *backend);
}

uint64_t countRecords(DbReader &database) {
  if (const std::optional<uint64_t> count = database.count())
    return *count;
  uint64_t count = 0;
  for (auto cursor = database.newCursor(); cursor->valid(); cursor->next()) {
    checkInterrupted();
    ++count;
  }
  return count;
}

std::string recordName(const DbReader &database, const DbCursor &cursor) {
  return database.path() + ": record '" + std::string(cursor.key()) + "'";
}

void decodeRecord(std::string_view bytes, const std::string &where,
                  formats::ImageRecord &record, std::vector<int> &labels) {
  if (!formats::isAnnotatedDatum(bytes)) {
    formats::decodeDatum(bytes, formats::ImageColor::Native, where, record);
    labels = {record.label};
    return;
  }
  formats::AnnotatedRecord annotated;
  formats::decodeAnnotatedDatum(bytes, formats::ImageColor::Native, where,
                                annotated);
  formats::setImage(annotated.image, record);
  record.encoded = annotated.encoded;
  record.label = annotated.label;
  labels.clear();
  for (const formats::AnnotatedObject &object : annotated.objects)
    labels.push_back(object.label);
  if (!annotated.hasType)
    labels = {annotated.label};
}

std::string shapeOf(const ImageRecord &record) {
  return std::to_string(record.channels) + "x" + std::to_string(record.height) +
         "x" + std::to_string(record.width);
}

Progress::Progress(std::string command, std::optional<uint64_t> records)
    : label(std::move(command)), total(records), isShown(isatty(2)) {}

Progress::~Progress() {
  if (isShown && lastShown != begin)
    std::fputs("\r\x1b[K", stderr);
}

void Progress::step(uint64_t count) {
  checkInterrupted();
  done += count;
  // Reading the clock for each record would cost more than small records.
  constexpr uint64_t kStride = 64;
  if (isShown && (count > 1 || done % kStride == 0))
    show();
}

void Progress::show() {
  const Clock::time_point now = Clock::now();
  if (now - lastShown < std::chrono::milliseconds(200))
    return;
  lastShown = now;
  const double seconds = std::chrono::duration<double>(now - begin).count();
  std::string bar;
  if (total && *total) {
    constexpr uint64_t kWidth = 30;
    const uint64_t full = std::min(done, *total) * kWidth / *total;
    bar = " [" + std::string(full, '#') + std::string(kWidth - full, '.') +
          "] " + std::to_string(std::min(done, *total) * 100 / *total) + " %";
  }
  std::fprintf(stderr, "\r\x1b[K%s:%s %" PRIu64 " records, %.0f/s",
               label.c_str(), bar.c_str(), done,
               static_cast<double>(done) / seconds);
}

} // namespace brew::data
