//===- DatabaseRecords.h - Records of a database ----------------*- C++ -*-===//
#pragma once

#include "caffe/RecordSelection.h"
#include "formats/Database.h"
#include "runtime/data/BatchSource.h"
#include "runtime/data/selection/RecordIndex.h"
#include "runtime/data/selection/Sampler.h"

#include <memory>
#include <optional>
#include <string>

namespace brew::runtime {

struct DatabaseRecord {
  std::string key, value;
};

/// Reads the records of the database that data_param names, in database order,
/// pass after pass, or in a sampler's order. Several ranks share the records:
/// each record, or all records of an item or pair, belongs to one rank.
class DatabaseRecords {
public:
  /// `layer` is a prefix of error messages. Throws Error as
  /// formats::DbReader::open(), RecordIndex and Sampler do, and (3) if there is
  /// no such database.
  DatabaseRecords(const DataLayerInfo &info, std::string layer);

  const std::string &path() const { return reader->path(); }
  /// Reads the next record into `record`.
  void fetch(DatabaseRecord &record);
  /// Reads the next `count` records to replace unusable ones, and skips the
  /// rest of the last item or pair.
  void replace(DatabaseRecord *records, std::size_t count);
  /// Returns the first record's value. Call it before fetch().
  std::string first() { return std::string(cursor->value()); }
  /// Identifies databases and lists: the first record, the number of records,
  /// and the data that determine the order (labels, a list of weights).
  const std::string &identity() const { return identityText; }
  /// Returns the number of records. LevelDB does not store it, so the result is
  /// the largest number until the first pass is complete.
  std::uint64_t count() const;
  /// See caffe::RecordSelection.
  std::uint64_t drawsToCoverAll() const {
    return selection.drawsToCoverAll(count());
  }
  /// Returns the number of damaged records skipped when the database was
  /// opened.
  std::uint64_t skippedCount() const {
    return index ? index->skippedCount() : 0;
  }

  /// The current pass and the position in it. The reader of batches counts
  /// SourcePosition::records.
  SourcePosition current;
  /// Continues at `target`. Throws Error (1) if the database has no such
  /// record.
  void seek(const SourcePosition &target);

private:
  void findCurrent();
  void advance();
  void skip(std::uint64_t records);
  [[noreturn]] void throwMissingRecord(const SourcePosition &target,
                                       std::uint64_t available) const;

  std::string layer;
  const caffe::RecordSelection selection;
  std::uint64_t rank, ranks; ///< each unit (item or pair) belongs to one rank
  std::uint64_t fetched = 0; ///< records of the current unit
  std::string identityText;
  std::unique_ptr<formats::DbReader> reader;
  std::unique_ptr<formats::DbCursor> cursor;
  /// Set only if records are not read in the database's order.
  std::optional<RecordIndex> index;
  std::optional<Sampler> sampler;
  /// Records of the last pass; 0: no pass is complete.
  std::uint64_t passSize = 0;
};

} // namespace brew::runtime
