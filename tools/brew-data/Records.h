//===- Records.h - What brew-data's commands share --------------*- C++ -*-===//
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

/// Throws Interrupted once a signal has come.
void checkInterrupted();

/// A record number with leading zeros: keys must sort as the records came.
std::string recordKey(uint64_t number, int digits);

std::string_view viewOf(const uint8_t *bytes, size_t size);

/// Without a backend the folder's contents tell.
std::unique_ptr<formats::DbReader>
openForReading(const std::string &path,
               std::optional<formats::DbBackend> backend = std::nullopt);

/// How many records there are, by reading them if need be.
uint64_t countRecords(formats::DbReader &database);

/// For messages about the record at the cursor.
std::string recordName(const formats::DbReader &database,
                       const formats::DbCursor &cursor);
/// Decodes a Datum or an AnnotatedDatum as decodeDatum() does; `labels` gets
/// the record's label, or those of its objects.
void decodeRecord(std::string_view bytes, const std::string &where,
                  formats::ImageRecord &record, std::vector<int> &labels);

/// "3x32x32".
std::string shapeOf(const formats::ImageRecord &record);

/// The line that each conversion ends with.
void reportWritten(const Output &output, uint64_t records);
void reportWritten(const Output &output, uint64_t records, int channels,
                   int height, int width);

/// One line on a terminal's standard error that says how far a command is.
class Progress {
public:
  /// Without a total it counts alone.
  explicit Progress(std::string what,
                    std::optional<uint64_t> total = std::nullopt);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// So many records more. Throws Interrupted once a signal has come.
  void step(uint64_t count = 1);

private:
  void show();

  using Clock = std::chrono::steady_clock;
  std::string what;
  std::optional<uint64_t> total;
  uint64_t done = 0;
  bool isShown;
  Clock::time_point begin = Clock::now(), shown = begin;
};

} // namespace brew::data
