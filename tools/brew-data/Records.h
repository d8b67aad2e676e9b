//===- Records.h - Helpers of brew-data's commands --------------*- C++ -*-===//
#pragma once

#include "formats/Database.h"
#include "formats/Datum.h"
#include "tools/brew-data/Commands.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace brew::data {

/// Throws Interrupted if a signal has arrived.
void checkInterrupted();

/// Formats a record number with leading zeros, so that keys sort by number.
std::string recordKey(uint64_t number, int digits);

/// Returns bytes as a string_view.
std::string_view viewOf(const uint8_t *bytes, size_t size);

/// Opens a database. A missing backend is detected from the folder.
std::unique_ptr<formats::DbReader>
openForReading(const std::string &path,
               std::optional<formats::DbBackend> backend = std::nullopt);

/// Returns the number of records; reads all of them if necessary.
uint64_t countRecords(formats::DbReader &database);

/// Returns the name of the record at the cursor, for messages.
std::string recordName(const formats::DbReader &database,
                       const formats::DbCursor &cursor);
/// Decodes a Datum or an AnnotatedDatum like decodeDatum(). `labels` receives
/// the label of the record, or the labels of its objects.
void decodeRecord(std::string_view bytes, const std::string &where,
                  formats::ImageRecord &record, std::vector<int> &labels);

/// Returns the shape, such as "3x32x32".
std::string shapeOf(const formats::ImageRecord &record);

/// Prints the final line of a conversion.
void reportWritten(const Output &output, uint64_t records);
void reportWritten(const Output &output, uint64_t records, int channels,
                   int height, int width);

/// A progress line on standard error, if that is a terminal.
class Progress {
public:
  /// `label` begins the line. Without a total, shows only the count.
  explicit Progress(std::string label,
                    std::optional<uint64_t> total = std::nullopt);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Adds `count` records. Throws Interrupted if a signal has arrived.
  void step(uint64_t count = 1);

private:
  void show();

  using Clock = std::chrono::steady_clock;
  std::string label;
  std::optional<uint64_t> total;
  uint64_t done = 0;
  bool isShown;
  Clock::time_point begin = Clock::now(), lastShown = begin;
};

} // namespace brew::data
